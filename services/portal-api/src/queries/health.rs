//! How a business fares, asked of all its owners at the same time; whoever does not answer is named, and the rest shown.

use domain::{BusinessId, GoLiveFacts};
use internal_api::PageQuery;
use internal_api::orders::OrdersActivity;
use internal_api::wallet::WalletView;
use internal_api::webhooks::EndpointView;
use postgres::StoreError;

use super::Silent;
use crate::app::App;
use crate::commands::confirm_go_live::confirm_go_live;
use crate::domain::indicators::{Indicators, Told};
use crate::domain::{DoneSince, Problem, problems};
use crate::store::businesses;

/// More than a business may have.
const ENDPOINTS: PageQuery = PageQuery { limit: 100, starting_after: None };

pub(crate) struct Health {
    pub(crate) indicators: Indicators,
    pub(crate) go_live: GoLiveFacts,
    pub(crate) done_since: DoneSince,
    pub(crate) wallet: Option<WalletView>,
    pub(crate) orders: Option<OrdersActivity>,
    pub(crate) endpoints: Option<Vec<EndpointView>>,
    pub(crate) problems: Vec<Problem>,
    /// The services that did not answer.
    pub(crate) incomplete: Vec<&'static str>,
}

/// `None` for an unknown business.
pub(crate) async fn health(app: &App, business: BusinessId) -> Result<Option<Health>, StoreError> {
    let standing = app.database.read(async |conn| businesses::standing(conn, business).await).await?;
    let Some(standing) = standing else { return Ok(None) };
    let peers = &app.peers;
    let (confirmed, keys, webhooks, endpoints, wallet, orders) = tokio::join!(
        confirm_go_live(app, standing),
        peers.keys.summary(business),
        peers.webhooks.summary(business),
        peers.webhooks.list(business, &ENDPOINTS),
        peers.wallet.wallet(business),
        peers.orders.activity(business),
    );
    let standing = confirmed?.standing;
    let mut silent = Silent::default();
    let keys = silent.told("key-management", keys);
    let webhooks = silent.told("webhook-dispatcher", webhooks);
    let endpoints = silent.told("webhook-dispatcher", endpoints).map(|page| page.data);
    let wallet = silent.told("wallet", wallet);
    let orders = silent.told("order-api", orders);
    Ok(Some(Health {
        indicators: Indicators::of(&standing, Told { keys, webhooks, wallet: wallet.as_ref() }),
        go_live: standing.facts(),
        done_since: standing.since,
        problems: problems(&standing.business, wallet.as_ref(), orders, endpoints.as_deref()),
        wallet,
        orders,
        endpoints,
        incomplete: silent.0,
    }))
}
