//! HTTP. For people: the calls of the table in `calls.rs`, from which the router is built, and the pages. Internal: calls from
//! order-api.
// A handler without a row in the table is never used.
#![deny(dead_code)]

pub(crate) mod audited;
pub(crate) mod browser_cookie;
pub(crate) mod call;
pub(crate) mod caller;
pub(crate) mod calls;
pub(crate) mod config;
pub(crate) mod errors;
pub(crate) mod event_stream;
pub(crate) mod export;
pub(crate) mod guard;
pub(crate) mod internal;
pub(crate) mod log_export;
pub(crate) mod masked;
pub(crate) mod openapi;
pub(crate) mod operator_caller;
pub(crate) mod operator_guard;
pub(crate) mod operator_records;
pub(crate) mod own_account;
pub(crate) mod pagination;
pub(crate) mod router;
pub(crate) mod session_cookie;

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, scope};
use web::BodyLimit;

use crate::domain::Site;
use crate::pages::Pages;
use crate::state::State;
pub(crate) use internal::internal;
pub use openapi::document as openapi_document;

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
