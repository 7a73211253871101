//! The internal endpoints, as specified in `internal_api::webhooks`.

mod businesses;
mod create;
mod delete;
mod deliveries;
mod delivery;
mod endpoints;
mod errors;
mod event_deliveries;
mod input;
mod order_timeline;
mod parked;
mod path;
mod recoveries;
mod redeliver;
mod secret;
mod summary;
mod test;
mod update;
mod verify_signature;
mod view;

use std::sync::Arc;

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, delete, get, patch, post, resource, scope};
use settings::Internal;
use web::Tasks;

use crate::state::State;

const ENDPOINTS: &str = "/businesses/{business}/webhook-endpoints";
const ENDPOINT: &str = "/businesses/{business}/webhook-endpoints/{endpoint}";
const RECOVERIES: &str = "/businesses/{business}/webhook-endpoints/{endpoint}/recoveries";
const ORDER_TIMELINE: &str = "/businesses/{business}/orders/{order}/webhook-deliveries";
const DELIVERY: &str = "/businesses/{business}/webhook-deliveries/{delivery}";

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
                .wrap(from_fn(web::require_internal_token))
                .service(resource("/businesses").route(get().to(businesses::list)))
                .service(resource("/businesses/{business}/erasure").route(post().to(businesses::erase)))
                .service(resource("/failing-endpoints").route(get().to(summary::failing)))
                .service(
                    resource(ENDPOINTS).route(post().to(create::create)).route(get().to(endpoints::list)),
                )
                .service(
                    resource(ENDPOINT)
                        .route(get().to(endpoints::show))
                        .route(patch().to(update::update))
                        .route(delete().to(delete::delete)),
                )
                .service(resource(format!("{ENDPOINT}/test")).route(post().to(test::test)))
                .service(resource(format!("{ENDPOINT}/parked/replay")).route(post().to(parked::replay)))
                .service(resource(format!("{ENDPOINT}/parked/discard")).route(post().to(parked::discard)))
                .service(resource(format!("{ENDPOINT}/deliveries")).route(get().to(deliveries::list)))
                .service(resource(format!("{ENDPOINT}/secret/rotate")).route(post().to(secret::rotate)))
                .service(resource(format!("{ENDPOINT}/secret/activate")).route(post().to(secret::activate)))
                .service(
                    resource(format!("{ENDPOINT}/verify-signature"))
                        .route(post().to(verify_signature::verify)),
                )
                .service(resource(format!("{ENDPOINT}/recover")).route(post().to(recoveries::begin)))
                .service(resource(RECOVERIES).route(get().to(recoveries::list)))
                .service(resource(format!("{RECOVERIES}/{{recovery}}")).route(get().to(recoveries::show)))
                .service(
                    resource(format!("{RECOVERIES}/{{recovery}}/cancel"))
                        .route(post().to(recoveries::cancel)),
                )
                .service(resource(ORDER_TIMELINE).route(get().to(order_timeline::list)))
                .service(
                    resource(format!("{ORDER_TIMELINE}/{{delivery}}")).route(get().to(order_timeline::show)),
                )
                .service(
                    resource("/businesses/{business}/event-deliveries")
                        .route(post().to(event_deliveries::list)),
                )
                .service(resource(DELIVERY).route(get().to(delivery::show)))
                .service(resource(format!("{DELIVERY}/redeliver")).route(post().to(redeliver::redeliver)))
                .service(
                    resource("/businesses/{business}/webhooks/summary").route(get().to(summary::summary)),
                ),
        );
    }
}
