//! The OpenAPI 3.1 document of portal-api, generated from the handlers and their types. The portal's pages use types generated
//! from it.

pub(super) mod bodies;
mod common;
pub(super) mod params;
#[cfg(test)]
mod tests;

use utoipa::OpenApi;

use self::common::Common;
use super::{
    accounts, api_keys, approvals, audit_log, cash, config, events, invitations, operator,
    operator_audit_log, operator_health, operator_orders, operator_session, operator_tokens, order_cancel,
    order_request, order_stream, orders, packages, password, password_resets, payments, personal_data,
    pickup_profile, session, sessions, staff, staff_links, statement, status, status_stream, subscription,
    users, wallet, webhook_deliveries, webhook_endpoints, webhook_tools,
};

const INTRODUCTION: &str = "The API of the portal's pages. Amounts are integers in paise; times are RFC 3339 in UTC. Lists accept `limit` and \
`startingAfter` and return `{data, hasMore}`. Writing calls from pages of other origins are rejected with 403.";

#[derive(OpenApi)]
#[openapi(
    info(title = "Portal API", version = "1", description = INTRODUCTION, license(name = "Apache-2.0", identifier = "Apache-2.0")),
    servers((url = "/", description = "The portal's own origin.")),
    modifiers(&Common),
    tags(
        (name = "Account", description = "Sign-up, log-in, passwords and sessions."),
        (name = "Team", description = "Users, invitations and the audit log."),
        (name = "Overview", description = "Status, go-live checklist and public settings."),
        (name = "API keys", description = "The keys of a business's backend for the integration API."),
        (name = "Orders", description = "Test and live orders, in the format of the integration API."),
        (name = "Webhooks", description = "Endpoints that receive events of orders."),
        (name = "Wallet", description = "Balance, statement, top-ups and cash on delivery."),
        (name = "Subscription", description = "The plan of the business."),
        (name = "Pickup profile", description = "The address where parcels are picked up."),
        (name = "Operator", description = "Calls of the operator, with a token of the operator or a console session."),
        (name = "Payments", description = "Signed notifications of the payment provider."),
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
        packages::list,
        pickup_profile::read,
        pickup_profile::write,
        subscription::read,
        subscription::request,
        api_keys::list,
        api_keys::create,
        api_keys::revoke,
        api_keys::rotate,
        events::list,
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
        operator_session::read,
        operator_session::close,
        staff_links::look_up,
        staff_links::use_link,
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
        approvals::list,
        approvals::read,
        approvals::approve,
        approvals::reject,
        approvals::withdraw,
        approvals::reset_link,
        staff::list,
        staff::invite,
        staff::change,
        staff::remove,
        staff::issue_link,
        operator_tokens::list,
        operator_tokens::create,
        operator_tokens::rotate,
        operator_tokens::disable,
        operator_audit_log::list,
        payments::webhook,
    ),
)]
struct Document;

/// The content of `proto-docs/openapi/portal-api.json`.
///
/// # Errors
/// When it cannot be serialized.
pub fn document() -> anyhow::Result<String> {
    Ok(Document::openapi().to_pretty_json()? + "\n")
}
