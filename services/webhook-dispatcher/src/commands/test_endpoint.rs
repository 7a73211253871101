//! The owner's connection test: sends a synthetic event immediately, whatever the endpoint's state, and logs it like
//! any other. If it succeeds, a second event with a wrong signature shows whether the receiver verifies signatures.

use std::time::Duration;

use domain::{BusinessId, EndpointId, EventId, WebhookDeliveryId};
use postgres::StoreError;
use webhook_signature::Secret;

use crate::domain::{Attempt, EncryptedSecrets, ForgeryTest, WebhookEvent, is_refusal};
use crate::secrets::DecryptError;
use crate::sender::{NoTestSlot, Webhook};
use crate::state::State;
use crate::store::{self, Lease, NewDelivery, NextState, Outcome};

pub(crate) struct TestOutcome {
    pub event: EventId,
    pub attempt: Attempt,
    /// None if the signed event failed: a refusal would prove nothing.
    pub forged: Option<Forged>,
}

pub(crate) struct Forged {
    pub event: EventId,
    /// None if no response arrived in time.
    pub status: Option<u16>,
    pub refused: Option<bool>,
}

/// Together with the time limit of the signed event, this stays within the caller's timeout.
const FORGED_TIMEOUT: Duration = Duration::from_secs(4);

#[derive(Debug, thiserror::Error)]
pub(crate) enum TestError {
    #[error("the business has no such endpoint")]
    NotFound,
    #[error("too many tests are running")]
    Busy,
    #[error("too many tests of the business are running")]
    TooMany,
    #[error("the outcome of the test could not be written")]
    NotRecorded,
    #[error("the synthetic event cannot be serialised: {0}")]
    Body(#[from] serde_json::Error),
    #[error(transparent)]
    Secret(#[from] DecryptError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<NoTestSlot> for TestError {
    fn from(none: NoTestSlot) -> Self {
        match none {
            NoTestSlot::OwnTests => Self::TooMany,
            NoTestSlot::Full => Self::Busy,
        }
    }
}

/// # Errors
/// When there is no such endpoint, or the test could not be made. A failed test is not an error.
pub(crate) async fn test_endpoint(
    state: &State,
    business: BusinessId,
    endpoint: EndpointId,
) -> Result<TestOutcome, TestError> {
    let _slot = state.sender.reserve_test_slot(business)?;
    let event = WebhookEvent::of_test(business, &state.unit.clock, &state.unit.entropy)?;
    let delivery = WebhookDeliveryId::generate(&state.unit.clock, &state.unit.entropy);
    let token = i64::from_le_bytes(state.unit.entropy.bytes());
    let _in_flight = state.sender.track(Lease { delivery, business, token }, endpoint, event.mode);
    let (url, secrets) = prepare(state, &event, endpoint, delivery, token).await?;

    let webhook = Webhook {
        endpoint,
        url: &url,
        secrets: &secrets,
        event: event.id,
        mode: event.mode,
        body: event.body,
    };
    let attempted = state.sender.attempt(webhook).await?;
    let outcome = Outcome {
        delivery,
        business_id: business,
        endpoint,
        mode: event.mode,
        order: None,
        queue_order: None,
        token,
        number: 1,
        attempt: Some(attempted.attempt.clone()),
        next: if attempted.failure.is_none() { NextState::Succeeded } else { NextState::Failed },
        at: state.unit.clock.now(),
        is_test: true,
        disable_reason: attempted.disable_reason(),
        requested_pause: attempted.requested_pause(),
    };
    if !state.sender.record(outcome).await {
        return Err(TestError::NotRecorded);
    }
    let forged = match attempted.failure {
        None => Some(forge(state, business, endpoint, event.id, (&url, &secrets)).await?),
        Some(_) => None,
    };
    Ok(TestOutcome { event: event.id, attempt: attempted.attempt, forged })
}

/// Sends a second synthetic event with a wrong signature. It is not a delivery: it is neither logged nor repeated, and
/// does not affect the endpoint's health. Only its result is stored with the test.
async fn forge(
    state: &State,
    business: BusinessId,
    endpoint: EndpointId,
    test_event: EventId,
    (url, secrets): (&str, &EncryptedSecrets),
) -> Result<Forged, TestError> {
    let forged = WebhookEvent::of_forgery(business, &state.unit.clock, &state.unit.entropy)?;
    let event = forged.id;
    let webhook = Webhook { endpoint, url, secrets, event, mode: forged.mode, body: forged.body };
    let other_secret = Secret::generate(state.unit.entropy.bytes());
    let sent = tokio::time::timeout(FORGED_TIMEOUT, state.sender.send_forged(webhook, other_secret)).await;
    let status = sent.ok().transpose()?.flatten();
    let refused = is_refusal(status);
    let forgery = ForgeryTest { test_event, forged_event: event, refused, at: state.unit.clock.now() };
    let recorded = state
        .unit
        .database
        .read(async |conn| store::record_forgery_test(conn, business, endpoint, &forgery).await)
        .await;
    if let Err(error) = recorded {
        tracing::warn!(%error, endpoint_id = %endpoint, "storing the result of a forgery test failed");
    }
    Ok(Forged { event, status, refused })
}

/// Stores the event and a delivery that this process has leased. If the process dies, another one finishes the test.
async fn prepare(
    state: &State,
    event: &WebhookEvent,
    endpoint: EndpointId,
    delivery: WebhookDeliveryId,
    token: i64,
) -> Result<(String, EncryptedSecrets), TestError> {
    let now = state.unit.clock.now();
    let new = NewDelivery { id: delivery, event, endpoint, at: now, lease_token: Some(token), success: None };
    state
        .unit
        .database
        .transaction(async |conn| {
            let target = store::find_target(conn, event.business_id, endpoint).await?;
            let target = target.ok_or(TestError::NotFound)?;
            store::fan_out(conn, &[(event, None)], &[new]).await?;
            Ok(target)
        })
        .await
}
