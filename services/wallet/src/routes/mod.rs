//! The internal endpoints: who may call what, where.

mod businesses;
mod cash;
mod debits;
mod errors;
mod money_in;
mod path;
mod payments;
mod spend;
mod statement;
mod wallets;

use std::sync::Arc;

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, get, post, put, resource, scope};
use settings::Internal;
use web::require_internal_token;

use crate::state::State;

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
                .service(resource("/payments/{provider}/notices").route(post().to(payments::notice)))
                .service(resource("/businesses").route(get().to(businesses::list)))
                .service(resource("/cash").route(get().to(cash::of_all)))
                .service(resource("/cash/discrepancies").route(get().to(cash::discrepancies)))
                .service(scope("/wallets/{business}").configure(wallet)),
        );
    }
}

/// One business's wallet.
fn wallet(config: &mut ServiceConfig) {
    config
        .service(resource("").route(get().to(wallets::show)))
        .service(resource("/threshold").route(put().to(wallets::set_threshold)))
        .service(resource("/entries").route(get().to(statement::entries)))
        .service(resource("/spend").route(get().to(spend::spend)))
        .service(resource("/orders/{order}/entries").route(get().to(statement::entries_of_order)))
        .service(resource("/top-ups").route(post().to(money_in::top_up)))
        .service(resource("/top-ups/{id}").route(get().to(money_in::find_top_up)))
        .service(resource("/credits").route(post().to(money_in::credit)))
        .service(resource("/cash").route(get().to(cash::of_business)));
}
