//! The internal endpoints; `internal_api::keys` is their contract.

mod create;
mod errors;
mod list;
mod path;
mod revoke;
mod rotate;
mod summary;
mod verify;
mod view;

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, get, post, scope};
use settings::Internal;
use web::Tasks;

use crate::app::App;

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
                .route("/api-keys/verify", post().to(verify::verify))
                .route("/businesses/{business}/api-keys", post().to(create::create))
                .route("/businesses/{business}/api-keys", get().to(list::list))
                .route("/businesses/{business}/api-keys/summary", get().to(summary::summary))
                .route("/businesses/{business}/api-keys/{key}/revoke", post().to(revoke::revoke))
                .route("/businesses/{business}/api-keys/{key}/rotate", post().to(rotate::rotate)),
        );
    }
}
