//! The internal endpoints, as specified in `internal_api`: `wallet`, `cash` and `remittances`.

mod attention;
mod businesses;
mod cash;
mod credits;
mod debits;
mod erase_business;
mod errors;
mod notices;
mod path;
mod remittances;
mod spend;
mod statement;
mod top_ups;
mod wallets;

use std::sync::Arc;

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, get, post, put, resource, scope};
use settings::Internal;
use web::{BodyLimit, Tasks, require_internal_token};

use crate::state::State;

pub(crate) fn internal(
    state: &Arc<State>,
    internal: Internal,
    tasks: Tasks,
) -> impl Fn(&mut ServiceConfig) + Clone + Send + 'static {
    let state = Data::from(state.clone());
    move |config| {
        config
            .app_data(state.clone())
            .app_data(Data::new(internal.clone()))
            .app_data(Data::new(tasks.clone()));
        config.service(
            scope("/internal")
                .wrap(from_fn(require_internal_token))
                .service(resource("/debits/{order}/{attempt}").route(put().to(debits::post)))
                .service(resource("/debits/{order}/{attempt}/void").route(post().to(debits::void)))
                .service(resource("/payments/{provider}/notices").route(post().to(notices::process)))
                .service(resource("/attention").route(post().to(attention::attention)))
                .service(resource("/balances").route(post().to(attention::balances)))
                .service(resource("/businesses").route(get().to(businesses::list)))
                .service(resource("/cash").route(get().to(cash::of_all)))
                .service(resource("/cash/discrepancies").route(get().to(cash::discrepancies)))
                .service(scope("/wallets/{business}").configure(wallet)),
        );
    }
}

/// The wallet of one business.
fn wallet(config: &mut ServiceConfig) {
    config
        .service(resource("").route(get().to(wallets::show)))
        .service(resource("/threshold").route(put().to(wallets::set_threshold)))
        .service(resource("/entries").route(get().to(statement::entries)))
        .service(resource("/entries/totals").route(get().to(statement::totals)))
        .service(resource("/erasure").route(post().to(erase_business::erase)))
        .service(resource("/spend").route(get().to(spend::spend)))
        .service(resource("/orders/{order}/entries").route(get().to(statement::entries_of_order)))
        .service(resource("/top-ups").route(get().to(top_ups::pending)).route(post().to(top_ups::create)))
        .service(resource("/top-ups/{id}").route(get().to(top_ups::show)))
        .service(resource("/credits").route(post().to(credits::create)))
        .service(resource("/debits").route(post().to(credits::debit)))
        .service(resource("/debits/check").route(post().to(credits::check_debit)))
        .service(resource("/cash").route(get().to(cash::of_business)))
        .service(resource("/cash/months").route(get().to(cash::months)))
        .service(resource("/cash/{order}/difference").route(put().to(cash::assign_difference)))
        .service(
            resource("/remittances")
                .app_data(BodyLimit(remittances::BODY_BYTES_MAX))
                .route(get().to(remittances::list))
                .route(post().to(remittances::create)),
        )
        .service(
            resource("/remittances/check")
                .app_data(BodyLimit(remittances::BODY_BYTES_MAX))
                .route(post().to(remittances::check)),
        )
        .service(resource("/remittances/{id}").route(get().to(remittances::show)));
}
