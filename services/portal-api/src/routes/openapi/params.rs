//! The parameters of lists, as they are described; they are read by hand, so that one answer names every fault.
#![expect(dead_code, reason = "described, not read")]

use chrono::{DateTime, Utc};
use domain::{DeliveryStatus, EventKind, Mode, OrderId, UserId};
use utoipa::IntoParams;

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct PageParams {
    /// How many at most; 20 when left out.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    /// Where the page before ended. An unknown one is 400.
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct ModeParams {
    /// Both when left out.
    mode: Option<Mode>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct OrdersParams {
    mode: Option<Mode>,
    status: Option<DeliveryStatus>,
    order_reference: Option<String>,
    tracking_code: Option<String>,
    /// An id, a tracking code or a reference, exactly.
    #[param(max_length = 128)]
    search: Option<String>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct EntriesParams {
    /// `delivery_fee`, `refund`, `top_up` or `operator_credit`.
    kind: Option<String>,
    /// From then on.
    since: Option<DateTime<Utc>>,
    /// Before then.
    until: Option<DateTime<Utc>>,
    order_id: Option<OrderId>,
    order_reference: Option<String>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct BusinessesParams {
    /// An id, or part of the name or of a user's e-mail.
    #[param(max_length = 320)]
    search: Option<String>,
    /// `active`, `inactive` or `suspended`.
    status: Option<String>,
    /// `required`, `requested`, `active` or `expired`.
    subscription: Option<String>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CodeParams {
    /// An order's id, tracking code or reference, exactly.
    #[param(max_length = 128)]
    code: String,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct SpendParams {
    /// Up to today; 30 when left out.
    #[param(minimum = 1, maximum = 366)]
    days: Option<i32>,
    /// The name of a time zone, in which days begin; `Asia/Kolkata` when left out.
    #[param(max_length = 64)]
    time_zone: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct CashParams {
    /// `pending`, `collected`, `handed_over` or `settled`.
    status: Option<String>,
    /// Only those with a discrepancy, or without.
    discrepant: Option<bool>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct DeliveriesParams {
    /// `pending`, `succeeded`, `failed`, `discarded` or `parked`.
    status: Option<String>,
    event: Option<EventKind>,
    mode: Option<Mode>,
    /// Of the latest attempt: `500`, `5xx`, or `none` where no answer came.
    response_status: Option<String>,
    order_reference: Option<String>,
    /// By the time at which deliveries came to be.
    since: Option<DateTime<Utc>>,
    /// Not included.
    until: Option<DateTime<Utc>>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(crate) struct IdempotencyParams {
    /// The same key and amount again: the same top-up, once.
    #[param(rename = "Idempotency-Key")]
    idempotency_key: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct AuditLogParams {
    /// `thing.verb`, such as `api_key.created`.
    action: Option<String>,
    user_id: Option<UserId>,
    /// From then on.
    since: Option<DateTime<Utc>>,
    /// Before then.
    until: Option<DateTime<Utc>>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    starting_after: Option<String>,
}
