//! Everything that the portal's overview shows of a business, asked of its owners at the same time.

use domain::{BusinessId, GoLiveFacts};
use internal_api::CallError;
use postgres::StoreError;

use crate::app::App;
use crate::commands::confirm_go_live::confirm_go_live;
use crate::domain::indicators::{self, Label};
use crate::store::businesses;

/// The seven indicators of `spec.md` §3.1, and the facts behind the go-live list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    pub(crate) test_api: Label,
    pub(crate) live_api: Label,
    pub(crate) connection_test: Label,
    pub(crate) webhook: Label,
    pub(crate) webhook_connection_test: Label,
    pub(crate) wallet: Label,
    pub(crate) subscription: Label,
    pub(crate) go_live: GoLiveFacts,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum StatusError {
    #[error(transparent)]
    Owner(#[from] CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// `None` for an unknown business. An owner that does not answer leaves no indicator to show: all of them, or none.
pub(crate) async fn status(app: &App, business: BusinessId) -> Result<Option<Status>, StatusError> {
    let standing = app.database.read(async |conn| businesses::standing(conn, business).await).await?;
    let Some(standing) = standing else { return Ok(None) };
    let owners = async {
        tokio::try_join!(
            app.peers.keys.summary(business),
            app.peers.webhooks.summary(business),
            app.peers.wallet.wallet(business),
        )
    };
    let (owners, confirmed) = tokio::join!(owners, confirm_go_live(app, standing));
    let ((keys, webhooks, wallet), standing) = (owners?, confirmed?.standing);
    let unlocked = standing.missing().is_empty();
    Ok(Some(Status {
        test_api: indicators::test_api(keys),
        live_api: indicators::live_api(unlocked, keys),
        connection_test: indicators::connection_test(standing.successful_test_order),
        webhook: indicators::webhook(webhooks),
        webhook_connection_test: indicators::webhook_connection_test(webhooks),
        wallet: indicators::wallet(&wallet),
        subscription: indicators::subscription(standing.business.subscription.state),
        go_live: standing.facts(),
    }))
}
