//! Changes an endpoint: its URL, subscriptions, rate limit, or whether it is active.

use domain::{BusinessId, EndpointId, EventKind, Mode};
use outbound::TargetRefused;
use postgres::StoreError;
use strum::EnumString;
use url::Url;

use crate::domain::Endpoint;
use crate::state::State;
use crate::store::{self, EndpointChange};

/// Whether the endpoint receives webhooks. `active` also enables a disabled endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Activity {
    Active,
    Paused,
}

/// The requested changes; none means unchanged.
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
    #[error("the URL is not allowed: {0}")]
    Refused(#[from] TargetRefused),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// # Errors
/// When there is no such endpoint, or webhooks must not be sent to the URL.
pub(crate) async fn update_endpoint(state: &State, update: EndpointUpdate) -> Result<Endpoint, UpdateError> {
    if let Some(url) = &update.url {
        state.sender.vet_target(url).await?;
    }
    let (business, id) = (update.business, update.endpoint);
    let change = EndpointChange {
        url: update.url.map(String::from),
        events: update.events.map(|kinds| kinds.iter().map(ToString::to_string).collect()),
        modes: update.modes.map(|modes| modes.iter().map(ToString::to_string).collect()),
        paused: update.activity.map(|activity| activity == Activity::Paused),
        max_per_second: update.max_per_second,
        updated_at: state.unit.clock.now(),
    };
    let endpoint = state
        .unit
        .database
        .transaction(async |conn| {
            let before = store::find_endpoint(conn, business, id).await?.ok_or(UpdateError::NotFound)?;
            if !store::update_endpoint(conn, business, id, &change).await? {
                return Err(UpdateError::NotFound);
            }
            if change.url.as_ref().is_some_and(|url| *url != before.url) {
                store::reset_test(conn, business, id).await?;
            }
            if update.activity == Some(Activity::Active) {
                if before.facts.disabled {
                    store::park_for_endpoint(conn, business, id).await?;
                }
                store::enable(conn, business, id).await?;
            }
            store::find_endpoint(conn, business, id).await?.ok_or(UpdateError::NotFound)
        })
        .await?;
    tracing::info!(business_id = %business, endpoint_id = %id, "endpoint changed");
    // Deliveries that waited for it may be sendable now.
    state.sender.wake_for_changed((id, business));
    Ok(endpoint)
}
