//! The internal endpoints; `internal_api::webhooks` is their contract.

mod create;
mod delete;
mod deliveries;
mod delivery;
mod endpoints;
mod errors;
mod input;
mod of_order;
mod path;
mod redeliver;
mod summary;
mod test;
mod update;
mod view;

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, delete, get, patch, post, scope};
use settings::Internal;
use web::Tasks;

use crate::app::App;

const ENDPOINTS: &str = "/businesses/{business}/webhook-endpoints";
const ENDPOINT: &str = "/businesses/{business}/webhook-endpoints/{endpoint}";
const OF_ORDER: &str = "/businesses/{business}/orders/{order}/webhook-deliveries";
const DELIVERY: &str = "/businesses/{business}/webhook-deliveries/{delivery}";

pub(crate) fn internal(
    app: App,
    internal: Internal,
    tasks: Tasks,
) -> impl Fn(&mut ServiceConfig) + Clone + Send + 'static {
    move |config| {
        config
            .app_data(Data::new(app.clone()))
            .app_data(Data::new(internal.clone()))
            .app_data(Data::new(tasks.clone()));
        config.service(
            scope("/internal")
                .wrap(from_fn(web::require_internal_token))
                .route(ENDPOINTS, post().to(create::create))
                .route(ENDPOINTS, get().to(endpoints::list))
                .route(ENDPOINT, get().to(endpoints::show))
                .route(ENDPOINT, patch().to(update::update))
                .route(ENDPOINT, delete().to(delete::delete))
                .route(&format!("{ENDPOINT}/test"), post().to(test::test))
                .route(&format!("{ENDPOINT}/deliveries"), get().to(deliveries::list))
                .route(OF_ORDER, get().to(of_order::list))
                .route(&format!("{OF_ORDER}/{{delivery}}"), get().to(of_order::show))
                .route(DELIVERY, get().to(delivery::show))
                .route(&format!("{DELIVERY}/redeliver"), post().to(redeliver::redeliver))
                .route("/businesses/{business}/webhooks/summary", get().to(summary::summary)),
        );
    }
}
