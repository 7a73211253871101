//! An endpoint is pointed elsewhere, subscribes to other events, or is paused or resumed.

use domain::{BusinessId, EndpointId, EventKind, Mode};
use postgres::StoreError;
use strum::EnumString;
use url::Url;

use crate::app::App;
use crate::domain::{Endpoint, Refused};
use crate::store::{self, EndpointChange};

/// Whether the endpoint is to be sent to. `active` also takes back that we disabled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Activity {
    Active,
    Paused,
}

/// What an owner asks for; what is none stays as it is.
#[derive(Clone, Debug)]
pub(crate) struct EndpointUpdate {
    pub business: BusinessId,
    pub endpoint: EndpointId,
    pub url: Option<Url>,
    pub events: Option<Vec<EventKind>>,
    pub modes: Option<Vec<Mode>>,
    pub activity: Option<Activity>,
    pub max_per_second: Option<Option<i32>>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum UpdateError {
    #[error("the business has no such endpoint")]
    NotFound,
    #[error("the URL must not be called: {0}")]
    Refused(#[from] Refused),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for UpdateError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// # Errors
/// When there is no such endpoint, or the URL leads to where no webhook may be sent.
pub(crate) async fn update_endpoint(app: &App, update: EndpointUpdate) -> Result<Endpoint, UpdateError> {
    if let Some(url) = &update.url {
        app.names.vet_target(url).await?;
    }
    let (business, id) = (update.business, update.endpoint);
    let change = EndpointChange {
        url: update.url.map(String::from),
        events: update.events.map(|kinds| kinds.iter().map(ToString::to_string).collect()),
        modes: update.modes.map(|modes| modes.iter().map(ToString::to_string).collect()),
        paused: update.activity.map(|activity| activity == Activity::Paused),
        max_per_second: update.max_per_second,
        updated_at: app.clock.now(),
    };
    let endpoint = app
        .database
        .transaction(async |conn| {
            let before = store::find_endpoint(conn, business, id).await?.ok_or(UpdateError::NotFound)?;
            if !store::update_endpoint(conn, business, id, &change).await? {
                return Err(UpdateError::NotFound);
            }
            if change.url.as_ref().is_some_and(|url| *url != before.url) {
                store::forget_test(conn, business, id).await?;
            }
            if update.activity == Some(Activity::Active) {
                if before.facts.disabled {
                    store::park_of(conn, business, id).await?;
                }
                store::enable(conn, business, id).await?;
            }
            store::find_endpoint(conn, business, id).await?.ok_or(UpdateError::NotFound)
        })
        .await?;
    tracing::info!(business_id = %business, endpoint_id = %id, "an endpoint was changed");
    // What waited for it may be due by now.
    app.bell.notify_one();
    Ok(endpoint)
}
