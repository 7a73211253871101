//! Problems of a business that need the operator's attention, derived from the reports of all services.

use domain::Paise;

use crate::business::domain::{Business, BusinessStatus};
use crate::domain::{ConnectionTest, EndpointReport, EndpointStatus, RegionFormat, WalletReport};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

fn problem(code: &'static str, message: impl Into<String>) -> Problem {
    Problem { code, message: message.into() }
}

/// In this order: business, wallet, orders, endpoints. A missing report is not a problem: services that did not answer are
/// listed separately.
pub(crate) fn problems(
    region: RegionFormat,
    business: &Business,
    wallet: Option<WalletReport>,
    pending_live_orders: Option<i64>,
    endpoints: Option<&[EndpointReport]>,
) -> Vec<Problem> {
    let suspended = (business.status == BusinessStatus::Suspended)
        .then(|| problem("business_suspended", "The business is suspended: it cannot place live orders."));
    let pending = pending_live_orders.filter(|pending| *pending > 0).map(|pending| {
        let orders = if pending == 1 { "order has" } else { "orders have" };
        let message = format!("{pending} live {orders} a pending payment.");
        problem("orders_pending", message)
    });
    suspended
        .into_iter()
        .chain(wallet.and_then(of_wallet))
        .chain(pending)
        .chain(endpoints.into_iter().flatten().flat_map(|endpoint| of_endpoint(region, endpoint)))
        .collect()
}

fn of_wallet(wallet: WalletReport) -> Option<Problem> {
    let (balance, threshold) = (wallet.balance, wallet.low_balance_threshold);
    match balance {
        _ if wallet.owed > Paise::ZERO => {
            let message = format!(
                "The wallet is empty, and the business owes {}: live orders are refused.",
                wallet.owed
            );
            Some(problem("wallet_owes", message))
        }
        _ if !wallet.is_funded => None,
        Paise::ZERO => Some(problem("wallet_empty", "The wallet is empty: live orders are refused.")),
        balance if balance < threshold => {
            let message = format!("The wallet balance {balance} is below the threshold {threshold}.");
            Some(problem("wallet_low", message))
        }
        _ => None,
    }
}

fn of_endpoint(region: RegionFormat, endpoint: &EndpointReport) -> Vec<Problem> {
    let id = endpoint.id;
    let mut found = Vec::new();
    match endpoint.status {
        EndpointStatus::Disabled => {
            let reason = endpoint.disabled_reason.as_deref().unwrap_or("unknown");
            let message = format!("The endpoint {id} is disabled: {reason}.");
            found.push(problem("webhook_endpoint_disabled", message));
        }
        EndpointStatus::Failing => {
            let since = endpoint.failing_since.map(|at| format!(" since {}", region.time(at)));
            let message = format!("The endpoint {id} has been failing{}.", since.unwrap_or_default());
            found.push(problem("webhook_endpoint_failing", message));
        }
        EndpointStatus::Active | EndpointStatus::Paused => {}
    }
    if endpoint.parked_deliveries > 0 {
        let message = format!("{} webhooks are held for the endpoint {id}.", endpoint.parked_deliveries);
        found.push(problem("webhooks_parked", message));
    }
    if endpoint.connection_test == ConnectionTest::Failed {
        let message = format!("The latest test of the endpoint {id} failed.");
        found.push(problem("webhook_test_failed", message));
    }
    if endpoint.forged_refused == Some(false) {
        let message = format!("The endpoint {id} accepted a webhook with a wrong signature.");
        found.push(problem("webhook_signature_ignored", message));
    }
    found
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::business::domain::Subscription;
    use crate::domain::Locale;

    const REGION: RegionFormat = RegionFormat { locale: Locale::India, zone: chrono_tz::Tz::Asia__Kolkata };

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

    fn wallet(balance: i64, is_funded: bool) -> WalletReport {
        WalletReport {
            balance: Paise::new(balance),
            owed: Paise::ZERO,
            low_balance_threshold: Paise::new(50_000),
            is_funded,
        }
    }

    fn endpoint(
        status: EndpointStatus,
        connection_test: ConnectionTest,
        forged_refused: Option<bool>,
        parked_deliveries: i64,
    ) -> EndpointReport {
        EndpointReport {
            id: "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
            status,
            disabled_reason: None,
            failing_since: None,
            parked_deliveries,
            connection_test,
            forged_refused,
        }
    }

    fn codes(found: &[Problem]) -> Vec<&'static str> {
        found.iter().map(|problem| problem.code).collect()
    }

    #[test]
    fn a_healthy_business_has_no_problem_and_missing_reports_are_none() {
        let good = [endpoint(EndpointStatus::Active, ConnectionTest::Passed, Some(true), 0)];
        let active = business(BusinessStatus::Active);
        assert!(problems(REGION, &active, Some(wallet(50_000, true)), Some(0), Some(&good)).is_empty());
        assert!(problems(REGION, &active, Some(wallet(0, false)), None, None).is_empty());
    }

    #[test]
    fn each_trouble_has_a_problem_of_its_own() {
        let suspended = business(BusinessStatus::Suspended);
        let bad = [
            endpoint(EndpointStatus::Disabled, ConnectionTest::Failed, None, 7),
            endpoint(EndpointStatus::Failing, ConnectionTest::Passed, Some(false), 0),
        ];
        let found = problems(REGION, &suspended, Some(wallet(1, true)), Some(2), Some(&bad));
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
        assert_eq!(
            codes(&problems(REGION, &suspended, Some(wallet(0, true)), None, None))[1],
            "wallet_empty"
        );
        let one = problems(REGION, &business(BusinessStatus::Active), None, Some(1), None);
        assert_eq!(one[0].message, "1 live order has a pending payment.");
        let since = EndpointReport { failing_since: Some(DateTime::UNIX_EPOCH), ..bad[1].clone() };
        let found = problems(REGION, &business(BusinessStatus::Active), None, None, Some(&[since]));
        assert!(found[0].message.ends_with("since 1 January 1970, 05:30 IST."), "{found:?}");
    }
}
