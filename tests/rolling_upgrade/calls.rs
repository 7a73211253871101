//! The work that an instance must do before the rollout continues: calls of the traffic, direct or through another
//! service, and work from the broker.

use anyhow::Context;
use demo::clients::Api;
use local_stack::Service;
use reqwest::Method;

/// Method and path of each kind of call; `*` is one segment of the path.
pub(crate) const fn of(service: Service) -> &'static [&'static str] {
    match service {
        Service::KeyManagement => &[
            "POST /internal/api-keys/verify",
            "GET /internal/businesses/*/api-keys",
            "POST /internal/businesses/*/api-keys",
            "POST /internal/businesses/*/api-keys/*/rotate",
            "POST /internal/businesses/*/api-keys/*/revoke",
        ],
        Service::Wallet => &[
            "PUT /internal/debits/*/*",
            "GET /internal/wallets/*",
            "GET /internal/wallets/*/entries",
            "POST /internal/wallets/*/top-ups",
            "POST /internal/wallets/*/credits",
        ],
        Service::PortalApi => &[
            "GET /internal/businesses/*/ordering",
            "POST /v1/portal/session",
            "GET /v1/portal/status",
            "PUT /v1/portal/pickup-profile",
            "POST /v1/portal/api-keys",
            "POST /v1/portal/api-keys/*/rotate",
            "POST /v1/portal/api-keys/*/revoke",
            "POST /v1/portal/wallet/top-ups",
            "POST /v1/operator/businesses/*/wallet/credits",
            "POST /v1/portal/webhook-endpoints",
            "PATCH /v1/portal/webhook-endpoints/*",
            "DELETE /v1/portal/webhook-endpoints/*",
        ],
        Service::OrderApi => &[
            "POST /v1/integration/orders",
            "GET /v1/integration/orders/*",
            "GET /v1/integration/orders/*/events",
            "POST /v1/integration/orders/*/cancel",
            "POST /v1/fleet/orders/*/events",
            "GET /internal/businesses/*/orders",
            "GET /internal/businesses/*/orders/*/events",
        ],
        Service::WebhookDispatcher => &[
            "GET /internal/businesses/*/orders/*/webhook-deliveries",
            "GET /internal/businesses/*/webhook-endpoints",
            "POST /internal/businesses/*/webhook-endpoints",
            "PATCH /internal/businesses/*/webhook-endpoints/*",
            "DELETE /internal/businesses/*/webhook-endpoints/*",
            "POST /internal/businesses/*/webhook-endpoints/*/test",
            "POST /internal/businesses/*/webhook-endpoints/*/secret/rotate",
            "POST /internal/businesses/*/webhook-endpoints/*/secret/activate",
        ],
    }
}

/// The kind of a call; `None` if the traffic has no such kind.
pub(crate) fn kind(service: Service, method: &str, path: &str) -> Option<&'static str> {
    let is_alike = |kind: &&str| {
        let Some((its_method, its_path)) = kind.split_once(' ') else { return false };
        let (ours, theirs) = (path.split('/'), its_path.split('/'));
        its_method == method
            && ours.clone().count() == theirs.clone().count()
            && ours.zip(theirs).all(|(ours, theirs)| theirs == "*" || ours == theirs)
    };
    of(service).iter().copied().find(is_alike)
}

/// A counter on an instance's metrics page, and a required label value.
type Counter = (&'static str, &'static str);

const fn work_of(service: Service) -> &'static [Counter] {
    match service {
        Service::Wallet => &[
            ("messages_consumed_total", "\"wallet.refunds\""),
            ("messages_consumed_total", "\"wallet.cash\""),
        ],
        Service::WebhookDispatcher => {
            &[("messages_consumed_total", "\"webhook-dispatcher.events\""), ("webhook_attempts_total", "")]
        }
        // Their events are rare, or go to every instance.
        Service::KeyManagement | Service::PortalApi | Service::OrderApi => &[],
    }
}

/// The current values of the service's counters.
pub(crate) async fn work(service: Service, management: &str) -> anyhow::Result<Vec<f64>> {
    if work_of(service).is_empty() {
        return Ok(Vec::new());
    }
    let api = Api::new(management)?;
    let page = api.send(api.request(Method::GET, "/metrics")).await?.text;
    work_of(service).iter().map(|counter| sum(&page, *counter)).collect()
}

fn sum(page: &str, (name, label): Counter) -> anyhow::Result<f64> {
    let series = page.lines().filter(|line| line.starts_with(&format!("{name}{{")) && line.contains(label));
    series
        .map(|line| {
            let value = line.rsplit(' ').next().context("a series has a value")?;
            value.parse::<f64>().with_context(|| line.to_owned())
        })
        .sum()
}
