//! The description of portal-api (OpenAPI 3.1), gathered from the handlers and from the types that they answer with. The
//! portal's pages are written against the types that are made from it.

pub(super) mod bodies;
mod common;
pub(super) mod params;
#[cfg(test)]
mod tests;

use utoipa::OpenApi;

use self::common::Common;
use super::{
    accounts, api_keys, audit_log, cash, config, invitations, operator, operator_health, operator_orders,
    operator_session, order_cancel, order_request, order_stream, orders, password, password_resets, payments,
    personal_data, pickup_profile, session, sessions, statement, status, status_stream, subscription, users,
    wallet, webhook_deliveries, webhook_endpoints, webhook_tools,
};

const INTRODUCTION: &str = "What the portal's pages call. Amounts are integers in paise, times RFC 3339 in UTC. Lists take `limit` and \
`startingAfter` and answer `{data, hasMore}`. Writing calls from pages of another origin are refused with 403.";

#[derive(OpenApi)]
#[openapi(
    info(title = "Portal API", version = "1", description = INTRODUCTION, license(name = "Apache-2.0")),
    modifiers(&Common),
    tags(
        (name = "Account", description = "Who logs in."),
        (name = "Team", description = "The people of a business, and what they did."),
        (name = "Overview", description = "How things stand."),
        (name = "API keys", description = "What a business's back end calls with."),
        (name = "Orders", description = "Orders of both modes, in the shape of the integration API."),
        (name = "Webhooks", description = "Where a business hears of its orders."),
        (name = "Wallet", description = "Money."),
        (name = "Subscription", description = "What the business pays the operator for."),
        (name = "Pickup profile", description = "Where parcels are picked up."),
        (name = "Operator", description = "For the operator, with the operator's token."),
        (name = "Payments", description = "For the payment provider, which signs what it posts."),
    ),
    paths(
        accounts::sign_up,
        session::log_in,
        session::who_am_i,
        session::log_out,
        password::change,
        sessions::list,
        sessions::revoke,
        sessions::revoke_all_others,
        password_resets::request,
        password_resets::look_up,
        password_resets::confirm,
        invitations::look_up,
        invitations::accept,
        users::list,
        users::change,
        users::remove,
        invitations::list,
        invitations::create,
        invitations::withdraw,
        audit_log::list,
        config::config,
        status::status,
        status_stream::stream,
        pickup_profile::read,
        pickup_profile::write,
        subscription::read,
        subscription::request,
        api_keys::list,
        api_keys::create,
        api_keys::revoke,
        api_keys::rotate,
        orders::list,
        order_stream::stream,
        orders::read,
        orders::events,
        orders::simulate,
        order_request::request,
        order_cancel::cancel,
        personal_data::erase_one,
        personal_data::latest,
        personal_data::erase_all,
        wallet::read,
        statement::entries,
        statement::export,
        wallet::spend,
        wallet::set_threshold,
        wallet::top_up,
        wallet::find_top_up,
        cash::of_business,
        webhook_endpoints::list,
        webhook_endpoints::create,
        webhook_endpoints::read,
        webhook_endpoints::update,
        webhook_endpoints::remove,
        webhook_endpoints::test,
        webhook_endpoints::replay_parked,
        webhook_endpoints::discard_parked,
        webhook_deliveries::of_endpoint,
        webhook_deliveries::read,
        webhook_deliveries::redeliver,
        webhook_tools::rotate_secret,
        webhook_tools::activate_secret,
        webhook_tools::recover,
        webhook_tools::recoveries,
        webhook_tools::recovery,
        webhook_tools::cancel_recovery,
        webhook_tools::verify_signature,
        operator_session::open,
        operator_session::look,
        operator_session::close,
        operator::list,
        operator::read,
        operator_health::health,
        operator_orders::orders,
        operator_orders::order_events,
        personal_data::latest_of,
        personal_data::erase_all_of,
        operator::change,
        operator::credit,
        password_resets::issue,
        users::list_for_operator,
        audit_log::list_for_operator,
        cash::of_all,
        cash::discrepancies,
        payments::webhook,
    ),
)]
struct Document;

/// The document, as it is kept in `proto-docs/openapi/portal-api.json`.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn document() -> anyhow::Result<String> {
    Ok(Document::openapi().to_pretty_json()? + "\n")
}
