//! The owner's test: a made-up event is sent at once, whatever the endpoint's state, and stands in the log like any
//! other. A second one, with a wrong signature, then shows whether the receiver looks.

use std::time::Duration;

use domain::{BusinessId, EndpointId, EventId, WebhookDeliveryId};
use postgres::StoreError;
use webhook_signature::Secret;

use crate::app::App;
use crate::domain::{Attempt, Forgery, WebhookEvent, is_refusal};
use crate::secrets::{SealedSecrets, Unreadable};
use crate::sender::{LEASE, NoPlace, Webhook};
use crate::store::{self, Lease, NewDelivery, Outcome, Then};

/// What came of it.
pub(crate) struct TestOutcome {
    pub event: EventId,
    pub attempt: Attempt,
    /// The test with a wrong signature; none when the signed one was not taken, so that a refusal would say nothing.
    pub forged: Option<Forged>,
}

pub(crate) struct Forged {
    pub event: EventId,
    /// None when no answer came in time.
    pub status: Option<u16>,
    pub refused: Option<bool>,
}

/// Together with the signed one, whose time is a webhook's, this stays within what the caller waits.
const FORGED_WAIT: Duration = Duration::from_secs(4);

#[derive(Debug, thiserror::Error)]
pub(crate) enum TestError {
    #[error("the business has no such endpoint")]
    NotFound,
    #[error("too many tests are under way")]
    Busy,
    #[error("too many tests of the business are under way")]
    TooMany,
    #[error("the outcome of the test could not be written")]
    NotRecorded,
    #[error("the made-up event cannot be written: {0}")]
    Body(#[from] serde_json::Error),
    #[error(transparent)]
    Secret(#[from] Unreadable),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<NoPlace> for TestError {
    fn from(none: NoPlace) -> Self {
        match none {
            NoPlace::OwnTests => Self::TooMany,
            NoPlace::Full => Self::Busy,
        }
    }
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
    let _place = app.tests.take(business)?;
    let event = WebhookEvent::of_test(business, &app.clock, &app.entropy)?;
    let delivery = WebhookDeliveryId::generate(&app.clock, &app.entropy);
    let token = i64::from_le_bytes(app.entropy.bytes());
    let _hold = app.in_hand.take(Lease { delivery, business, token }, endpoint, event.mode);
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
        order: None,
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
    let forged = match attempted.failure {
        None => Some(forge(app, business, endpoint, event.id, (&url, &secrets)).await?),
        Some(_) => None,
    };
    Ok(TestOutcome { event: event.id, attempt: attempted.attempt, forged })
}

/// Sends a second made-up event with a wrong signature. It is no delivery: it stands in no log, is never repeated, and
/// says nothing of the endpoint's health; what came of it is kept beside the test.
async fn forge(
    app: &App,
    business: BusinessId,
    endpoint: EndpointId,
    test_event: EventId,
    (url, secrets): (&str, &SealedSecrets),
) -> Result<Forged, TestError> {
    let forged = WebhookEvent::of_forgery(business, &app.clock, &app.entropy)?;
    let event = forged.id;
    let webhook = Webhook { endpoint, url, secrets, event, mode: forged.mode, body: forged.body };
    let other_secret = Secret::generate(app.entropy.bytes());
    let sent = tokio::time::timeout(FORGED_WAIT, app.sender.forge(webhook, other_secret)).await;
    let status = sent.ok().transpose()?.flatten();
    let refused = is_refusal(status);
    let forgery = Forgery { test_event, forged_event: event, refused, at: app.clock.now() };
    let noted =
        app.database.read(async |conn| store::note_forgery(conn, business, endpoint, &forgery).await).await;
    if let Err(error) = noted {
        tracing::warn!(%error, endpoint_id = %endpoint, "what came of a wrong signature is told and not kept");
    }
    Ok(Forged { event, status, refused })
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
