//! HTTP. For people: the calls of the table in `calls.rs`, from which the router is built, and the pages. Internal: calls from
//! order-api.
// A handler without a row in the table is never used.
#![deny(dead_code)]

mod account_fields;
mod accounts;
mod api_keys;
mod approval_view;
mod approvals;
mod audit_log;
mod audited;
mod browser_cookie;
mod call;
mod caller;
mod calls;
mod cash;
mod config;
mod confirm_session;
mod email;
mod errors;
mod event_stream;
mod events;
mod export;
mod guard;
mod internal;
mod invitations;
mod log_export;
mod masked;
mod memberships;
mod names;
mod openapi;
mod opened;
mod operator;
mod operator_actor_view;
mod operator_audit_log;
mod operator_caller;
mod operator_guard;
mod operator_health;
mod operator_orders;
mod operator_records;
mod operator_session;
mod operator_sso;
mod operator_tokens;
mod operator_wallet;
mod order_cancel;
mod order_request;
mod order_stream;
mod ordering;
mod orders;
mod own_account;
mod packages;
mod pagination;
mod passkeys;
mod password;
mod password_resets;
mod payments;
mod personal_data;
mod pickup_profile;
mod portal_sso;
mod router;
mod second_factor;
mod second_step;
mod session;
mod session_cookie;
mod sessions;
mod single_sign_on;
mod sso_log_ins;
mod staff;
mod staff_links;
mod statement;
mod status;
mod status_stream;
mod subscription;
mod users;
mod wallet;
mod webhook_deliveries;
mod webhook_endpoints;
mod webhook_tools;

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, scope};
use web::BodyLimit;

use crate::domain::Site;
use crate::pages::Pages;
use crate::state::State;
pub(crate) use internal::internal;
pub use openapi::document as openapi_document;
pub(crate) use staff::NAME as STAFF_NAME;

/// Enough for all calls of the portal.
const BODY_MAX_BYTES: usize = 64 * 1024;

/// The routes of a listener for people: those of the parts that its site has.
pub(crate) fn of_site(
    state: Data<State>,
    site: Data<Site>,
    pages: Option<Data<Pages>>,
) -> impl Fn(&mut ServiceConfig) + Clone + Send + 'static {
    move |config| {
        config.app_data(state.clone()).app_data(site.clone()).app_data(BodyLimit(BODY_MAX_BYTES));
        config.configure(config::calls_of_the_api).service(
            scope(router::SCOPE)
                .wrap(from_fn(guard::refuse_foreign_writes))
                .configure(|config| router::register(config, &site)),
        );
        if let Some(pages) = &pages {
            // Last, because it matches every path.
            Pages::configure(pages.clone(), config);
        }
    }
}
