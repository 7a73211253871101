//! The body of an order, for the API's description. It is read by hand, so that one answer names every error.
#![expect(dead_code, reason = "described, not read")]

use domain::Paise;
use internal_api::orders::details::Currency;
use utoipa::ToSchema;
use utoipa::openapi::Ref;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};

use super::schema::{format, integer, optional_form, optional_text, pincode, schemas, string, text, words};
use crate::routes::order_body::{
    ADDRESS, ADDRESS_LINE, FULL_ADDRESS, ITEMS_MAX, NAME, NOTE, PINCODE, QUANTITY_MAX, REFERENCE, SOURCE,
    TOTAL_ITEMS_MAX, WEIGHT_KG_MAX,
};

const EMAIL_MAX: usize = 254;
const PHONE_MAX: usize = 40;

schemas! {
    OrderReference = text(REFERENCE);
    OrderSource = optional_text(SOURCE);
    Name = text(NAME);
    OptionalName = optional_text(NAME);
    Phone = format(string(), "phone").min_length(Some(1)).max_length(Some(PHONE_MAX)).examples(["+919800000001"]);
    OptionalPhone = optional_form(format(string(), "phone"), PHONE_MAX);
    OptionalEmail = optional_form(format(string(), "email"), EMAIL_MAX);
    AddressLine = text(ADDRESS_LINE);
    OptionalAddressLine = optional_text(ADDRESS_LINE);
    OptionalLandmark = optional_text(ADDRESS);
    OptionalFullAddress = optional_text(FULL_ADDRESS);
    Pincode = pincode().max_length(Some(PINCODE.max)).examples(["560038"]);
    OptionalPincode = optional_form(pincode(), PINCODE.max);
    OptionalNote = optional_text(NOTE);
    NewItems = ArrayBuilder::new().items(Ref::from_schema_name("NewItem")).max_items(Some(ITEMS_MAX));
    Quantity = integer(1, QUANTITY_MAX);
    TotalItems = integer(0, TOTAL_ITEMS_MAX);
    WeightKg = ObjectBuilder::new().schema_type(Type::Number).minimum(Some(0.0)).maximum(Some(WEIGHT_KG_MAX));
    Prepaid = words(["prepaid"]);
    Cod = words(["cod"]);
    DeliveryFee = integer(1, Paise::REQUEST_MAX.get());
    Amount = integer(0, Paise::REQUEST_MAX.get());
    NoAmount = ObjectBuilder::new().schema_type(Type::Integer).enum_values(Some([0]));
}

/// One confirmed order, to be delivered. Send optional fields as null or leave them out. Unknown fields are ignored, with a
/// warning in the answer that names the nearest known field.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(super) struct NewOrder {
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
    /// The delivery fee that you decided on; a live order takes it from your wallet.
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
    /// The delivery fee that you decided on; a live order takes it from your wallet.
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
