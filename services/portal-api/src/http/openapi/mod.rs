//! The OpenAPI 3.1 document of portal-api, generated from the handlers and their types. The portal's pages use types generated
//! from it.

pub(crate) mod bodies;
pub(crate) mod cash_bodies;
mod common;
pub(crate) mod contact_bodies;
pub(crate) mod params;
pub(crate) mod shown;
pub(crate) mod sso_bodies;
#[cfg(test)]
mod tests;

use utoipa::OpenApi;

use crate::http::calls::CALLS;

const INTRODUCTION: &str = "The API of the portal's pages. Amounts are integers in paise; times are RFC 3339 in UTC. Lists accept `limit` and \
`startingAfter` and return `{data, hasMore}`; a page of orders has at most 256 KiB or a single order. Writing calls from pages of other origins are rejected with 403.";

#[derive(OpenApi)]
#[openapi(
    info(title = "Portal API", version = "1", description = INTRODUCTION, license(name = "Apache-2.0", identifier = "Apache-2.0")),
    servers((url = "/", description = "The portal's own origin.")),
    tags(
        (name = "Account", description = "Sign-up, log-in, passwords and sessions."),
        (name = "Team", description = "Users, invitations and the audit log."),
        (name = "Overview", description = "Status, go-live checklist and public settings."),
        (name = "API keys", description = "The keys of a business's backend for the integration API."),
        (name = "Orders", description = "Test and live orders, in the format of the integration API."),
        (name = "Exports", description = "Files with the orders or the cash of a list, kept for 24 hours."),
        (name = "Webhooks", description = "Endpoints that receive events of orders."),
        (name = "Wallet", description = "Balance, statement, top-ups and cash on delivery."),
        (name = "Subscription", description = "The plan of the business."),
        (name = "Pickup profile", description = "The address where parcels are picked up."),
        (name = "Operator", description = "Calls of the operator, with a token of the operator or a console session."),
        (name = "Payments", description = "Signed notifications of the payment provider."),
    ),
)]
struct Document;

/// The content of `proto-docs/openapi/portal-api.json`.
///
/// # Errors
/// When a handler describes another call than its row, a call has two rows, or the document cannot be serialized.
pub fn document() -> anyhow::Result<String> {
    let mut document = Document::openapi();
    for call in CALLS {
        let mut description = (call.description)();
        common::complete(call, &mut description)?;
        let is_new = common::operation(call, &mut document).is_none();
        anyhow::ensure!(is_new, "{} {} has two rows", call.method, call.path);
        document.merge(description);
    }
    common::add_components(&mut document);
    Ok(document.to_pretty_json()? + "\n")
}
