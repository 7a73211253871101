//! What an operator should look at in a business, from what its owners say of it.

use domain::Paise;
use internal_api::orders::OrdersActivity;
use internal_api::wallet::WalletView;
use internal_api::webhooks::{ConnectionTest, EndpointStatus, EndpointView};

use super::{Business, BusinessStatus};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

fn problem(code: &'static str, message: impl Into<String>) -> Problem {
    Problem { code, message: message.into() }
}

/// The business's own, then its money's, its orders', its endpoints'. What is not known is no problem here: who did not
/// answer is told beside them.
pub(crate) fn problems(
    business: &Business,
    wallet: Option<&WalletView>,
    orders: Option<OrdersActivity>,
    endpoints: Option<&[EndpointView]>,
) -> Vec<Problem> {
    let suspended = (business.status == BusinessStatus::Suspended)
        .then(|| problem("business_suspended", "The business is suspended: it cannot order for real."));
    let pending = orders.map_or(0, |orders| orders.live.pending);
    let waiting = (pending > 0).then(|| {
        let message = format!("{pending} live orders wait for their payment to be decided.");
        problem("orders_pending", message)
    });
    suspended
        .into_iter()
        .chain(wallet.and_then(of_wallet))
        .chain(waiting)
        .chain(endpoints.into_iter().flatten().flat_map(of_endpoint))
        .collect()
}

fn of_wallet(wallet: &WalletView) -> Option<Problem> {
    let (balance, threshold) = (wallet.balance_paise, wallet.low_balance_threshold_paise);
    match balance {
        _ if wallet.funded_at.is_none() => None,
        Paise::ZERO => Some(problem("wallet_empty", "The wallet is empty: live orders are refused.")),
        balance if balance < threshold => {
            let message = format!("The wallet holds {balance}, which is below {threshold}.");
            Some(problem("wallet_low", message))
        }
        _ => None,
    }
}

fn of_endpoint(endpoint: &EndpointView) -> Vec<Problem> {
    let id = endpoint.id;
    let mut found = Vec::new();
    let trouble = endpoint.trouble.as_ref();
    match endpoint.status {
        EndpointStatus::Disabled => {
            let reason = trouble.and_then(|trouble| trouble.disabled_reason.as_deref()).unwrap_or("unknown");
            let message = format!("The endpoint {id} is disabled: {reason}.");
            found.push(problem("webhook_endpoint_disabled", message));
        }
        EndpointStatus::Failing => {
            let since = trouble.and_then(|trouble| trouble.failing_since);
            let since = since.map(|at| format!(" since {}", at.format("%Y-%m-%d %H:%M UTC")));
            let message = format!("The endpoint {id} fails{}.", since.unwrap_or_default());
            found.push(problem("webhook_endpoint_failing", message));
        }
        EndpointStatus::Active | EndpointStatus::Paused => {}
    }
    if endpoint.parked_deliveries > 0 {
        let message = format!("{} webhooks are parked for the endpoint {id}.", endpoint.parked_deliveries);
        found.push(problem("webhooks_parked", message));
    }
    if endpoint.connection_test == ConnectionTest::Failed {
        let message = format!("The latest test of the endpoint {id} failed.");
        found.push(problem("webhook_test_failed", message));
    }
    if endpoint.forged_refused == Some(false) {
        let message = format!("The endpoint {id} took a webhook with a wrong signature.");
        found.push(problem("webhook_signature_ignored", message));
    }
    found
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use internal_api::orders::ModeActivity;
    use serde_json::json;

    use super::*;
    use crate::domain::Subscription;

    fn business(status: BusinessStatus) -> Business {
        Business {
            id: "biz_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
            name: "Shop".into(),
            status,
            live_access: true,
            subscription: Subscription::none(),
            created_at: DateTime::UNIX_EPOCH,
        }
    }

    fn wallet(balance: i64, funded: bool) -> WalletView {
        WalletView {
            balance_paise: Paise::new(balance),
            currency: "INR".into(),
            funded_at: funded.then_some(DateTime::UNIX_EPOCH),
            low_balance_threshold_paise: Paise::new(50_000),
        }
    }

    fn endpoint(status: &str, test: &str, forged_refused: Option<bool>, parked: i64) -> EndpointView {
        serde_json::from_value(json!({
            "id": "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV", "url": "https://shop.example/hook", "events": [],
            "modes": [], "status": status, "lastDelivery": { "at": null, "label": "Never" },
            "connectionTest": test, "forgedRefused": forged_refused, "nextSecret": null, "maxPerSecond": null,
            "parkedDeliveries": parked, "trouble": null, "createdAt": "2026-01-01T00:00:00Z",
        }))
        .unwrap()
    }

    fn codes(found: &[Problem]) -> Vec<&'static str> {
        found.iter().map(|problem| problem.code).collect()
    }

    #[test]
    fn a_healthy_business_has_no_problem_and_what_is_unknown_is_none() {
        let good = [endpoint("active", "passed", Some(true), 0)];
        let quiet = ModeActivity { last_at: None, last24h: 0, pending: 0 };
        let orders = OrdersActivity { live: quiet, test: quiet };
        let active = business(BusinessStatus::Active);
        assert!(problems(&active, Some(&wallet(50_000, true)), Some(orders), Some(&good)).is_empty());
        assert!(problems(&active, Some(&wallet(0, false)), None, None).is_empty());
    }

    #[test]
    fn each_trouble_has_a_problem_of_its_own() {
        let suspended = business(BusinessStatus::Suspended);
        let busy = ModeActivity { last_at: None, last24h: 3, pending: 2 };
        let orders = OrdersActivity { live: busy, test: busy };
        let bad = [endpoint("disabled", "failed", None, 7), endpoint("failing", "passed", Some(false), 0)];
        let found = problems(&suspended, Some(&wallet(1, true)), Some(orders), Some(&bad));
        let expected = [
            "business_suspended",
            "wallet_low",
            "orders_pending",
            "webhook_endpoint_disabled",
            "webhooks_parked",
            "webhook_test_failed",
            "webhook_endpoint_failing",
            "webhook_signature_ignored",
        ];
        assert_eq!(codes(&found), expected);
        assert_eq!(codes(&problems(&suspended, Some(&wallet(0, true)), None, None))[1], "wallet_empty");
    }
}
