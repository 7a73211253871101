//! An endpoint, its health, and the status that follows from both.

use chrono::{DateTime, Utc};
use domain::{BusinessId, EndpointId, EventKind, Mode};
use strum::{Display, EnumString, IntoStaticStr};

use super::ForgeryTest;

/// Per business.
pub(crate) const ENDPOINTS_MAX: i64 = 20;

/// A webhook endpoint, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub id: EndpointId,
    pub business_id: BusinessId,
    pub url: String,
    pub events: Vec<EventKind>,
    pub modes: Vec<Mode>,
    /// When the staged secret becomes the current one. None or past: there is only one secret.
    pub next_secret_from: Option<DateTime<Utc>>,
    /// The owner's rate limit; the operator's applies if none.
    pub max_per_second: Option<i32>,
    pub created_at: DateTime<Utc>,
    pub facts: EndpointFacts,
    pub health: EndpointHealth,
}

/// Details for the owner when deliveries fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EndpointHealth {
    /// Since when every attempt has failed.
    pub failing_since: Option<DateTime<Utc>>,
    /// The circuit breaker is open until then.
    pub tripped_until: Option<DateTime<Utc>>,
    pub disabled_at: Option<DateTime<Utc>>,
    pub disabled_reason: Option<String>,
    /// Deliveries that are parked because the endpoint is or was disabled.
    pub parked: i64,
    /// The warnings that the owner received, newest first.
    pub notices: Vec<SentNotice>,
}

/// A warning to the owner: this share of the time until the endpoint is disabled had passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentNotice {
    pub percent: i32,
    pub at: DateTime<Utc>,
}

/// The facts that determine an endpoint's status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndpointFacts {
    pub paused: bool,
    pub disabled: bool,
    pub last_delivery_at: Option<DateTime<Utc>>,
    pub last_delivery_succeeded: Option<bool>,
    pub connection_test: ConnectionTest,
    /// The result of the wrongly signed webhook that followed the latest passed test.
    pub forgery_test: Option<ForgeryTest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ConnectionTest {
    NotTested,
    Passed,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndpointStatus {
    Active,
    /// Its latest delivery failed.
    Failing,
    /// By its owner.
    Paused,
    /// By this service: it answered 410, or only failed for days.
    Disabled,
}

/// All endpoints of a business in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndpointsSummary {
    /// The worst status; none without endpoints.
    pub status: Option<EndpointStatus>,
    pub connection_test: ConnectionTest,
    /// The earliest proof that an endpoint accepts signed webhooks and refuses forged ones.
    pub verified: Option<ForgeryTest>,
}

/// The owner's decision comes first, then the service's, then the latest delivery.
pub(crate) fn status(facts: &EndpointFacts) -> EndpointStatus {
    match facts {
        EndpointFacts { paused: true, .. } => EndpointStatus::Paused,
        EndpointFacts { disabled: true, .. } => EndpointStatus::Disabled,
        EndpointFacts { last_delivery_succeeded: Some(false), .. } => EndpointStatus::Failing,
        _ => EndpointStatus::Active,
    }
}

/// One failed connection test makes the summary a failure: that endpoint needs attention.
pub(crate) fn summary(endpoints: &[EndpointFacts]) -> EndpointsSummary {
    let severity = |status: &EndpointStatus| match status {
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
    let passed = endpoints.iter().filter(|endpoint| endpoint.connection_test == ConnectionTest::Passed);
    let refused =
        passed.filter_map(|endpoint| endpoint.forgery_test).filter(|test| test.refused == Some(true));
    let verified = refused.min_by_key(|test| test.at);
    EndpointsSummary { status: endpoints.iter().map(status).max_by_key(severity), connection_test, verified }
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
            forgery_test: None,
        }
    }

    #[test]
    fn the_status_follows_from_the_facts() {
        let untested = ConnectionTest::NotTested;
        for (facts, expected) in [
            (facts(false, false, None, untested), EndpointStatus::Active),
            (facts(false, false, Some(true), untested), EndpointStatus::Active),
            (facts(false, false, Some(false), untested), EndpointStatus::Failing),
            (facts(false, true, Some(false), untested), EndpointStatus::Disabled),
            (facts(true, true, Some(false), untested), EndpointStatus::Paused),
            (facts(true, false, Some(true), untested), EndpointStatus::Paused),
        ] {
            assert_eq!(status(&facts), expected, "{facts:?}");
        }
    }

    #[test]
    fn the_summary_shows_the_worst_endpoint() {
        use ConnectionTest::{Failed, NotTested, Passed};
        let none = EndpointsSummary { status: None, connection_test: NotTested, verified: None };
        assert_eq!(summary(&[]), none);
        let active = facts(false, false, Some(true), NotTested);
        let failing = facts(false, false, Some(false), Failed);
        let paused = facts(true, false, None, Passed);
        let of = |endpoints: &[&EndpointFacts]| {
            let EndpointsSummary { status, connection_test, .. } =
                summary(&endpoints.iter().map(|facts| (*facts).clone()).collect::<Vec<_>>());
            (status.unwrap(), connection_test)
        };
        assert_eq!(of(&[&active]), (EndpointStatus::Active, NotTested));
        assert_eq!(of(&[&active, &failing]), (EndpointStatus::Failing, Failed));
        assert_eq!(of(&[&paused, &active]), (EndpointStatus::Paused, Passed));
        assert_eq!(of(&[&failing, &paused]), (EndpointStatus::Failing, Failed));
    }

    #[test]
    fn verified_means_the_signed_test_was_accepted_and_the_forged_one_refused() {
        let at = DateTime::UNIX_EPOCH;
        let event = EventId::first_of(at);
        let forgery = |refused| ForgeryTest { test_event: event, forged_event: event, refused, at };
        for (connection_test, refused, verified) in [
            (ConnectionTest::Passed, Some(true), true),
            (ConnectionTest::Passed, Some(false), false),
            (ConnectionTest::Passed, None, false),
            (ConnectionTest::Failed, Some(true), false),
        ] {
            let facts = EndpointFacts {
                forgery_test: Some(forgery(refused)),
                ..facts(false, false, None, connection_test)
            };
            assert_eq!(summary(&[facts]).verified.is_some(), verified, "{connection_test} {refused:?}");
        }
    }
}
