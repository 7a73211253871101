//! Converts answers of the other services to types of the domain.

use internal_api::keys::ApiKeySummary;
use internal_api::orders::{RetryEvidence, RetryProof};
use internal_api::wallet::WalletView;
use internal_api::webhooks::{self, EndpointView, WebhookSummary, WebhookVerified};

use crate::domain::{
    ConnectionTest, EndpointReport, EndpointStatus, KeysReport, WalletReport, WebhooksReport,
};
use crate::go_live::domain::{Evidence, Proof};

impl From<ApiKeySummary> for KeysReport {
    fn from(keys: ApiKeySummary) -> Self {
        Self { test: keys.test, live: keys.live }
    }
}

impl From<&WalletView> for WalletReport {
    fn from(wallet: &WalletView) -> Self {
        Self {
            balance: wallet.balance_paise,
            owed: wallet.owed_paise,
            low_balance_threshold: wallet.low_balance_threshold_paise,
            is_funded: wallet.funded_at.is_some(),
        }
    }
}

pub(crate) fn webhooks_report(summary: &WebhookSummary) -> WebhooksReport {
    WebhooksReport {
        status: summary.status.map(endpoint_status),
        connection_test: connection_test(summary.connection_test),
    }
}

pub(crate) fn endpoint_report(endpoint: &EndpointView) -> EndpointReport {
    let trouble = endpoint.trouble.as_ref();
    EndpointReport {
        id: endpoint.id,
        status: endpoint_status(endpoint.status),
        disabled_reason: trouble.and_then(|trouble| trouble.disabled_reason.clone()),
        failing_since: trouble.and_then(|trouble| trouble.failing_since),
        parked_deliveries: endpoint.parked_deliveries,
        connection_test: connection_test(endpoint.connection_test),
        forged_refused: endpoint.forged_refused,
    }
}

pub(crate) fn evidence(retries: RetryEvidence, verified: Option<WebhookVerified>) -> Evidence {
    Evidence {
        duplicate_retry: retries.duplicate.map(retry_proof),
        failure_retry: retries.failure.map(retry_proof),
        webhook_verified: verified.map(|verified| Proof {
            at: verified.at,
            ids: vec![verified.test_event_id.to_string(), verified.forged_event_id.to_string()],
        }),
    }
}

fn retry_proof(proof: RetryProof) -> Proof {
    Proof { at: proof.at, ids: proof.request_ids.iter().map(ToString::to_string).collect() }
}

fn endpoint_status(status: webhooks::EndpointStatus) -> EndpointStatus {
    match status {
        webhooks::EndpointStatus::Active => EndpointStatus::Active,
        webhooks::EndpointStatus::Failing => EndpointStatus::Failing,
        webhooks::EndpointStatus::Paused => EndpointStatus::Paused,
        webhooks::EndpointStatus::Disabled => EndpointStatus::Disabled,
    }
}

fn connection_test(test: webhooks::ConnectionTest) -> ConnectionTest {
    match test {
        webhooks::ConnectionTest::NotTested => ConnectionTest::NotTested,
        webhooks::ConnectionTest::Passed => ConnectionTest::Passed,
        webhooks::ConnectionTest::Failed => ConnectionTest::Failed,
    }
}
