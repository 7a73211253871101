//! The health of a business for the operator. Asks all services at once; those that do not answer are listed.

use domain::{BusinessId, GoLiveFacts};
use internal_api::PageQuery;
use internal_api::orders::OrdersActivity;
use internal_api::wallet::WalletView;
use internal_api::webhooks::EndpointView;
use postgres::StoreError;

use crate::business::domain::{DoneSince, Problem, problems};
use crate::business::queries::businesses;
use crate::business::queries::unanswered::Unanswered;
use crate::domain::{EndpointReport, WalletReport};
use crate::go_live::commands::confirm_go_live::confirm_go_live;
use crate::go_live::domain::indicators::{Indicators, Reports};
use crate::peers::{endpoint_report, webhooks_report};
use crate::state::State;

/// More than a business may have.
const ENDPOINTS: PageQuery = PageQuery { limit: 100, starting_after: None };

pub(crate) struct BusinessHealth {
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
pub(crate) async fn business_health(
    state: &State,
    business: BusinessId,
) -> Result<Option<BusinessHealth>, StoreError> {
    let Some(standing) = businesses::standing(state, business).await? else { return Ok(None) };
    let peers = &state.peers;
    let (confirmed, keys, webhooks, endpoints, wallet, orders) = tokio::join!(
        confirm_go_live(state, standing),
        peers.keys.summary(business),
        peers.webhooks.summary(business),
        peers.webhooks.list(business, &ENDPOINTS),
        peers.wallet.wallet(business),
        peers.orders.activity(business),
    );
    let standing = confirmed?.standing;
    let mut unanswered = Unanswered::default();
    let keys = unanswered.unwrap("key-management", keys);
    let webhooks = unanswered.unwrap("webhook-dispatcher", webhooks);
    let endpoints = unanswered.unwrap("webhook-dispatcher", endpoints).map(|page| page.data);
    let wallet = unanswered.unwrap("wallet", wallet);
    let orders = unanswered.unwrap("order-api", orders);
    let wallet_report = wallet.as_ref().map(WalletReport::from);
    let reports = Reports {
        keys: keys.map(Into::into),
        webhooks: webhooks.as_ref().map(webhooks_report),
        wallet: wallet_report,
    };
    let endpoint_reports: Option<Vec<EndpointReport>> =
        endpoints.as_ref().map(|endpoints| endpoints.iter().map(endpoint_report).collect());
    let pending = orders.map(|orders| orders.live.pending);
    Ok(Some(BusinessHealth {
        indicators: Indicators::of(&standing, reports),
        go_live: standing.facts(),
        done_since: standing.since,
        problems: problems(
            state.mailbox.region,
            &standing.business,
            wallet_report,
            pending,
            endpoint_reports.as_deref(),
        ),
        wallet,
        orders,
        endpoints,
        incomplete: unanswered.0,
    }))
}
