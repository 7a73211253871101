//! The bodies of requests. They are read by hand, so that one answer names every error.
#![expect(dead_code, reason = "only described")]

use chrono::{DateTime, NaiveDate, Utc};
use internal_api::orders::details::Currency;
use utoipa::ToSchema;

use super::schema::*;
use super::webhooks::WebhookEvent;

/// One confirmed order, to be delivered. Send optional fields as null or leave them out. Unknown fields are ignored, with a
/// warning in the answer that names the nearest known field.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(in crate::routes) struct NewOrder {
    /// Your stable, unique id of the order. A second order with the same reference is refused with 409.
    order_reference: OrderReference,
    /// Where the customer placed the order; `business_website` when left out.
    order_source: Option<OrderSource>,
    customer: NewCustomer,
    delivery: NewDelivery,
    pickup: Option<NewPickup>,
    package: Option<NewPackage>,
    payment: NewPayment,
    notes: Option<NewNotes>,
}

/// The person who receives the parcel.
#[derive(ToSchema)]
struct NewCustomer {
    /// The name that the driver asks for.
    name: Name,
    /// Phone number with country code: `+`, then digits, optionally separated by spaces, hyphens, dots or brackets.
    phone: Phone,
    /// E-mail address.
    email: Option<OptionalEmail>,
}

/// The address that the parcel goes to.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct NewDelivery {
    /// House and street.
    address_line1: AddressLine,
    /// Floor, flat, company.
    address_line2: Option<OptionalAddressLine>,
    /// City or town.
    city: Name,
    /// State or union territory.
    state: Name,
    /// India's six-digit PIN code; spaces are ignored.
    pincode: Pincode,
    /// A landmark near the address.
    landmark: Option<OptionalLandmark>,
    /// In degrees, WGS 84.
    #[schema(minimum = -90, maximum = 90)]
    latitude: Option<f64>,
    /// In degrees, WGS 84.
    #[schema(minimum = -180, maximum = 180)]
    longitude: Option<f64>,
    /// The whole address as one text.
    full_address: Option<OptionalFullAddress>,
}

/// The place where the driver picks the parcel up. Fields that are left out come from your pickup profile; the address comes
/// entirely from one of the two.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct NewPickup {
    /// The name at the door.
    business_name: Option<OptionalName>,
    /// The person whom the driver asks for.
    contact_name: Option<OptionalName>,
    /// Phone number with country code.
    phone: Option<OptionalPhone>,
    /// House and street.
    address_line1: Option<OptionalAddressLine>,
    /// Floor, unit.
    address_line2: Option<OptionalAddressLine>,
    /// City or town.
    city: Option<OptionalName>,
    /// State or union territory.
    state: Option<OptionalName>,
    /// India's six-digit PIN code.
    pincode: Option<OptionalPincode>,
    /// A landmark near the address.
    landmark: Option<OptionalLandmark>,
    /// In degrees, WGS 84.
    #[schema(minimum = -90, maximum = 90)]
    latitude: Option<f64>,
    /// In degrees, WGS 84.
    #[schema(minimum = -180, maximum = 180)]
    longitude: Option<f64>,
    /// The whole address as one text.
    full_address: Option<OptionalFullAddress>,
}

/// The parcel and its contents.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct NewPackage {
    /// A short description.
    description: Option<OptionalNote>,
    /// The contents of the parcel.
    items: Option<NewItems>,
    /// The number of pieces; a warning is given when it is not the sum of the items' quantities.
    total_items: Option<TotalItems>,
    /// Weight in kilograms.
    weight_kg: Option<WeightKg>,
    /// Whether it must be handled with care; false when left out.
    fragile: Option<bool>,
    /// For the driver.
    special_instructions: Option<OptionalNote>,
}

/// One line of the order.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(super) struct NewItem {
    /// The product.
    name: Option<OptionalName>,
    /// The number of pieces.
    quantity: Option<Quantity>,
    /// Price of one piece, in paise.
    price_paise: Option<Amount>,
}

/// The amounts of the order. All amounts are whole paise: 4900 is ₹49.
#[derive(ToSchema)]
#[serde(untagged)]
#[schema(discriminator(property_name = "paymentType", mapping(
    ("prepaid" = "#/components/schemas/NewPrepaidPayment"),
    ("cod" = "#/components/schemas/NewCodPayment"),
)))]
enum NewPayment {
    Prepaid(NewPrepaidPayment),
    Cod(NewCodPayment),
}

/// The customer has paid you.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct NewPrepaidPayment {
    /// How the customer pays you.
    payment_type: Prepaid,
    /// What you pay the operator for this delivery, as you agreed with them; a live order takes it from your wallet.
    delivery_fee_paise: DeliveryFee,
    /// Value of the order.
    order_value_paise: Option<Amount>,
    /// No cash is collected at the door: 0.
    cod_amount_paise: Option<NoAmount>,
    /// The amount that you have already collected.
    prepaid_amount_paise: Option<Amount>,
    currency: Option<Currency>,
}

/// The customer pays cash at the door.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct NewCodPayment {
    /// How the customer pays you.
    payment_type: Cod,
    /// What you pay the operator for this delivery, as you agreed with them; a live order takes it from your wallet.
    delivery_fee_paise: DeliveryFee,
    /// Value of the order.
    order_value_paise: Option<Amount>,
    /// The exact cash that the driver must collect, with the delivery fee if your checkout total includes it; 0 for none.
    cod_amount_paise: Amount,
    /// The customer paid nothing in advance: 0.
    prepaid_amount_paise: Option<NoAmount>,
    currency: Option<Currency>,
}

/// Notes on the order.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct NewNotes {
    /// From the customer; the driver sees it.
    customer_note: Option<OptionalNote>,
    /// For yourself; only you see it.
    internal_note: Option<OptionalNote>,
}

/// Why an order is cancelled.
#[derive(ToSchema)]
pub(in crate::routes) struct CancelOrder {
    /// The reason, for the timeline and the webhook.
    reason: Option<CancelReason>,
}

/// Another attempt at a delivery that failed.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::routes) struct NewReattempt {
    /// The day in India, from today to 14 days ahead; as soon as possible when left out.
    date: Option<NaiveDate>,
    /// For the driver.
    note: Option<OptionalNote>,
}

/// What is corrected: the phone, the address, or both.
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::routes) struct NewDeliveryDetails {
    /// The customer's phone number with country code.
    phone: Option<OptionalPhone>,
    /// The whole new address. It replaces the old one.
    delivery: Option<NewDelivery>,
}

/// The event to simulate.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(in crate::routes) struct SimulateProgress {
    /// What happens; `auto` moves the order to its end automatically.
    event: SimulatedEvent,
    /// Of `order.failed`: why, as a fleet says it.
    reason_code: Option<FailureCode>,
}

/// Something that happened to a delivery, by its `event`.
#[derive(ToSchema)]
#[serde(untagged)]
pub(in crate::routes) enum Report {
    Move(ReportedMove),
    Delivery(ReportedDelivery),
    Failure(ReportedFailure),
    Cash(ReportedCash),
}

/// The parcel moved.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(in crate::routes) struct ReportedMove {
    /// The fleet's own id of the report, which identifies a repeated one.
    event_id: FleetEventId,
    event: MoveKind,
    /// When it happened, by the fleet's clock; not in the future. A time more than five minutes before the order brings the warning
    /// `occurred_before_order`.
    occurred_at: DateTime<Utc>,
    driver: Option<ReportedDriver>,
    /// The reason, in words for the business.
    reason: Option<OptionalReason>,
    /// The cash, in paise.
    cod_amount_paise: Option<Amount>,
}

/// The customer has the parcel.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(in crate::routes) struct ReportedDelivery {
    /// The fleet's own id of the report, which identifies a repeated one.
    event_id: FleetEventId,
    event: DeliveryKind,
    /// When it happened, as for a move.
    occurred_at: DateTime<Utc>,
    driver: Option<ReportedDriver>,
    /// The reason, in words for the business.
    reason: Option<OptionalReason>,
    /// The cash, in paise.
    cod_amount_paise: Option<Amount>,
    evidence: Option<ReportedEvidence>,
}

/// The delivery failed.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(in crate::routes) struct ReportedFailure {
    /// The fleet's own id of the report, which identifies a repeated one.
    event_id: FleetEventId,
    event: FailureKind,
    /// When it happened, as for a move.
    occurred_at: DateTime<Utc>,
    driver: Option<ReportedDriver>,
    /// The reason, in words for the business.
    reason: Reason,
    /// The reason as a code; the words of `reason` stay required.
    reason_code: Option<FailureCode>,
    /// The cash, in paise.
    cod_amount_paise: Option<Amount>,
    evidence: Option<ReportedFailureEvidence>,
}

/// The cash moved.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(in crate::routes) struct ReportedCash {
    /// The fleet's own id of the report, which identifies a repeated one.
    event_id: FleetEventId,
    event: CashKind,
    /// When it happened, as for a move.
    occurred_at: DateTime<Utc>,
    driver: Option<ReportedDriver>,
    /// The reason, in words for the business.
    reason: Option<OptionalReason>,
    /// The cash, in paise.
    cod_amount_paise: Amount,
}

/// The driver, as the business may introduce them to its customer.
#[derive(ToSchema)]
struct ReportedDriver {
    /// Name of the driver.
    name: DriverName,
    /// Phone number of the driver.
    phone: Option<OptionalDriverPhone>,
    /// The vehicle that the customer looks out for.
    vehicle: Option<OptionalVehicle>,
}

/// What proves the delivery. Send what you have.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ReportedEvidence {
    /// The code that the customer told the driver, if the business issued one: six digits. A wrong one is refused with 422, and at
    /// most five of an order are looked at.
    delivery_code: Option<ReportedCode>,
    /// The name of the person who took the parcel.
    recipient_name: Option<OptionalName>,
    /// Who that person is.
    recipient_relation: Option<RecipientKind>,
    /// When the driver took the evidence, by the fleet's clock; not in the future.
    captured_at: Option<DateTime<Utc>>,
    place: Option<ReportedPlace>,
    photo: Option<ReportedPhoto>,
}

/// What proves the attempt. Send what you have.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ReportedFailureEvidence {
    /// The name of the person at the door.
    recipient_name: Option<OptionalName>,
    /// Who that person is.
    recipient_relation: Option<RecipientKind>,
    /// When the driver took the evidence, by the fleet's clock; not in the future.
    captured_at: Option<DateTime<Utc>>,
    place: Option<ReportedPlace>,
    photo: Option<ReportedPhoto>,
}

/// Where the driver was, in degrees, WGS 84.
#[derive(ToSchema)]
struct ReportedPlace {
    #[schema(minimum = -90, maximum = 90)]
    latitude: f64,
    #[schema(minimum = -180, maximum = 180)]
    longitude: f64,
}

/// A photo, which stays in your store.
#[derive(ToSchema)]
struct ReportedPhoto {
    /// The link for the business.
    url: PhotoUrl,
    /// SHA-256 of the file, in hex.
    sha256: PhotoHash,
}

/// Events, oldest first.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(in crate::routes) struct EventList {
    data: Vec<WebhookEvent>,
    /// Whether more events may follow now. `data` can be empty even then: the next page continues behind events of the other mode
    /// or of other kinds.
    has_more: bool,
    /// The `startingAfter` of the next call, now or later. Store it in the transaction of what the events caused.
    next: String,
}
