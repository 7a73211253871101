//! The bodies of errors.
#![expect(dead_code, reason = "describes what `web::ApiError` and `routes::errors` write")]

use domain::{CodStatus, DeliveryStatus, GoLiveItem, OrderId, Paise, RequestId, TrackingCode};
use utoipa::ToSchema;

use super::schema::{FaultCode, ProgressKind, RequiredScope};
use crate::domain::Warning;

/// Every answer other than a success. Fields without a value are left out.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(super) struct Error {
    /// What is wrong and what to do, in a sentence for people.
    message: String,
    /// For programs; stays the same.
    code: String,
    /// Names this request in our logs. Include it when you ask for help.
    request_id: RequestId,
    /// The page that explains the code, if this service has its documentation.
    #[schema(format = "uri")]
    docs: Option<String>,
    /// Every error of the request at once (400).
    errors: Option<Vec<Fault>>,
    /// Other fields that may be wrong (400), such as one whose name is misspelt.
    warnings: Option<Vec<Warning>>,
    /// The open items of the go-live list (403 `live_api_locked`).
    missing: Option<Vec<GoLiveItem>>,
    /// The scope that the key lacks (403 `insufficient_scope`).
    required_scope: Option<RequiredScope>,
    order: Option<ExistingOrder>,
    /// Dotted paths of the fields in which the request differs from the order that holds its key, as far as the order still
    /// has them (422 `idempotency_key_reused`).
    differences: Option<Vec<String>>,
    /// The balance of the wallet (402).
    balance_paise: Option<Paise>,
    /// The delivery fee (402).
    required_paise: Option<Paise>,
    /// The missing amount (402): the delivery fee minus the balance, and what the business owes, which a top-up pays first.
    shortfall_paise: Option<Paise>,
    /// The status of the order (409).
    status: Option<DeliveryStatus>,
    /// The status of its cash (409).
    cod_status: Option<CodStatus>,
    /// The events that are possible instead (409 `illegal_transition`).
    legal: Option<Vec<ProgressKind>>,
    /// The duplicated header (400 `duplicate_header`).
    header: Option<String>,
}

/// The same error in the form of RFC 9457, for callers that accept `application/problem+json`.
#[derive(ToSchema)]
pub(super) struct Problem {
    #[serde(flatten)]
    error: Error,
    /// Always `about:blank`.
    r#type: String,
    /// The name of the status.
    title: String,
    /// The HTTP status.
    status: i32,
    /// The same as `message`.
    detail: String,
}

/// One error in the request.
#[derive(ToSchema)]
struct Fault {
    /// Dotted path, such as `package.items[2].quantity`; empty for the body as a whole.
    field: String,
    code: FaultCode,
    /// For people.
    message: String,
}

/// The order that holds the reference (409 `order_reference_exists`) or the key (422 `idempotency_key_reused`, once it is paid).
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct ExistingOrder {
    id: OrderId,
    /// The same value as `id`.
    service_order_id: OrderId,
    /// Your id of the order.
    order_reference: String,
    tracking_code: TrackingCode,
    /// A page that shows the customer where the parcel is.
    #[schema(format = "uri")]
    tracking_url: String,
    status: DeliveryStatus,
}
