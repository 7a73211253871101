//! The status of a business for its overview page. Asks all services at once; those that do not answer are listed.

use std::time::Duration;

use domain::{BusinessId, GoLiveFacts};
use internal_api::orders::RetryEvidence;
use postgres::StoreError;

use crate::business::domain::DoneSince;
use crate::business::queries::businesses;
use crate::business::queries::unanswered::Unanswered;
use crate::domain::WalletReport;
use crate::go_live::commands::confirm_go_live::confirm_go_live;
use crate::go_live::domain::indicators::{Indicators, Reports};
use crate::go_live::domain::{Advice, advice};
use crate::peers::{evidence, webhooks_report};
use crate::state::State;

/// Advice must not delay the status. Evidence that takes longer counts as missing.
const EVIDENCE_TIMEOUT: Duration = Duration::from_secs(1);

/// The indicators, the go-live checklist, and the advice next to it.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) indicators: Indicators,
    pub(crate) go_live: GoLiveFacts,
    pub(crate) done_since: DoneSince,
    /// Whether the closing of the business has begun.
    pub(crate) closing: bool,
    pub(crate) advice: [Advice; 3],
    /// The services that did not answer.
    pub(crate) incomplete: Vec<&'static str>,
}

/// `None` for an unknown business.
pub(crate) async fn status(state: &State, business: BusinessId) -> Result<Option<Status>, StoreError> {
    let Some(standing) = businesses::standing(state, business).await? else { return Ok(None) };
    let (keys, webhooks, wallet, confirmed, retries) = tokio::join!(
        state.peers.keys.summary(business),
        state.peers.webhooks.summary(business),
        state.peers.wallet.wallet(business),
        confirm_go_live(state, standing),
        retry_evidence(state, business),
    );
    let standing = confirmed?.standing;
    let mut unanswered = Unanswered::default();
    let keys = unanswered.unwrap("key-management", keys);
    let webhooks = unanswered.unwrap("webhook-dispatcher", webhooks);
    let wallet = unanswered.unwrap("wallet", wallet);
    let reports = Reports {
        keys: keys.map(Into::into),
        webhooks: webhooks.as_ref().map(webhooks_report),
        wallet: wallet.as_ref().map(WalletReport::from),
    };
    let verified = webhooks.and_then(|webhooks| webhooks.verified);
    Ok(Some(Status {
        indicators: Indicators::of(&standing, reports),
        go_live: standing.facts(),
        done_since: standing.since,
        closing: standing.closing,
        advice: advice(evidence(retries, verified)),
        incomplete: unanswered.0,
    }))
}

async fn retry_evidence(state: &State, business: BusinessId) -> RetryEvidence {
    match tokio::time::timeout(EVIDENCE_TIMEOUT, state.peers.orders.retry_evidence(business)).await {
        Ok(Ok(evidence)) => evidence,
        Ok(Err(error)) => {
            tracing::warn!(%error, "reading retry evidence failed");
            RetryEvidence::default()
        }
        Err(_) => {
            tracing::warn!("reading retry evidence timed out");
            RetryEvidence::default()
        }
    }
}
