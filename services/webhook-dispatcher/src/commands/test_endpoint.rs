//! The owner's test: a made-up event is sent at once, whatever the endpoint's state, and stands in the log like any
//! other.

use domain::{BusinessId, EndpointId, EventId, WebhookDeliveryId};
use postgres::StoreError;

use crate::app::App;
use crate::domain::{Attempt, WebhookEvent};
use crate::secrets::{SealedSecrets, Unreadable};
use crate::sender::{LEASE, Webhook};
use crate::store::{self, NewDelivery, Outcome, Then};

/// What came of it.
pub(crate) struct TestOutcome {
    pub event: EventId,
    pub attempt: Attempt,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum TestError {
    #[error("the business has no such endpoint")]
    NotFound,
    #[error("too many tests are under way")]
    Busy,
    #[error("the outcome of the test could not be written")]
    NotRecorded,
    #[error("the made-up event cannot be written: {0}")]
    Body(#[from] serde_json::Error),
    #[error(transparent)]
    Secret(#[from] Unreadable),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for TestError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// # Errors
/// When there is no such endpoint, or the test could not be made. That the endpoint fails it is no error.
pub(crate) async fn test_endpoint(
    app: &App,
    business: BusinessId,
    endpoint: EndpointId,
) -> Result<TestOutcome, TestError> {
    let _place = app.tests.try_acquire().map_err(|_| TestError::Busy)?;
    let event = WebhookEvent::of_test(business, &app.clock, &app.entropy)?;
    let delivery = WebhookDeliveryId::generate(&app.clock, &app.entropy);
    let token = i64::from_le_bytes(app.entropy.bytes());
    let _hold = app.in_hand.take(delivery, endpoint, token);
    let (url, secrets) = prepare(app, &event, endpoint, delivery, token).await?;

    let webhook = Webhook {
        endpoint,
        url: &url,
        secrets: &secrets,
        event: event.id,
        mode: event.mode,
        body: event.body,
    };
    let attempted = app.sender.attempt(webhook).await?;
    let outcome = Outcome {
        delivery,
        business_id: business,
        endpoint,
        order_in_turn: None,
        token,
        number: 1,
        attempt: Some(attempted.attempt.clone()),
        then: if attempted.failure.is_none() { Then::Succeeded } else { Then::Failed },
        at: app.clock.now(),
        is_test: true,
        disables: attempted.disables(),
        asked_for: attempted.asked_for(),
    };
    if !app.recorder.record(outcome).await {
        return Err(TestError::NotRecorded);
    }
    Ok(TestOutcome { event: event.id, attempt: attempted.attempt })
}

/// Writes the event and a delivery that is ours from the start. Should this process die, a sender finishes the test.
async fn prepare(
    app: &App,
    event: &WebhookEvent,
    endpoint: EndpointId,
    delivery: WebhookDeliveryId,
    token: i64,
) -> Result<(String, SealedSecrets), TestError> {
    let now = app.clock.now();
    let new = NewDelivery { id: delivery, event, endpoint, lease: Some((token, now + LEASE)) };
    app.database
        .transaction(async |conn| {
            let target = store::find_target(conn, event.business_id, endpoint).await?;
            let target = target.ok_or(TestError::NotFound)?;
            store::hand_out(conn, &[(event, None)], &[new], now).await?;
            Ok(target)
        })
        .await
}
