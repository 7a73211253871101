//! The calls of order-api.

use actix_web::middleware::from_fn;
use actix_web::web::{Data, ServiceConfig, get, resource, scope};
use web::require_internal_token;

use crate::business::routes::ordering;
use crate::state::State;

/// The routes of the internal listener.
pub(crate) fn internal(
    state: Data<State>,
    internal: settings::Internal,
) -> impl Fn(&mut ServiceConfig) + Clone + Send + 'static {
    move |config| {
        config.app_data(state.clone()).app_data(Data::new(internal.clone())).service(
            scope("/internal")
                .wrap(from_fn(require_internal_token))
                .service(resource("/businesses/{id}/ordering").route(get().to(ordering::ordering))),
        );
    }
}
