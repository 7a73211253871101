//! A new endpoint, and the one chance to see its secret.

use domain::{BusinessId, EndpointId, EventKind, Mode};
use internal_api::webhooks::ConnectionTest;
use postgres::StoreError;
use url::Url;
use webhook_signature::Secret;

use crate::app::App;
use crate::domain::{ENDPOINTS_MAX, Endpoint, EndpointFacts, Refused, Trouble};
use crate::secrets::Unreadable;
use crate::store;

/// What an owner asks for.
#[derive(Clone, Debug)]
pub(crate) struct NewEndpoint {
    pub business: BusinessId,
    pub url: Url,
    pub events: Vec<EventKind>,
    pub modes: Vec<Mode>,
    pub max_per_second: Option<i32>,
}

/// An endpoint with its secret, which is shown now and never again.
pub(crate) struct CreatedEndpoint {
    pub endpoint: Endpoint,
    pub secret: Secret,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CreateError {
    #[error("the URL must not be called: {0}")]
    Refused(#[from] Refused),
    #[error("the business has as many endpoints as it may have")]
    TooMany,
    #[error(transparent)]
    Secret(#[from] Unreadable),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for CreateError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// # Errors
/// When the URL leads to where no webhook may be sent, or the business has its fill of endpoints.
pub(crate) async fn create_endpoint(app: &App, new: NewEndpoint) -> Result<CreatedEndpoint, CreateError> {
    app.names.vet_target(&new.url).await?;
    let endpoint = Endpoint {
        id: EndpointId::generate(&app.clock, &app.entropy),
        business_id: new.business,
        url: new.url.into(),
        events: new.events,
        modes: new.modes,
        next_secret_from: None,
        max_per_second: new.max_per_second,
        created_at: app.clock.now(),
        facts: EndpointFacts {
            paused: false,
            disabled: false,
            last_delivery_at: None,
            last_delivery_succeeded: None,
            connection_test: ConnectionTest::NotTested,
            forgery: None,
        },
        trouble: Trouble::default(),
    };
    let secret = Secret::generate(app.entropy.bytes());
    let sealed = app.secrets.seal(endpoint.id, &secret, &app.entropy)?;
    app.database
        .transaction(async |conn| {
            store::lock_business(conn, endpoint.business_id).await?;
            if store::count_endpoints(conn, endpoint.business_id).await? >= ENDPOINTS_MAX {
                return Err(CreateError::TooMany);
            }
            store::insert_endpoint(conn, &endpoint, &sealed).await?;
            Ok(())
        })
        .await?;
    tracing::info!(business_id = %endpoint.business_id, endpoint_id = %endpoint.id, "an endpoint was created");
    Ok(CreatedEndpoint { endpoint, secret })
}
