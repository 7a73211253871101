//! What answers look like that are no success.

use domain::{DeliveryStatus, GoLiveItem, OrderId};
use strum::VariantArray;

use super::components::{event_kind, order_id, progress_kinds, tracking_code, tracking_url};
use super::ordered::{Json, object};
use super::schema::{id, list, open_words, paise, record, reference, string, with_required, words};

pub(super) fn schemas() -> [(&'static str, Json); 5] {
    let items =
        open_words(GoLiveItem::VARIANTS.iter().map(|item| item.as_str()), "An item of the go-live list.");
    [
        ("Error", error()),
        ("Problem", problem()),
        ("Fault", field_error()),
        ("GoLiveItem", items),
        ("ExistingOrder", existing_order()),
    ]
}

/// What any error says, and what some add.
fn fields() -> [(&'static str, Json); 15] {
    [
        ("message", string("What is wrong and what to do, in a sentence for people.")),
        ("code", string("For programs; stays the same.")),
        ("requestId", id("req_", "Names this request in our logs. Send it along when you ask for help.")),
        ("errors", list(reference("Fault"), "Every fault of the request at once (400).")),
        (
            "warnings",
            list(
                reference("Warning"),
                "What else may not be what was meant (400), such as a field whose name is misspelt.",
            ),
        ),
        (
            "missing",
            list(reference("GoLiveItem"), "What is open before live orders (403 `live_api_locked`)."),
        ),
        ("order", reference("ExistingOrder")),
        (
            "differences",
            list(
                string("Dotted path of a field."),
                "Where the request differs from the order that holds its key, as far as the order tells (422 \
                 `idempotency_key_reused`).",
            ),
        ),
        ("balancePaise", paise("What the wallet holds (402).")),
        ("requiredPaise", paise("What the delivery costs (402).")),
        ("shortfallPaise", paise("What is missing (402).")),
        ("status", words(DeliveryStatus::VARIANTS.iter().map(|s| s.as_str()), "Where the order is (409).")),
        ("codStatus", reference("CodStatus")),
        (
            "legal",
            list(
                event_kind(progress_kinds(), "An event."),
                "What could happen instead (409 `illegal_transition`).",
            ),
        ),
        ("header", string("Which header is meant (400 `duplicate_header`).")),
    ]
}

fn error() -> Json {
    with_required("Every answer that is no success.", &["message", "code", "requestId"], fields())
}

fn problem() -> Json {
    with_required(
        "The same error as RFC 9457 has it, for callers that accept `application/problem+json`.",
        &["type", "title", "status", "detail", "message", "code", "requestId"],
        {
            let [
                message,
                code,
                request,
                errors,
                warnings,
                missing,
                order,
                differences,
                balance,
                required,
                shortfall,
                _,
                cod,
                legal,
                header,
            ] = fields();
            [
                ("type", string("Always `about:blank`.")),
                ("title", string("The status, in words.")),
                ("status", object! { "type": "integer", "description": "The HTTP status." }),
                ("detail", string("The same as `message`.")),
                message,
                code,
                request,
                errors,
                warnings,
                missing,
                order,
                differences,
                balance,
                required,
                shortfall,
                cod,
                legal,
                header,
            ]
        },
    )
}

fn field_error() -> Json {
    record(
        "One thing that is wrong with the request.",
        [
            (
                "field",
                string("Dotted path, such as `package.items[2].quantity`; empty for the body as a whole."),
            ),
            (
                "code",
                open_words(
                    [
                        "required",
                        "invalid_type",
                        "invalid_value",
                        "invalid_format",
                        "too_long",
                        "out_of_range",
                        "unknown_parameter",
                        "cod_amount_required",
                    ],
                    "For programs.",
                ),
            ),
            ("message", string("For people.")),
        ],
    )
}

fn existing_order() -> Json {
    record(
        "The order that holds the reference (409 `order_reference_exists`) or the key (422 `idempotency_key_reused`, once it is paid).",
        [
            ("id", order_id()),
            ("serviceOrderId", id(OrderId::PREFIX, "The same value as `id`.")),
            ("orderReference", string("Your id of the order.")),
            ("trackingCode", tracking_code()),
            ("trackingUrl", tracking_url()),
            ("status", reference("DeliveryStatus")),
        ],
    )
}
