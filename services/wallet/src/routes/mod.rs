//! The internal endpoints: who may call what, where.

mod debits;
mod errors;
mod money_in;
mod path;
mod wallets;

use std::sync::Arc;

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, get, post, put, scope};
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
                .route("/debits/{order}/{attempt}", put().to(debits::post))
                .route("/debits/{order}/{attempt}/void", post().to(debits::void))
                .route("/wallets/{business}", get().to(wallets::show))
                .route("/wallets/{business}/entries", get().to(wallets::entries))
                .route("/wallets/{business}/orders/{order}/entries", get().to(wallets::entries_of_order))
                .route("/wallets/{business}/top-ups", post().to(money_in::top_up))
                .route("/wallets/{business}/credits", post().to(money_in::credit)),
        );
    }
}
