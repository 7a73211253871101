//! The internal endpoints: who may call what, where.

mod debits;
mod errors;
mod money_in;
mod path;
mod wallets;

use std::sync::Arc;

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, get, post, put, resource, scope};
use settings::Internal;
use web::require_internal_token;

use crate::app::State;

/// For the other services, with the internal token.
pub(crate) fn internal(
    state: Arc<State>,
    token: Internal,
) -> impl Fn(&mut ServiceConfig) + Clone + Send + 'static {
    let (state, token) = (Data::from(state), Data::new(token));
    move |config| {
        config.app_data(state.clone()).app_data(token.clone()).service(
            scope("/internal")
                .wrap(from_fn(require_internal_token))
                .service(resource("/debits/{order}/{attempt}").route(put().to(debits::post)))
                .service(resource("/debits/{order}/{attempt}/void").route(post().to(debits::void)))
                .service(resource("/wallets/{business}").route(get().to(wallets::show)))
                .service(resource("/wallets/{business}/entries").route(get().to(wallets::entries)))
                .service(
                    resource("/wallets/{business}/orders/{order}/entries")
                        .route(get().to(wallets::entries_of_order)),
                )
                .service(resource("/wallets/{business}/top-ups").route(post().to(money_in::top_up)))
                .service(resource("/wallets/{business}/credits").route(post().to(money_in::credit))),
        );
    }
}
