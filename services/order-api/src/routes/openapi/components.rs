//! What answers look like: the schemas of their bodies. A test holds them against what the views serialize to.

use domain::{CodStatus, DeliveryStatus, EventKind, Mode, OrderId};
use strum::VariantArray;

use super::ordered::{Json, object};
use super::schema::{
    boolean, id, list, nullable, open_words, paise, record, reference, string, time, with_required, words,
};
use super::{history, refusals};

/// 13 random characters of Crockford's base32 and a check character.
pub(super) const TRACKING_CODE: &str = "^(TEST-)?[0-9A-HJKMNP-TV-Z]{14}$";

/// Every schema of an answer by its name.
pub(super) fn schemas() -> Vec<(&'static str, Json)> {
    let mut all = vec![
        ("OrderCreated", order_created()),
        ("Warning", warning()),
        ("Order", order("An order as it stands.", [])),
        ("OrderList", order_page()),
        ("SimulatedOrder", simulated_order()),
        ("Simulation", simulation()),
        ("FleetOrder", record("What a driver needs to know of an order.", fleet_order())),
        ("ReportedOrder", reported_order()),
        ("FleetOrderList", fleet_page()),
        (
            "DeliveryStatus",
            words(DeliveryStatus::VARIANTS.iter().map(|s| s.as_str()), "Where the parcel is."),
        ),
        ("CodStatus", words(CodStatus::VARIANTS.iter().map(|s| s.as_str()), "Where the cash is.")),
        ("Mode", words(Mode::VARIANTS.iter().map(|mode| mode.as_str()), "Decided by the API key alone.")),
        ("Driver", driver()),
    ];
    all.extend(details());
    all.extend(history::timeline());
    all.extend(history::tracking());
    all.extend(refusals::schemas());
    all
}

pub(super) fn order_id() -> Json {
    id(OrderId::PREFIX, "Id of the order.")
}

pub(super) fn tracking_code() -> Json {
    string("For the customer; begins with `TEST-` in test mode.").with("pattern", TRACKING_CODE)
}

pub(super) fn tracking_url() -> Json {
    object! { "type": "string", "format": "uri", "description": "A page that shows the customer where the parcel is." }
}

/// Of an answer: kinds may be added.
pub(super) fn event_kind(kinds: impl IntoIterator<Item = EventKind>, description: &str) -> Json {
    open_words(kinds.into_iter().map(EventKind::as_str), description)
}

/// What can happen to a delivery and its cash.
pub(super) fn progress_kinds() -> impl Iterator<Item = EventKind> {
    EventKind::VARIANTS.iter().copied().filter(|kind| kind.is_progress())
}

pub(super) fn order_kinds() -> impl Iterator<Item = EventKind> {
    std::iter::once(EventKind::OrderCreated).chain(progress_kinds())
}

fn order_page() -> Json {
    with_required(
        "A page of orders: newest first, or with `updatedAfter` the one that changed longest ago first.",
        &["data", "hasMore"],
        [
            ("data", list(reference("Order"), "The page.")),
            (
                "hasMore",
                boolean(
                    "Whether there is more; ask again with `startingAfter`: `next`, or the last id where there is none.",
                ),
            ),
            (
                "next",
                string(
                    "For `startingAfter`: what comes after this page. With `updatedAfter`, while there is more.",
                ),
            ),
        ],
    )
}

fn fleet_page() -> Json {
    with_required(
        "A page of orders, the one that changed longest ago first.",
        &["data", "hasMore"],
        [
            ("data", list(reference("FleetOrder"), "The page.")),
            ("hasMore", boolean("Whether there is more now.")),
            ("next", string("For `startingAfter`: what comes after this page, now or later.")),
        ],
    )
}

fn order_created() -> Json {
    record(
        "The order that was created.",
        [
            ("id", order_id()),
            ("serviceOrderId", id(OrderId::PREFIX, "The same value as `id`.")),
            ("orderReference", string("Your id of the order.")),
            ("trackingCode", tracking_code()),
            ("trackingUrl", tracking_url()),
            ("status", reference("DeliveryStatus")),
            ("mode", reference("Mode")),
            ("createdAt", time("When the order was created.")),
            ("warnings", list(reference("Warning"), "Accepted, but perhaps not what was meant.")),
        ],
    )
}

fn warning() -> Json {
    record(
        "Something that was accepted, but may not be what you meant.",
        [
            ("field", string("Dotted path of the field.")),
            ("code", string("For programs, such as `unknown_field`.")),
            ("message", string("For people.")),
        ],
    )
}

/// An order's fields, and more behind them.
fn order<const N: usize>(description: &str, more: [(&str, Json); N]) -> Json {
    let fields = [
        ("id", order_id()),
        ("serviceOrderId", id(OrderId::PREFIX, "The same value as `id`.")),
        ("orderReference", string("Your id of the order.")),
        ("orderSource", string("Where the order was placed.")),
        ("trackingCode", tracking_code()),
        ("trackingUrl", tracking_url()),
        ("status", reference("DeliveryStatus")),
        ("codStatus", reference("CodStatus")),
        ("mode", reference("Mode")),
        ("customer", reference("Customer")),
        ("delivery", reference("Address")),
        ("pickup", nullable(reference("Pickup"))),
        ("package", reference("Package")),
        ("payment", reference("Payment")),
        ("notes", reference("Notes")),
        ("feeChargedPaise", paise("What a live order took from the wallet; 0 for a test order.")),
        (
            "refundedPaise",
            paise(
                "What goes back to the wallet: the whole fee of a live order that was cancelled, or failed, before its \
                 pickup; else 0.",
            ),
        ),
        ("driver", nullable(reference("Driver"))),
        ("reason", nullable(string("Why the delivery failed, was cancelled or returned."))),
        ("codCollectedPaise", nullable(paise("The cash that the driver reported, once it is collected."))),
        ("codHandedOverPaise", nullable(paise("The cash that was handed over, once it is."))),
        ("codSettledPaise", nullable(paise("The cash that was settled with you, once it is."))),
        (
            "codDiscrepancyPaise",
            nullable(paise(
                "The latest of these amounts that is not what was to be collected; the difference is in `codDifferencePaise`.",
            )),
        ),
        (
            "codDifferencePaise",
            nullable(paise(
                "That amount less the cash that was to be collected: negative when cash is missing.",
            )),
        ),
        ("createdAt", time("When the order was created.")),
        ("updatedAt", time("When it last changed.")),
        ("personalDataErasedAt", erased_at()),
    ];
    record(description, fields.into_iter().chain(more))
}

fn simulated_order() -> Json {
    let legal =
        list(event_kind(progress_kinds(), "An event that could come next."), "What can be simulated next.");
    let more = [("legal", legal), ("simulation", nullable(reference("Simulation")))];
    order("A test order after a simulated event, or with a run that has begun.", more)
}

fn simulation() -> Json {
    record(
        "The run that moves the order on by itself.",
        [
            ("scenario", words(["delivered", "failed", "cancelled", "no_driver"], "How it ends.")),
            ("nextEvent", nullable(event_kind(progress_kinds(), "What happens next."))),
            ("nextAt", time("When it happens.")),
        ],
    )
}

fn reported_order() -> Json {
    let warnings = list(reference("Warning"), "Recorded, but perhaps not what was meant.");
    let fields = fleet_order().into_iter().chain([("warnings", warnings)]);
    record("An order after a report, and the warnings about the report.", fields)
}

fn fleet_order() -> [(&'static str, Json); 18] {
    [
        ("id", order_id()),
        ("orderReference", string("The business's id of the order.")),
        ("trackingCode", tracking_code()),
        ("status", reference("DeliveryStatus")),
        ("codStatus", reference("CodStatus")),
        ("codAmountPaise", paise("The cash to collect; 0 for none.")),
        ("codDiscrepancyPaise", nullable(paise("A reported amount that is not the one to collect."))),
        ("codDifferencePaise", nullable(paise("That amount less the one to collect."))),
        ("customer", reference("Customer")),
        ("delivery", reference("Address")),
        ("pickup", nullable(reference("Pickup"))),
        ("package", reference("Package")),
        ("customerNote", nullable(string("From the customer to the driver."))),
        ("driver", nullable(reference("Driver"))),
        ("reason", nullable(string("Why the delivery failed, was cancelled or returned."))),
        ("createdAt", time("When the order was created.")),
        ("updatedAt", time("When it last changed.")),
        ("personalDataErasedAt", erased_at()),
    ]
}

fn erased_at() -> Json {
    let description = "When what the order told of people was erased: names, phones, addresses, notes, the driver, the reason \
                       and what is in the parcel are null since. Of an address the PIN code is left. Null before.";
    nullable(time(description))
}

fn driver() -> Json {
    with_required(
        "The driver, as the fleet introduces them. A simulation makes one up for its event; a test order itself has none.",
        &["name"],
        [
            ("name", string("Name of the driver.")),
            ("phone", string("Phone number of the driver.")),
            ("vehicle", string("What to look out for.")),
        ],
    )
}

fn maybe(description: &str) -> Json {
    nullable(string(description))
}

fn degrees(description: &str) -> Json {
    nullable(object! { "type": "number", "description": description })
}

/// The parts of an order that its body brought.
fn details() -> [(&'static str, Json); 7] {
    let address = [
        ("addressLine1", maybe("House and street.")),
        ("addressLine2", maybe("Floor, flat, company.")),
        ("city", maybe("City or town.")),
        ("state", maybe("State or union territory.")),
        ("pincode", maybe("Six digits.")),
        ("landmark", maybe("What the driver will see nearby.")),
        ("latitude", degrees("In degrees, WGS 84.")),
        ("longitude", degrees("In degrees, WGS 84.")),
        ("fullAddress", maybe("The whole address as one text.")),
    ];
    let [a, b, c, d, e, f, g, h, i] = address.clone();
    let [name, contact, phone] = [
        ("businessName", maybe("The name at the door.")),
        ("contactName", maybe("Whom the driver asks for.")),
        ("phone", maybe("With country code.")),
    ];
    let customer = [
        ("name", maybe("As the driver should ask for them; null once erased.")),
        ("phone", maybe("With country code, digits only: `+919800000001`; null once erased.")),
        ("email", maybe("E-mail address.")),
    ];
    [
        ("Customer", record("Who receives the parcel.", customer)),
        ("Address", record("Where the parcel goes.", address)),
        ("Pickup", record("Where it is fetched.", [name, contact, phone, a, b, c, d, e, f, g, h, i])),
        ("Package", package()),
        ("Item", item()),
        ("Payment", payment()),
        (
            "Notes",
            record(
                "Notes to the order.",
                [("customerNote", maybe("From the customer.")), ("internalNote", maybe("Yours."))],
            ),
        ),
    ]
}

fn package() -> Json {
    record(
        "What is delivered.",
        [
            ("description", maybe("In a few words.")),
            ("items", list(reference("Item"), "What is in the parcel.")),
            ("totalItems", nullable(object! { "type": "integer", "description": "How many pieces." })),
            ("weightKg", nullable(object! { "type": "number", "description": "Weight in kilograms." })),
            ("fragile", boolean("Whether it must be handled with care.")),
            ("specialInstructions", maybe("For the driver.")),
        ],
    )
}

fn item() -> Json {
    record(
        "One line of the order.",
        [
            ("name", maybe("What it is.")),
            ("quantity", nullable(object! { "type": "integer", "description": "How many." })),
            ("pricePaise", nullable(paise("Price of one."))),
        ],
    )
}

fn payment() -> Json {
    record(
        "Who pays what, in paise.",
        [
            ("paymentType", words(["prepaid", "cod"], "How the customer pays the business.")),
            ("orderValuePaise", nullable(paise("Value of the order."))),
            ("deliveryFeePaise", paise("The delivery fee.")),
            ("codAmountPaise", paise("The cash to collect.")),
            ("prepaidAmountPaise", paise("What the business has collected already.")),
            ("currency", words(["INR"], "Always `INR`.")),
        ],
    )
}
