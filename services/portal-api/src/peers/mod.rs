//! Clients of the other services.

mod reports;

use std::time::Duration;

use internal_api::keys::KeysClient;
use internal_api::orders::OrdersClient;
use internal_api::wallet::WalletClient;
use internal_api::webhooks::WebhooksClient;
use internal_api::{Peer, PeerOptions};
use settings::Secret;

pub(crate) use reports::{endpoint_report, evidence, webhooks_report};

/// A test waits for the endpoint, which may take 10 s to answer (SPECIFICATION §4.2).
const WEBHOOK_TEST_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Clone, Debug)]
pub(crate) struct Peers {
    pub(crate) orders: OrdersClient,
    pub(crate) wallet: WalletClient,
    pub(crate) keys: KeysClient,
    pub(crate) webhooks: WebhooksClient,
    /// With a longer timeout, for testing an endpoint.
    pub(crate) webhook_tests: WebhooksClient,
}

impl Peers {
    /// # Errors
    /// When an HTTP client cannot be created.
    pub(crate) fn new(addresses: &settings::Peers, token: &Secret) -> anyhow::Result<Self> {
        let usual = PeerOptions::default();
        let patient = PeerOptions { deadline: WEBHOOK_TEST_TIMEOUT, ..usual };
        let ca = addresses.ca.as_ref();
        let peer = |service, base: &url::Url, options| Peer::new(service, base.clone(), ca, token, options);
        let webhooks = |options| peer("webhook-dispatcher", &addresses.webhook_dispatcher, options);
        Ok(Self {
            orders: OrdersClient(peer("order-api", &addresses.order_api, usual)?),
            wallet: WalletClient(peer("wallet", &addresses.wallet, usual)?),
            keys: KeysClient(peer("key-management", &addresses.key_management, usual)?),
            webhooks: WebhooksClient(webhooks(usual)?),
            webhook_tests: WebhooksClient(webhooks(patient)?),
        })
    }
}
