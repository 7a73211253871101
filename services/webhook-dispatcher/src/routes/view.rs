//! What is shown of endpoints and deliveries.

use chrono::{DateTime, Utc};
use internal_api::webhooks::{
    AttemptView, CreatedEndpoint as CreatedView, DeliveriesPage, DeliveryDetails, DeliveryView, EndpointView,
    NextSecret, Notice, OrderDeliveryView, RecoveryView, Redelivered as RedeliveredView, SignatureFindings,
    SignatureProblem, TestResult, Trouble as TroubleView,
};
use serde_json::Value;

use crate::app::App;
use crate::commands::{CreatedEndpoint, Redelivered, TestOutcome};
use crate::domain::{
    Attempt, Delivery, Endpoint, Findings, OrderDelivery, Problem, Recovery, Told, Trouble, forgery_problem,
    last_delivery, status,
};
use crate::settings::Patience;
use crate::store::LogPage;

/// What a view depends on beside what is shown.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    now: DateTime<Utc>,
    patience: Patience,
}

impl Moment {
    pub(super) fn of(app: &App) -> Self {
        Self { now: app.clock.now(), patience: app.patience }
    }
}

pub(super) fn of_endpoint(endpoint: Endpoint, moment: Moment) -> EndpointView {
    let staged = endpoint.next_secret_from.filter(|from| *from > moment.now);
    EndpointView {
        next_secret: staged.map(|activates_at| NextSecret { activates_at }),
        status: status(&endpoint.facts),
        last_delivery: last_delivery(&endpoint.facts),
        connection_test: endpoint.facts.connection_test,
        forged_refused: endpoint.facts.forgery.and_then(|forgery| forgery.refused),
        id: endpoint.id,
        url: endpoint.url,
        events: endpoint.events,
        modes: endpoint.modes,
        max_per_second: endpoint.max_per_second,
        parked_deliveries: endpoint.trouble.parked,
        trouble: of_trouble(endpoint.trouble, moment),
        created_at: endpoint.created_at,
    }
}

/// None while all is well.
fn of_trouble(trouble: Trouble, Moment { now, patience }: Moment) -> Option<TroubleView> {
    if trouble.failing_since.is_none() && trouble.disabled_at.is_none() {
        return None;
    }
    let failing = trouble.failing_since.filter(|_| trouble.disabled_at.is_none());
    let notice = |told: Told| Notice { percent: told.percent, at: told.at };
    Some(TroubleView {
        failing_since: trouble.failing_since,
        disables_at: failing.map(|since| since + patience.disable),
        resting_until: trouble.tripped_until.filter(|until| *until > now),
        disabled_at: trouble.disabled_at,
        disabled_reason: trouble.disabled_reason,
        notices: trouble.notices.into_iter().map(notice).collect(),
    })
}

pub(super) fn of_created(created: CreatedEndpoint, moment: Moment) -> CreatedView {
    CreatedView { view: of_endpoint(created.endpoint, moment), secret: created.secret.expose().to_owned() }
}

pub(super) fn of_delivery(delivery: Delivery) -> DeliveryView {
    DeliveryView {
        id: delivery.id,
        endpoint_id: delivery.endpoint_id,
        event_id: delivery.event_id,
        event: delivery.kind,
        mode: delivery.mode,
        order_reference: delivery.order_reference,
        status: delivery.state,
        attempts: delivery.attempts,
        next_attempt_at: delivery.next_attempt_at,
        created_at: delivery.created_at,
        completed_at: delivery.completed_at,
        last_response_status: delivery.last_response_status,
        last_error: delivery.last_error,
        stepped_aside_at: delivery.stepped_aside_at,
    }
}

pub(super) fn of_order_delivery(delivery: OrderDelivery) -> OrderDeliveryView {
    OrderDeliveryView {
        id: delivery.id,
        event_id: delivery.event_id,
        event: delivery.kind,
        endpoint_id: delivery.endpoint_id,
        state: delivery.state,
        attempts: delivery.attempts,
        last_attempt_at: delivery.latest_attempt.map(|attempt| attempt.at),
        last_response_status: delivery.latest_attempt.and_then(|attempt| attempt.response_status),
        last_error: delivery.last_error,
        next_attempt_at: delivery.next_attempt_at,
        created_at: delivery.created_at,
        completed_at: delivery.completed_at,
    }
}

pub(super) fn of_details(delivery: Delivery, body: &[u8], attempts: Vec<(i32, Attempt)>) -> DeliveryDetails {
    DeliveryDetails {
        view: of_delivery(delivery),
        request_body: String::from_utf8_lossy(body).into_owned(),
        attempt_log: attempts.into_iter().map(of_attempt).collect(),
    }
}

fn of_attempt((number, attempt): (i32, Attempt)) -> AttemptView {
    AttemptView {
        number,
        succeeded: attempt.succeeded(),
        method: "POST".to_owned(),
        url: attempt.url,
        started_at: attempt.started_at,
        duration_ms: attempt.duration_ms,
        response_status: attempt.response_status.map(i32::from),
        error: attempt.error,
        request_headers: json_object(&attempt.request_headers),
        response_headers: json_object(&attempt.response_headers),
        response_body: attempt.response_body,
    }
}

/// The text is one that was written by us; what cannot be read is shown as it is.
fn json_object(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

pub(super) fn of_test(outcome: TestOutcome) -> TestResult {
    let forged = outcome.forged.as_ref();
    TestResult {
        event_id: outcome.event,
        succeeded: outcome.attempt.succeeded(),
        response_status: outcome.attempt.response_status.map(i32::from),
        duration_ms: outcome.attempt.duration_ms,
        error: outcome.attempt.error,
        forged_refused: forged.and_then(|forged| forged.refused),
        forged_event_id: forged.map(|forged| forged.event),
        forged_response_status: forged.and_then(|forged| forged.status).map(i32::from),
        forged_problem: forged.and_then(|forged| forgery_problem(forged.refused, forged.status)),
    }
}

pub(super) fn of_redelivered(redelivered: Redelivered) -> RedeliveredView {
    RedeliveredView { view: of_delivery(redelivered.delivery), redelivery: redelivered.how }
}

pub(super) fn of_log(page: LogPage) -> DeliveriesPage {
    DeliveriesPage {
        data: page.deliveries.into_iter().map(of_delivery).collect(),
        has_more: page.continue_after.is_some(),
        continue_after: page.continue_after,
    }
}

pub(super) fn of_recovery(recovery: Recovery) -> RecoveryView {
    RecoveryView {
        id: recovery.id,
        endpoint_id: recovery.endpoint_id,
        status: recovery.state,
        since: recovery.since,
        until: recovery.until,
        total: recovery.total,
        done: recovery.done,
        created_at: recovery.created_at,
        ended_at: recovery.ended_at,
    }
}

pub(super) fn of_findings(findings: Findings, received: String) -> SignatureFindings {
    let problem = |found: Problem| SignatureProblem { code: found.code.to_owned(), message: found.message };
    SignatureFindings {
        matches: findings.matches,
        string_to_sign: String::from_utf8_lossy(&findings.string_to_sign).into_owned(),
        expected: findings.expected,
        received,
        problems: findings.problems.into_iter().map(problem).collect(),
    }
}
