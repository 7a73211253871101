//! The other services, as this one calls them.

use std::time::Duration;

use internal_api::keys::KeysClient;
use internal_api::orders::OrdersClient;
use internal_api::wallet::WalletClient;
use internal_api::webhooks::WebhooksClient;
use internal_api::{Peer, PeerOptions};
use settings::{Internal, Peers as Addresses};

#[derive(Clone, Debug)]
pub(crate) struct Peers {
    pub(crate) orders: OrdersClient,
    pub(crate) wallet: WalletClient,
    pub(crate) keys: KeysClient,
    pub(crate) webhooks: WebhooksClient,
    /// For testing an endpoint, whose answer may take as long as a webhook's (SPECIFICATION §12: 10 s).
    pub(crate) webhook_tests: WebhooksClient,
}

impl Peers {
    /// # Errors
    /// When no HTTP client can be built.
    pub(crate) fn new(addresses: &Addresses, internal: &Internal) -> anyhow::Result<Self> {
        let usual = PeerOptions::default();
        let patient = PeerOptions { deadline: Duration::from_secs(15), ..usual };
        let peer =
            |service, base: &url::Url, options| Peer::new(service, base.clone(), &internal.token, options);
        Ok(Self {
            orders: OrdersClient(peer("order-api", &addresses.order_api, usual)?),
            wallet: WalletClient(peer("wallet", &addresses.wallet, usual)?),
            keys: KeysClient(peer("key-management", &addresses.key_management, usual)?),
            webhooks: WebhooksClient(peer("webhook-dispatcher", &addresses.webhook_dispatcher, usual)?),
            webhook_tests: WebhooksClient(peer(
                "webhook-dispatcher",
                &addresses.webhook_dispatcher,
                patient,
            )?),
        })
    }
}
