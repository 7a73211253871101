//! The URL table. For people: portal calls with a session, operator calls with a token or a console session, and the
//! pages. Internal: calls from order-api.

mod account_fields;
mod accounts;
mod api_keys;
mod approval_view;
mod approvals;
mod audit_log;
mod audited;
mod browser_cookie;
mod call_table;
mod caller;
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
mod operator;
mod operator_actor_view;
mod operator_audit_log;
mod operator_caller;
mod operator_health;
mod operator_orders;
mod operator_passkeys;
mod operator_password;
mod operator_permissions;
mod operator_records;
mod operator_second_factor;
mod operator_session;
mod operator_sessions;
mod operator_sso;
mod operator_tokens;
mod operator_wallet;
mod order_cancel;
mod order_request;
mod order_stream;
mod ordering;
mod orders;
mod packages;
mod pagination;
mod passkeys;
mod password;
mod password_resets;
mod payments;
mod permissions;
mod personal_data;
mod pickup_profile;
mod portal_sso;
mod query_parameters;
mod second_factor;
mod second_step;
mod sensitive_calls;
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
mod webhook_calls;
mod webhook_deliveries;
mod webhook_endpoints;
mod webhook_tools;

pub(crate) use internal::internal;
pub use openapi::document as openapi_document;
pub(crate) use staff::NAME as STAFF_NAME;

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, delete, get, patch, post, put, resource, scope};
use web::BodyLimit;

use crate::domain::{Part, Site};
use crate::pages::Pages;
use crate::state::State;

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
            scope("/v1")
                .wrap(from_fn(query_parameters::refuse_unknown))
                .wrap(from_fn(guard::refuse_foreign_writes))
                .service(resource("/portal/config").route(get().to(config::config)))
                .configure(|config| {
                    for part in site.parts {
                        match part {
                            Part::Portal => of_businesses(config),
                            Part::Console => of_staff(config),
                        }
                    }
                }),
        );
        if let Some(pages) = &pages {
            // Last, because it matches every path.
            Pages::configure(pages.clone(), config);
        }
    }
}

fn of_businesses(config: &mut ServiceConfig) {
    config
        .service(resource("/portal/accounts").route(post().to(accounts::sign_up)))
        .service(
            resource("/portal/session")
                .route(post().to(session::log_in))
                .route(get().to(session::who_am_i))
                .route(delete().to(session::log_out)),
        )
        .service(resource("/portal/session/second-factor").route(post().to(second_step::portal)))
        .service(
            resource("/portal/session/second-factor/passkey-options")
                .route(post().to(second_step::portal_options)),
        )
        .configure(without_session)
        .service(resource("/payments/{provider}/webhook").route(post().to(payments::webhook)))
        .service(scope("/portal").wrap(from_fn(guard::require_session)).configure(portal));
}

fn of_staff(config: &mut ServiceConfig) {
    config
        .service(
            resource("/operator/session")
                .route(post().to(operator_session::open))
                .route(get().to(operator_session::read))
                .route(delete().to(operator_session::close)),
        )
        .service(resource("/operator/password-links/look-up").route(post().to(staff_links::look_up)))
        .service(resource("/operator/password-links/use").route(post().to(staff_links::use_link)))
        .configure(second_steps)
        .service(resource("/operator/sso/log-ins").route(post().to(operator_sso::start)))
        .service(resource("/operator/sso/log-ins/complete").route(post().to(operator_sso::complete)))
        .configure(console_sessions)
        .service(scope("/operator").wrap(from_fn(guard::require_operator)).configure(operator_calls));
}

/// Calls of people without an account, or without access to it.
fn without_session(config: &mut ServiceConfig) {
    config
        .service(resource("/portal/password-resets").route(post().to(password_resets::request)))
        .service(resource("/portal/password-resets/look-up").route(post().to(password_resets::look_up)))
        .service(resource("/portal/password-resets/confirm").route(post().to(password_resets::confirm)))
        .service(resource("/portal/sso/log-ins").route(post().to(portal_sso::start)))
        .service(resource("/portal/sso/log-ins/complete").route(post().to(portal_sso::complete)))
        .service(resource("/portal/invitations/look-up").route(post().to(invitations::look_up)))
        .service(resource("/portal/invitations/accept").route(post().to(invitations::accept)));
}

/// The second step of the staff's log-ins, and their second factors: everybody may manage their own.
fn second_steps(config: &mut ServiceConfig) {
    config
        .service(resource("/operator/session/second-factor").route(post().to(second_step::operator)))
        .service(
            resource("/operator/session/second-factor/passkey-options")
                .route(post().to(second_step::operator_options)),
        )
        .service(resource("/operator/session/confirm").route(post().to(confirm_session::operator)))
        .service(
            resource("/operator/session/confirm/passkey-options")
                .route(post().to(confirm_session::operator_options)),
        )
        .service(
            resource("/operator/second-factor/passkeys")
                .route(get().to(operator_passkeys::list))
                .route(post().to(operator_passkeys::add)),
        )
        .service(
            resource("/operator/second-factor/passkeys/options").route(post().to(operator_passkeys::start)),
        )
        .service(
            resource("/operator/second-factor/passkeys/{id}").route(delete().to(operator_passkeys::remove)),
        )
        .service(
            resource("/operator/second-factor")
                .route(get().to(operator_second_factor::read))
                .route(post().to(operator_second_factor::start))
                .route(delete().to(operator_second_factor::remove)),
        )
        .service(
            resource("/operator/second-factor/confirm").route(post().to(operator_second_factor::confirm)),
        )
        .service(
            resource("/operator/second-factor/recovery-codes")
                .route(post().to(operator_second_factor::replace_recovery_codes)),
        );
}

/// Everybody may manage their own name, console sessions and password.
fn console_sessions(config: &mut ServiceConfig) {
    config
        .service(resource("/operator/name").route(put().to(names::of_staff)))
        .service(resource("/operator/password").route(put().to(operator_password::change)))
        .service(resource("/operator/sessions").route(get().to(operator_sessions::list)))
        .service(
            resource("/operator/sessions/revoke-others").route(post().to(operator_sessions::revoke_others)),
        )
        .service(resource("/operator/sessions/{id}").route(delete().to(operator_sessions::revoke)));
}

/// Calls with a session. Each has a permission in [`permissions`].
fn portal(config: &mut ServiceConfig) {
    config
        .configure(account)
        .configure(account_passkeys)
        .service(resource("/status").route(get().to(status::status)))
        .service(resource("/status/stream").route(get().to(status_stream::stream)))
        .service(resource("/packages").route(get().to(packages::list)))
        .service(
            resource("/pickup-profile")
                .route(get().to(pickup_profile::read))
                .route(put().to(pickup_profile::write)),
        )
        .service(
            resource("/subscription")
                .route(get().to(subscription::read))
                .route(put().to(subscription::request)),
        )
        .service(resource("/api-keys").route(get().to(api_keys::list)).route(post().to(api_keys::create)))
        .service(resource("/api-keys/{id}/revoke").route(post().to(api_keys::revoke)))
        .service(resource("/api-keys/{id}/rotate").route(post().to(api_keys::rotate)))
        .service(resource("/events").route(get().to(events::list)))
        .service(resource("/orders").route(get().to(orders::list)))
        .service(resource("/orders/stream").route(get().to(order_stream::stream)))
        .service(resource("/orders/{id}").route(get().to(orders::read)))
        .service(resource("/orders/{id}/events").route(get().to(orders::events)))
        .service(resource("/orders/{id}/simulate").route(post().to(orders::simulate)))
        .service(resource("/orders/{id}/request").route(get().to(order_request::request)))
        .service(resource("/orders/{id}/cancel").route(post().to(order_cancel::cancel)))
        .service(resource("/orders/{id}/erase-personal-data").route(post().to(personal_data::erase_one)))
        .service(
            resource("/personal-data-erasure")
                .route(get().to(personal_data::latest))
                .route(post().to(personal_data::erase_all)),
        )
        .service(resource("/wallet").route(get().to(wallet::read)))
        .service(resource("/wallet/entries").route(get().to(statement::entries)))
        .service(resource("/wallet/entries.csv").route(get().to(statement::export_entries)))
        .service(resource("/wallet/spend").route(get().to(wallet::spend)))
        .service(resource("/wallet/threshold").route(put().to(wallet::set_threshold)))
        .service(
            resource("/wallet/top-ups")
                .route(get().to(wallet::pending_top_ups))
                .route(post().to(wallet::top_up)),
        )
        .service(resource("/wallet/top-ups/{id}").route(get().to(wallet::find_top_up)))
        .service(resource("/cod").route(get().to(cash::of_business)))
        .configure(webhook_calls::webhooks);
}

fn account_passkeys(config: &mut ServiceConfig) {
    config
        .service(
            resource("/second-factor/passkeys")
                .route(get().to(passkeys::list))
                .route(post().to(passkeys::add)),
        )
        .service(resource("/second-factor/passkeys/options").route(post().to(passkeys::start)))
        .service(resource("/second-factor/passkeys/{id}").route(delete().to(passkeys::remove)));
}

/// The user's own account, and the team.
fn account(config: &mut ServiceConfig) {
    config
        .service(resource("/password").route(put().to(password::change)))
        .service(resource("/sessions").route(get().to(sessions::list)))
        .service(resource("/sessions/revoke-others").route(post().to(sessions::revoke_all_others)))
        .service(resource("/sessions/{id}").route(delete().to(sessions::revoke)))
        .service(resource("/session/confirm").route(post().to(confirm_session::portal)))
        .service(
            resource("/session/confirm/passkey-options").route(post().to(confirm_session::portal_options)),
        )
        .service(resource("/session/business").route(post().to(memberships::switch)))
        .service(resource("/memberships").route(post().to(memberships::join)))
        .service(resource("/businesses").route(post().to(memberships::create)))
        .service(
            resource("/second-factor")
                .route(get().to(second_factor::read))
                .route(post().to(second_factor::start))
                .route(delete().to(second_factor::remove)),
        )
        .service(resource("/email").route(get().to(email::read)).route(put().to(email::change)))
        .service(resource("/email-confirmations").route(post().to(email::send)))
        .service(resource("/email-confirmations/confirm").route(post().to(email::confirm)))
        .service(resource("/name").route(put().to(names::of_user)))
        .service(resource("/business").route(put().to(names::of_business)))
        .service(resource("/second-factor/confirm").route(post().to(second_factor::confirm)))
        .service(
            resource("/second-factor/recovery-codes").route(post().to(second_factor::replace_recovery_codes)),
        )
        .service(resource("/users").route(get().to(users::list)))
        .service(resource("/users/{id}/link").route(post().to(users::link)))
        .service(resource("/users/{id}/sessions").route(delete().to(users::end_sessions)))
        .service(resource("/users/{id}/second-factor").route(delete().to(second_factor::reset)))
        .service(resource("/users/{id}").route(patch().to(users::change)).route(delete().to(users::remove)))
        .service(
            resource("/invitations").route(get().to(invitations::list)).route(post().to(invitations::create)),
        )
        .service(resource("/invitations/{id}").route(delete().to(invitations::withdraw)))
        .service(
            resource("/single-sign-on")
                .route(get().to(single_sign_on::read))
                .route(put().to(single_sign_on::put))
                .route(delete().to(single_sign_on::remove)),
        )
        .service(resource("/single-sign-on/test").route(post().to(single_sign_on::test)))
        .service(resource("/audit-log").route(get().to(audit_log::list)))
        .service(resource("/audit-log.csv").route(get().to(audit_log::export_csv)))
        .service(resource("/audit-log.jsonl").route(get().to(audit_log::export_json_lines)));
}

/// Calls of the operator. Each has a permission in [`operator_permissions`].
fn operator_calls(config: &mut ServiceConfig) {
    config
        .configure(operator_access)
        .configure(operator_approvals)
        .service(resource("/businesses").route(get().to(operator::list)))
        .service(
            resource("/businesses/{id}").route(get().to(operator::read)).route(patch().to(operator::change)),
        )
        .service(resource("/businesses/{id}/health").route(get().to(operator_health::health)))
        .service(
            resource("/businesses/{id}/personal-data-erasure")
                .route(get().to(personal_data::latest_of))
                .route(post().to(personal_data::erase_all_of)),
        )
        .service(resource("/orders").route(get().to(operator_orders::orders)))
        .service(resource("/orders/{id}/events").route(get().to(operator_orders::order_events)))
        .service(resource("/businesses/{id}/password-resets").route(post().to(password_resets::issue)))
        .service(resource("/businesses/{id}/users").route(get().to(users::list_for_operator)))
        .service(
            resource("/businesses/{id}/users/{user}/second-factor")
                .route(delete().to(operator_second_factor::reset_user)),
        )
        .service(resource("/businesses/{id}/audit-log").route(get().to(audit_log::list_for_operator)))
        .service(resource("/cod").route(get().to(cash::of_all)))
        .service(resource("/cod/discrepancies").route(get().to(cash::discrepancies)))
        .service(resource("/businesses/{id}/wallet/credits").route(post().to(operator_wallet::credit)))
        .service(resource("/businesses/{id}/wallet/entries").route(get().to(statement::entries_for_operator)))
        .service(resource("/businesses/{id}/wallet/debits").route(post().to(operator_wallet::debit)));
}

/// The operator's own staff, tokens and log.
fn operator_access(config: &mut ServiceConfig) {
    config
        .service(resource("/staff").route(get().to(staff::list)).route(post().to(staff::invite)))
        .service(resource("/staff/{id}").route(patch().to(staff::change)).route(delete().to(staff::remove)))
        .service(
            resource("/staff/{id}/second-factor").route(delete().to(operator_second_factor::reset_staff)),
        )
        .service(resource("/staff/{id}/sessions").route(delete().to(staff::end_sessions)))
        .service(resource("/staff/{id}/identity").route(delete().to(staff::unlink)))
        .service(resource("/staff/{id}/password-link").route(post().to(staff::issue_link)))
        .service(
            resource("/tokens")
                .route(get().to(operator_tokens::list))
                .route(post().to(operator_tokens::create)),
        )
        .service(resource("/tokens/{id}/rotate").route(post().to(operator_tokens::rotate)))
        .service(resource("/tokens/{id}/disable").route(post().to(operator_tokens::disable)))
        .service(resource("/audit-log").route(get().to(operator_audit_log::list)))
        .service(resource("/audit-log.csv").route(get().to(operator_audit_log::export_csv)))
        .service(resource("/audit-log.jsonl").route(get().to(operator_audit_log::export_json_lines)));
}

/// Requests that need a second person.
fn operator_approvals(config: &mut ServiceConfig) {
    config
        .service(resource("/approval-limit").route(put().to(approvals::set_limit)))
        .service(resource("/approvals").route(get().to(approvals::list)))
        .service(resource("/approvals/{id}").route(get().to(approvals::read)))
        .service(resource("/approvals/{id}/approve").route(post().to(approvals::approve)))
        .service(resource("/approvals/{id}/reject").route(post().to(approvals::reject)))
        .service(resource("/approvals/{id}/withdraw").route(post().to(approvals::withdraw)))
        .service(resource("/approvals/{id}/reset-link").route(post().to(approvals::reset_link)));
}
