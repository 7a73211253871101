//! The URL table of the calls about webhooks, as the other tables in `mod.rs`.

use actix_web::web::{ServiceConfig, delete, get, patch, post, resource};

use super::{webhook_deliveries, webhook_endpoints, webhook_tools};

pub(super) fn webhooks(config: &mut ServiceConfig) {
    config
        .service(
            resource("/webhook-endpoints")
                .route(get().to(webhook_endpoints::list))
                .route(post().to(webhook_endpoints::create)),
        )
        .service(
            resource("/webhook-endpoints/{id}")
                .route(get().to(webhook_endpoints::read))
                .route(patch().to(webhook_endpoints::update))
                .route(delete().to(webhook_endpoints::remove)),
        )
        .service(resource("/webhook-endpoints/{id}/test").route(post().to(webhook_endpoints::test)))
        .service(
            resource("/webhook-endpoints/{id}/parked/replay")
                .route(post().to(webhook_endpoints::replay_parked)),
        )
        .service(
            resource("/webhook-endpoints/{id}/parked/discard")
                .route(post().to(webhook_endpoints::discard_parked)),
        )
        .service(
            resource("/webhook-endpoints/{id}/deliveries").route(get().to(webhook_deliveries::of_endpoint)),
        )
        .service(resource("/webhook-deliveries/{id}").route(get().to(webhook_deliveries::read)))
        .service(
            resource("/webhook-deliveries/{id}/redeliver").route(post().to(webhook_deliveries::redeliver)),
        )
        .configure(webhook_tools);
}

fn webhook_tools(config: &mut ServiceConfig) {
    config
        .service(
            resource("/webhook-endpoints/{id}/secret/rotate").route(post().to(webhook_tools::rotate_secret)),
        )
        .service(
            resource("/webhook-endpoints/{id}/secret/activate")
                .route(post().to(webhook_tools::activate_secret)),
        )
        .service(resource("/webhook-endpoints/{id}/recover").route(post().to(webhook_tools::recover)))
        .service(resource("/webhook-endpoints/{id}/recoveries").route(get().to(webhook_tools::recoveries)))
        .service(
            resource("/webhook-endpoints/{id}/recoveries/{recovery}")
                .route(get().to(webhook_tools::recovery)),
        )
        .service(
            resource("/webhook-endpoints/{id}/recoveries/{recovery}/cancel")
                .route(post().to(webhook_tools::cancel_recovery)),
        )
        .service(
            resource("/webhook-endpoints/{id}/verify-signature")
                .route(post().to(webhook_tools::verify_signature)),
        );
}
