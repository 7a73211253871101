//! An endpoint, and what its owner is shown of how it fares.

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, EventKind, Mode};
use internal_api::webhooks::{ConnectionTest, EndpointStatus, LastDelivery, WebhookSummary, WebhookVerified};

use super::Forgery;

/// No business has more endpoints.
pub(crate) const ENDPOINTS_MAX: i64 = 20;

/// A webhook endpoint, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub id: EndpointId,
    pub business_id: BusinessId,
    /// As its owner wrote it.
    pub url: String,
    pub events: Vec<EventKind>,
    pub modes: Vec<Mode>,
    /// When the secret that was made last becomes the one; none, or past, when there is but one.
    pub next_secret_from: Option<DateTime<Utc>>,
    /// The most per second that its owner wants; the operator's limit when none.
    pub max_per_second: Option<i32>,
    pub created_at: DateTime<Utc>,
    pub facts: EndpointFacts,
    pub trouble: Trouble,
}

/// What its owner should know when things go wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// Since when every attempt has failed.
    pub failing_since: Option<DateTime<Utc>>,
    /// Until then it is left alone.
    pub tripped_until: Option<DateTime<Utc>>,
    pub disabled_at: Option<DateTime<Utc>>,
    pub disabled_reason: Option<String>,
    /// Deliveries that came or waited while it was disabled.
    pub parked: i64,
    /// What its owner was told, newest first.
    pub notices: Vec<Told>,
}

/// So much of the time that an endpoint may only fail had passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub percent: i32,
    pub at: DateTime<Utc>,
}

/// What the status of an endpoint follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndpointFacts {
    pub paused: bool,
    pub disabled: bool,
    pub last_delivery_at: Option<DateTime<Utc>>,
    pub last_delivery_succeeded: Option<bool>,
    pub connection_test: ConnectionTest,
    /// What came of the webhook with a wrong signature that followed the latest test that was passed.
    pub forgery: Option<Forgery>,
}

/// What its owner decided comes first, then what we decided, then how it fares.
pub(crate) fn status(facts: &EndpointFacts) -> EndpointStatus {
    match facts {
        EndpointFacts { paused: true, .. } => EndpointStatus::Paused,
        EndpointFacts { disabled: true, .. } => EndpointStatus::Disabled,
        EndpointFacts { last_delivery_succeeded: Some(false), .. } => EndpointStatus::Failing,
        _ => EndpointStatus::Active,
    }
}

pub(crate) fn last_delivery(facts: &EndpointFacts) -> LastDelivery {
    let label = match facts.last_delivery_succeeded {
        None => "Never",
        Some(true) => "Succeeded",
        Some(false) => "Failed",
    };
    LastDelivery { at: facts.last_delivery_at, label: label.to_owned() }
}

/// All endpoints of a business in one line: the worst status; and whether they were tested, which a single failure makes a
/// failure, since it is the one to be mended.
pub(crate) fn summary(endpoints: &[EndpointFacts]) -> WebhookSummary {
    let badness = |status: &EndpointStatus| match status {
        EndpointStatus::Active => 0,
        EndpointStatus::Paused => 1,
        EndpointStatus::Failing => 2,
        EndpointStatus::Disabled => 3,
    };
    let any = |wanted| endpoints.iter().any(|endpoint| endpoint.connection_test == wanted);
    let connection_test = match () {
        () if any(ConnectionTest::Failed) => ConnectionTest::Failed,
        () if any(ConnectionTest::Passed) => ConnectionTest::Passed,
        () => ConnectionTest::NotTested,
    };
    let proven = endpoints.iter().filter(|endpoint| endpoint.connection_test == ConnectionTest::Passed);
    let refused = |forgery: &&Forgery| forgery.refused == Some(true);
    let forgery = proven.filter_map(|endpoint| endpoint.forgery.as_ref()).filter(refused);
    let verified = forgery.min_by_key(|forgery| forgery.at).map(|forgery| WebhookVerified {
        at: forgery.at,
        test_event_id: forgery.test_event,
        forged_event_id: forgery.forged_event,
    });
    WebhookSummary { status: endpoints.iter().map(status).max_by_key(badness), connection_test, verified }
}

#[cfg(test)]
mod tests {
    use domain::EventId;

    use super::*;

    fn facts(
        paused: bool,
        disabled: bool,
        succeeded: Option<bool>,
        connection_test: ConnectionTest,
    ) -> EndpointFacts {
        let last_delivery_at = succeeded.map(|_| DateTime::UNIX_EPOCH);
        EndpointFacts {
            paused,
            disabled,
            last_delivery_at,
            last_delivery_succeeded: succeeded,
            connection_test,
            forgery: None,
        }
    }

    #[test]
    fn the_status_follows_from_the_facts() {
        let untested = ConnectionTest::NotTested;
        for (facts, expected, label) in [
            (facts(false, false, None, untested), EndpointStatus::Active, "Never"),
            (facts(false, false, Some(true), untested), EndpointStatus::Active, "Succeeded"),
            (facts(false, false, Some(false), untested), EndpointStatus::Failing, "Failed"),
            (facts(false, true, Some(false), untested), EndpointStatus::Disabled, "Failed"),
            (facts(true, true, Some(false), untested), EndpointStatus::Paused, "Failed"),
            (facts(true, false, Some(true), untested), EndpointStatus::Paused, "Succeeded"),
        ] {
            assert_eq!(status(&facts), expected, "{facts:?}");
            assert_eq!(last_delivery(&facts).label, label, "{facts:?}");
        }
    }

    #[test]
    fn the_summary_shows_what_is_to_be_mended() {
        use ConnectionTest::{Failed, NotTested, Passed};
        let none = WebhookSummary { status: None, connection_test: NotTested, verified: None };
        assert_eq!(summary(&[]), none);
        let active = facts(false, false, Some(true), NotTested);
        let failing = facts(false, false, Some(false), Failed);
        let paused = facts(true, false, None, Passed);
        let of = |endpoints: &[&EndpointFacts]| {
            let WebhookSummary { status, connection_test, .. } =
                summary(&endpoints.iter().map(|facts| (*facts).clone()).collect::<Vec<_>>());
            (status.unwrap(), connection_test)
        };
        assert_eq!(of(&[&active]), (EndpointStatus::Active, NotTested));
        assert_eq!(of(&[&active, &failing]), (EndpointStatus::Failing, Failed));
        assert_eq!(of(&[&paused, &active]), (EndpointStatus::Paused, Passed));
        assert_eq!(of(&[&failing, &paused]), (EndpointStatus::Failing, Failed));
    }

    #[test]
    fn verified_is_who_took_the_signed_one_and_refused_the_forged_one() {
        let at = DateTime::UNIX_EPOCH;
        let event = EventId::first_of(at);
        let forgery = |refused| Forgery { test_event: event, forged_event: event, refused, at };
        for (connection_test, refused, verified) in [
            (ConnectionTest::Passed, Some(true), true),
            (ConnectionTest::Passed, Some(false), false),
            (ConnectionTest::Passed, None, false),
            (ConnectionTest::Failed, Some(true), false),
        ] {
            let facts = EndpointFacts {
                forgery: Some(forgery(refused)),
                ..facts(false, false, None, connection_test)
            };
            assert_eq!(summary(&[facts]).verified.is_some(), verified, "{connection_test} {refused:?}");
        }
    }
}
