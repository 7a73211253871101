//! Creates an endpoint. Its secret is shown only in the result.

use domain::{BusinessId, EndpointId, EventKind, Mode};
use outbound::TargetRefused;
use postgres::StoreError;
use url::Url;
use webhook_signature::Secret;

use crate::domain::{ConnectionTest, ENDPOINTS_MAX, Endpoint, EndpointFacts, EndpointHealth};
use crate::secrets::DecryptError;
use crate::state::State;
use crate::store;

#[derive(Clone, Debug)]
pub(crate) struct NewEndpoint {
    pub business: BusinessId,
    pub url: Url,
    pub events: Vec<EventKind>,
    pub modes: Vec<Mode>,
    pub max_per_second: Option<i32>,
}

/// An endpoint with its new secret.
pub(crate) struct CreatedEndpoint {
    pub endpoint: Endpoint,
    pub secret: Secret,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CreateError {
    #[error("the URL is not allowed: {0}")]
    Refused(#[from] TargetRefused),
    #[error("the business has reached its limit of endpoints")]
    TooMany,
    #[error(transparent)]
    Secret(#[from] DecryptError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// # Errors
/// When webhooks must not be sent to the URL, or the business has reached its limit of endpoints.
pub(crate) async fn create_endpoint(state: &State, new: NewEndpoint) -> Result<CreatedEndpoint, CreateError> {
    state.sender.vet_target(&new.url).await?;
    let endpoint = Endpoint {
        id: EndpointId::generate(&state.unit.clock, &state.unit.entropy),
        business_id: new.business,
        url: new.url.into(),
        events: new.events,
        modes: new.modes,
        next_secret_from: None,
        max_per_second: new.max_per_second,
        created_at: state.unit.clock.now(),
        facts: EndpointFacts {
            paused: false,
            disabled: false,
            last_delivery_at: None,
            last_delivery_succeeded: None,
            connection_test: ConnectionTest::NotTested,
            forgery_test: None,
        },
        health: EndpointHealth::default(),
    };
    let secret = Secret::generate(state.unit.entropy.bytes());
    let encrypted = state.secrets.encrypt(endpoint.id, &secret, &state.unit.entropy)?;
    state
        .unit
        .database
        .transaction(async |conn| {
            store::lock_business(conn, endpoint.business_id).await?;
            if store::count_endpoints(conn, endpoint.business_id).await? >= ENDPOINTS_MAX {
                return Err(CreateError::TooMany);
            }
            store::insert_endpoint(conn, &endpoint, &encrypted).await?;
            Ok(())
        })
        .await?;
    tracing::info!(business_id = %endpoint.business_id, endpoint_id = %endpoint.id, "endpoint created");
    Ok(CreatedEndpoint { endpoint, secret })
}
