//! The status indicators of the portal, with the labels of SPECIFICATION §3.1.

use domain::Paise;

use crate::business::domain::{Standing, SubscriptionState};
use crate::domain::{ConnectionTest, EndpointStatus, KeysReport, WalletReport, WebhooksReport};

/// The text of an indicator. Its code is the label in snake_case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(pub(crate) &'static str);

/// The seven indicators of SPECIFICATION §3.1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indicators {
    pub(crate) test_api: Label,
    pub(crate) live_api: Label,
    pub(crate) connection_test: Label,
    pub(crate) webhook: Label,
    pub(crate) webhook_connection_test: Label,
    pub(crate) wallet: Label,
    pub(crate) subscription: Label,
}

/// Reports of the other services; `None` for a service that did not answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reports {
    pub(crate) keys: Option<KeysReport>,
    pub(crate) webhooks: Option<WebhooksReport>,
    pub(crate) wallet: Option<WalletReport>,
}

impl Indicators {
    pub(crate) fn of(standing: &Standing, reports: Reports) -> Self {
        let unlocked = standing.missing().is_empty();
        Self {
            test_api: reports.keys.map_or(UNKNOWN, test_api),
            live_api: reports.keys.map_or(UNKNOWN, |keys| live_api(unlocked, keys)),
            connection_test: connection_test(standing.successful_test_order),
            webhook: reports.webhooks.map_or(UNKNOWN, webhook),
            webhook_connection_test: reports.webhooks.map_or(UNKNOWN, webhook_connection_test),
            wallet: reports.wallet.map_or(UNKNOWN, wallet),
            subscription: subscription(standing.business.subscription.state),
        }
    }
}

/// Shown when the service did not answer.
const UNKNOWN: Label = Label("Unknown");

impl Label {
    pub(crate) fn code(self) -> String {
        self.0.to_ascii_lowercase().replace(' ', "_")
    }
}

/// Whether a working test key exists.
fn test_api(keys: KeysReport) -> Label {
    Label(if keys.test { "Active" } else { "Not created" })
}

/// A business that is locked again (for example suspended) shows `Locked` even with a live key.
fn live_api(unlocked: bool, keys: KeysReport) -> Label {
    Label(match (unlocked, keys.live) {
        (false, _) => "Locked",
        (true, false) => "Ready",
        (true, true) => "Active",
    })
}

/// Whether the integration has ever worked.
fn connection_test(successful_test_order: bool) -> Label {
    Label(if successful_test_order { "Connected" } else { "No test orders yet" })
}

fn webhook(report: WebhooksReport) -> Label {
    Label(match report.status {
        None => "Not configured",
        Some(EndpointStatus::Active) => "Active",
        Some(EndpointStatus::Failing) => "Failing",
        Some(EndpointStatus::Paused) => "Paused",
        Some(EndpointStatus::Disabled) => "Disabled",
    })
}

fn webhook_connection_test(report: WebhooksReport) -> Label {
    Label(match report.connection_test {
        ConnectionTest::NotTested => "Not tested",
        ConnectionTest::Passed => "Passed",
        ConnectionTest::Failed => "Failed",
    })
}

fn wallet(wallet: WalletReport) -> Label {
    Label(match wallet.balance {
        _ if wallet.owed > Paise::ZERO => "Money owed",
        _ if !wallet.is_funded => "Not available",
        Paise::ZERO => "Empty",
        balance if balance < wallet.low_balance_threshold => "Low balance",
        _ => "Funded",
    })
}

fn subscription(state: SubscriptionState) -> Label {
    Label(match state {
        SubscriptionState::Required => "Required",
        SubscriptionState::Requested => "Requested",
        SubscriptionState::Active => "Active",
        SubscriptionState::Expired => "Expired",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(test: bool, live: bool) -> KeysReport {
        KeysReport { test, live }
    }

    fn webhooks(status: Option<EndpointStatus>, connection_test: ConnectionTest) -> WebhooksReport {
        WebhooksReport { status, connection_test }
    }

    fn wallet_with(balance: i64, funded: bool) -> Label {
        wallet(WalletReport {
            balance: Paise::new(balance),
            owed: Paise::ZERO,
            low_balance_threshold: Paise::new(50_000),
            is_funded: funded,
        })
    }

    #[test]
    fn a_new_business_sees_the_labels_of_the_specification() {
        let none = webhooks(None, ConnectionTest::NotTested);
        assert_eq!(test_api(keys(false, false)).0, "Not created");
        assert_eq!(live_api(false, keys(false, false)).0, "Locked");
        assert_eq!(connection_test(false).0, "No test orders yet");
        assert_eq!(webhook(none).0, "Not configured");
        assert_eq!(webhook_connection_test(none).0, "Not tested");
        assert_eq!(wallet_with(0, false).0, "Not available");
        assert_eq!(subscription(SubscriptionState::Required).0, "Required");
    }

    #[test]
    fn keys_and_orders_change_their_indicators() {
        assert_eq!(test_api(keys(true, false)).0, "Active");
        assert_eq!(live_api(true, keys(true, false)).0, "Ready");
        assert_eq!(live_api(true, keys(true, true)).0, "Active");
        assert_eq!(live_api(false, keys(true, true)).0, "Locked");
        assert_eq!(connection_test(true).0, "Connected");
    }

    #[test]
    fn webhooks_show_the_worst_status() {
        for (status, label) in [
            (EndpointStatus::Active, "Active"),
            (EndpointStatus::Failing, "Failing"),
            (EndpointStatus::Paused, "Paused"),
            (EndpointStatus::Disabled, "Disabled"),
        ] {
            assert_eq!(webhook(webhooks(Some(status), ConnectionTest::NotTested)).0, label);
        }
        assert_eq!(webhook_connection_test(webhooks(None, ConnectionTest::Passed)).0, "Passed");
        assert_eq!(webhook_connection_test(webhooks(None, ConnectionTest::Failed)).0, "Failed");
    }

    #[test]
    fn a_wallet_that_was_funded_once_is_empty_or_low_but_never_not_available() {
        for (balance, label) in [
            (0, "Empty"),
            (1, "Low balance"),
            (49_999, "Low balance"),
            (50_000, "Funded"),
            (90_000, "Funded"),
        ] {
            assert_eq!(wallet_with(balance, true).0, label, "{balance}");
        }
        let indebted = WalletReport {
            balance: Paise::ZERO,
            owed: Paise::new(4_900),
            low_balance_threshold: Paise::ZERO,
            is_funded: true,
        };
        assert_eq!(wallet(indebted).0, "Money owed");
    }

    #[test]
    fn subscriptions() {
        for (state, label) in [
            (SubscriptionState::Requested, "Requested"),
            (SubscriptionState::Active, "Active"),
            (SubscriptionState::Expired, "Expired"),
        ] {
            assert_eq!(subscription(state).0, label);
        }
    }

    #[test]
    fn codes_are_the_labels_in_snake_case() {
        assert_eq!(Label("No test orders yet").code(), "no_test_orders_yet");
        assert_eq!(Label("Low balance").code(), "low_balance");
    }
}
