//! The internal endpoints; `internal_api::keys` declares their requests and responses.

mod businesses;
mod create;
mod erase_business;
mod errors;
mod list;
mod options;
mod path;
mod read;
mod revoke;
mod rotate;
mod summary;
mod verify;
mod view;

use std::sync::Arc;

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, get, post, resource, scope};
use settings::Internal;
use web::Tasks;

use crate::state::State;

pub(crate) use verify::create_counters;

pub(crate) fn internal(
    state: Arc<State>,
    internal: Internal,
    tasks: Tasks,
) -> impl Fn(&mut ServiceConfig) + Clone + Send + 'static {
    move |config| {
        config
            .app_data(Data::from(state.clone()))
            .app_data(Data::new(internal.clone()))
            .app_data(Data::new(tasks.clone()));
        config.service(
            scope("/internal")
                .wrap(from_fn(web::require_internal_token))
                .service(resource("/api-keys/verify").route(post().to(verify::verify)))
                .service(resource("/businesses").route(get().to(businesses::list)))
                .service(resource("/businesses/{business}/erasure").route(post().to(erase_business::erase)))
                .service(
                    resource("/businesses/{business}/api-keys")
                        .route(post().to(create::create))
                        .route(get().to(list::list)),
                )
                .service(
                    resource("/businesses/{business}/api-keys/summary").route(get().to(summary::summary)),
                )
                .service(resource("/businesses/{business}/api-keys/{key}").route(get().to(read::read)))
                .service(
                    resource("/businesses/{business}/api-keys/{key}/revoke").route(post().to(revoke::revoke)),
                )
                .service(
                    resource("/businesses/{business}/api-keys/{key}/rotate").route(post().to(rotate::rotate)),
                ),
        );
    }
}
