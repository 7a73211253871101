//! Everything that the portal's overview shows of a business, asked of its owners at the same time.

use std::time::Duration;

use domain::{BusinessId, GoLiveFacts};
use internal_api::orders::RetryEvidence;
use postgres::StoreError;

use super::Silent;
use crate::app::App;
use crate::commands::confirm_go_live::confirm_go_live;
use crate::domain::indicators::{Indicators, Told};
use crate::domain::{Advice, DoneSince, advice};
use crate::store::businesses;

/// Advice holds nothing up: what is not known in this time counts as not tried yet.
const ADVICE_WAIT: Duration = Duration::from_secs(1);

/// The indicators, the facts behind the go-live list, and the advice beside it.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) indicators: Indicators,
    pub(crate) go_live: GoLiveFacts,
    pub(crate) done_since: DoneSince,
    pub(crate) advice: [Advice; 3],
    /// The services that did not answer.
    pub(crate) incomplete: Vec<&'static str>,
}

/// `None` for an unknown business. What an owner does not tell is unknown, and the rest is shown.
pub(crate) async fn status(app: &App, business: BusinessId) -> Result<Option<Status>, StoreError> {
    let standing = app.database.read(async |conn| businesses::standing(conn, business).await).await?;
    let Some(standing) = standing else { return Ok(None) };
    let (keys, webhooks, wallet, confirmed, retries) = tokio::join!(
        app.peers.keys.summary(business),
        app.peers.webhooks.summary(business),
        app.peers.wallet.wallet(business),
        confirm_go_live(app, standing),
        retry_evidence(app, business),
    );
    let standing = confirmed?.standing;
    let mut silent = Silent::default();
    let keys = silent.told("key-management", keys);
    let webhooks = silent.told("webhook-dispatcher", webhooks);
    let wallet = silent.told("wallet", wallet);
    Ok(Some(Status {
        indicators: Indicators::of(&standing, Told { keys, webhooks, wallet: wallet.as_ref() }),
        go_live: standing.facts(),
        done_since: standing.since,
        advice: advice(retries, webhooks.and_then(|webhooks| webhooks.verified)),
        incomplete: silent.0,
    }))
}

async fn retry_evidence(app: &App, business: BusinessId) -> RetryEvidence {
    match tokio::time::timeout(ADVICE_WAIT, app.peers.orders.retry_evidence(business)).await {
        Ok(Ok(evidence)) => evidence,
        Ok(Err(error)) => {
            tracing::warn!(%error, "evidence of retries could not be read");
            RetryEvidence::default()
        }
        Err(_) => {
            tracing::warn!("evidence of retries could not be read in time");
            RetryEvidence::default()
        }
    }
}
