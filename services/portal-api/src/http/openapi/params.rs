//! Descriptions of query parameters. Handlers parse them by hand, so that one response lists all errors.
#![expect(dead_code, reason = "only described")]

use chrono::{DateTime, Utc};
use domain::{BusinessId, CodStatus, DeliveryStatus, EventKind, Mode, OrderId, PaymentType, UserId};
use internal_api::orders::{DecisionFilter, ExceptionKind};
use utoipa::IntoParams;

use crate::approvals::domain::ApprovalState;
use crate::exports::domain::ExportFormat;

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct PageParams {
    /// The maximum number of items. Default: 20.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    /// The id of the last item of the previous page. An unknown id is 400.
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct ApiKeysParams {
    /// Only keys that this user created, and their successors.
    created_by: Option<UserId>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct ModeParams {
    /// Default: both.
    mode: Option<Mode>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct OrderFilters {
    mode: Option<Mode>,
    status: Option<DeliveryStatus>,
    cod_status: Option<CodStatus>,
    payment_type: Option<PaymentType>,
    /// Inclusive.
    created_from: Option<DateTime<Utc>>,
    /// Exclusive.
    created_until: Option<DateTime<Utc>>,
    order_reference: Option<String>,
    tracking_code: Option<String>,
    /// Words that begin like these: of the customer's name, the city, the PIN code or the reference. Or the end of a reference,
    /// an id, or a tracking code; with the permission `read_customers` also the first or last digits of the customer's phone, at
    /// least four.
    #[param(max_length = 200)]
    search: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct OrdersPageParams {
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    /// The last id of the previous page, or its `next`.
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExceptionsParams {
    /// Default: failed.
    #[param(inline)]
    kind: Option<ExceptionKind>,
    /// Only orders for which the business asked for another attempt or the return, or only the others. Of failed ones, the list
    /// has only the undecided and those with a late decision; with `pending`, all for which something was asked that has not
    /// begun, late or not. Not in the counts.
    #[param(inline)]
    decision: Option<DecisionFilter>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SeenDecisionParams {
    /// The decision that the caller saw: `none`, or the time of its request. Another one is not replaced: 409 `decision_changed`.
    seen: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct ExceptionsOfAllParams {
    /// Default: failed.
    #[param(inline)]
    kind: Option<ExceptionKind>,
    /// Only orders for which the business asked for another attempt or the return, or only the others. Of failed ones, the list
    /// has only the undecided and those with a late decision; with `pending`, all for which something was asked that has not
    /// begun, late or not. Not in the counts.
    #[param(inline)]
    decision: Option<DecisionFilter>,
    /// Only orders of this business, also in the counts.
    business_id: Option<BusinessId>,
    /// Only orders to a city or PIN code that begins like this, also in the counts.
    #[param(max_length = 200)]
    area: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct EventsParams {
    /// Default: both.
    mode: Option<Mode>,
    event: Option<EventKind>,
    /// An exact id, tracking code or reference of an order.
    #[param(max_length = 128)]
    search: Option<String>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    /// `continueAfter` of the previous page. An unknown id is 400.
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct EntriesParams {
    /// `delivery_fee`, `refund`, `top_up`, `operator_credit`, `operator_debit`, `operator_debit_shortfall`, `top_up_reversal`,
    /// `top_up_reversal_shortfall` or `receivable_payment`.
    kind: Option<String>,
    /// Inclusive.
    since: Option<DateTime<Utc>>,
    /// Exclusive.
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
    /// An id, or part of the name or of a user's e-mail address.
    #[param(max_length = 320)]
    search: Option<String>,
    /// `active`, `inactive` or `suspended`, without closed businesses; or `closed`.
    status: Option<String>,
    /// `required`, `requested`, `active` or `expired`.
    subscription: Option<String>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct FindOrdersParams {
    /// Words of the customer's name, phone and city, the PIN code, part of the reference, or the id or tracking code. Needed
    /// without a city and a period of `createdFrom` and `createdUntil`.
    #[param(max_length = 200)]
    search: Option<String>,
    /// The beginning of the city of the delivery, with or without `search`.
    #[param(max_length = 200)]
    city: Option<String>,
    status: Option<DeliveryStatus>,
    /// Searches only the orders of this business.
    business_id: Option<BusinessId>,
    /// Searches only orders that were created at this time or later. Without words, city and business, at most 31 days before
    /// `createdUntil`.
    created_from: Option<DateTime<Utc>>,
    /// Searches only orders that were created before this time.
    created_until: Option<DateTime<Utc>>,
    /// In place of a search: an exact id, tracking code or reference of an order.
    #[param(max_length = 200)]
    code: Option<String>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    /// The last id of the previous page, or its `next`.
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct OrdersOfBusinessParams {
    mode: Option<Mode>,
    status: Option<DeliveryStatus>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatementPeriodParams {
    /// Inclusive. Default: 30 days before `until`.
    since: Option<DateTime<Utc>>,
    /// Exclusive, at most 366 days after `since`. Default: now.
    until: Option<DateTime<Utc>>,
    /// Sums only the entries of this kind. Balances stay those of the wallet.
    kind: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct SpendParams {
    /// The number of days up to today. Default: 30.
    #[param(minimum = 1, maximum = 366)]
    days: Option<i32>,
    /// The time zone of the days. Default: `Asia/Kolkata`.
    #[param(max_length = 64)]
    time_zone: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct CashFilters {
    /// `pending`, `collected`, `handed_over` or `settled`.
    status: Option<String>,
    /// `true`: only orders with a discrepancy that is not closed. `false`: only the others.
    discrepant: Option<bool>,
    /// `true`: only orders with a discrepancy, also if the operator closed it. `false`: only orders without one.
    differs: Option<bool>,
    /// The cash of one order.
    order_id: Option<OrderId>,
    /// `true`: only orders that are not settled although their promised day is over. `false` filters nothing.
    late: Option<bool>,
    /// Only cash that is due since this time or later: normally, that of orders whose delivery was reported since then.
    due_from: Option<DateTime<Utc>>,
    /// Only cash that is due since an earlier time.
    due_until: Option<DateTime<Utc>>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportParams {
    /// Default: csv.
    #[param(inline)]
    format: Option<ExportFormat>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct DeliveriesParams {
    /// `pending`, `succeeded`, `failed`, `discarded` or `parked`.
    status: Option<String>,
    event: Option<EventKind>,
    mode: Option<Mode>,
    /// The response of the latest attempt: `500`, `5xx`, or `none` without a response.
    response_status: Option<String>,
    order_reference: Option<String>,
    /// The earliest creation time, inclusive.
    since: Option<DateTime<Utc>>,
    /// The latest creation time, exclusive.
    until: Option<DateTime<Utc>>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    starting_after: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(crate) struct IdempotencyParams {
    /// Repeating the same key and amount returns the same top-up.
    #[param(rename = "Idempotency-Key")]
    idempotency_key: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct OperatorAuditLogFilters {
    /// `thing.verb`, such as `staff.invited`.
    action: Option<String>,
    /// The e-mail address of a person, or the name of a token.
    #[param(max_length = 320)]
    actor: Option<String>,
    /// An IP address. An IPv6 address finds its /64 network.
    #[param(max_length = 45)]
    address: Option<String>,
    business_id: Option<BusinessId>,
    /// Leaves out entries of reads.
    without_reads: Option<bool>,
    /// Inclusive.
    since: Option<DateTime<Utc>>,
    /// Exclusive.
    until: Option<DateTime<Utc>>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct AuditLogFilters {
    /// `thing.verb`, such as `api_key.created`.
    action: Option<String>,
    user_id: Option<UserId>,
    /// What was done to this order.
    order_id: Option<OrderId>,
    /// The e-mail address of a user at that time.
    #[param(max_length = 320)]
    actor: Option<String>,
    /// An IP address. An IPv6 address finds its /64 network.
    #[param(max_length = 45)]
    address: Option<String>,
    /// Inclusive.
    since: Option<DateTime<Utc>>,
    /// Exclusive.
    until: Option<DateTime<Utc>>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(crate) struct ApprovalsParams {
    state: Option<ApprovalState>,
    /// Only requests about this business.
    business_id: Option<BusinessId>,
    #[param(minimum = 1, maximum = 100)]
    limit: Option<i32>,
    starting_after: Option<String>,
}
