//! Responses: maps domain types to the types of `internal_api`.

use chrono::{DateTime, TimeDelta, Utc};
use internal_api::webhooks::{
    self as wire, AttemptView, CreatedEndpoint as CreatedView, DeliveriesPage, DeliveryDetails, DeliveryView,
    EndpointView, LastDelivery, NextSecret, Notice, OrderDeliveryView, RecoveryView,
    Redelivered as RedeliveredView, Redelivery, SignatureFindings, SignatureProblem, TestResult, Trouble,
    WebhookSummary, WebhookVerified,
};
use serde_json::Value;

use crate::commands::{CreatedEndpoint, Redelivered, RedeliveryEffect, TestOutcome};
use crate::domain::{
    Attempt, ConnectionTest, Delivery, DeliveryState, Endpoint, EndpointFacts, EndpointHealth,
    EndpointStatus, EndpointsSummary, Findings, LogPage, OrderDelivery, Problem, Recovery, RecoveryState,
    SentNotice, forgery_problem, status,
};
use crate::state::State;

/// Values that views of endpoints depend on.
#[derive(Clone, Copy)]
pub(super) struct ViewContext {
    now: DateTime<Utc>,
    disable_after: TimeDelta,
}

impl ViewContext {
    pub(super) fn of(state: &State) -> Self {
        Self { now: state.unit.clock.now(), disable_after: state.disable_after }
    }
}

pub(super) fn of_endpoint(endpoint: Endpoint, context: ViewContext) -> EndpointView {
    let staged = endpoint.next_secret_from.filter(|from| *from > context.now);
    EndpointView {
        next_secret: staged.map(|activates_at| NextSecret { activates_at }),
        status: endpoint_status(status(&endpoint.facts)),
        last_delivery: last_delivery(&endpoint.facts),
        connection_test: connection_test(endpoint.facts.connection_test),
        forged_refused: endpoint.facts.forgery_test.and_then(|test| test.refused),
        id: endpoint.id,
        url: endpoint.url,
        events: endpoint.events,
        modes: endpoint.modes,
        max_per_second: endpoint.max_per_second,
        parked_deliveries: endpoint.health.parked,
        trouble: of_health(endpoint.health, context),
        created_at: endpoint.created_at,
    }
}

/// None for a healthy endpoint.
fn of_health(health: EndpointHealth, ViewContext { now, disable_after }: ViewContext) -> Option<Trouble> {
    if health.failing_since.is_none() && health.disabled_at.is_none() {
        return None;
    }
    let failing = health.failing_since.filter(|_| health.disabled_at.is_none());
    let notice = |sent: SentNotice| Notice { percent: sent.percent, at: sent.at };
    Some(Trouble {
        failing_since: health.failing_since,
        disables_at: failing.map(|since| since + disable_after),
        resting_until: health.tripped_until.filter(|until| *until > now),
        disabled_at: health.disabled_at,
        disabled_reason: health.disabled_reason,
        notices: health.notices.into_iter().map(notice).collect(),
    })
}

fn last_delivery(facts: &EndpointFacts) -> LastDelivery {
    let label = match facts.last_delivery_succeeded {
        None => "Never",
        Some(true) => "Succeeded",
        Some(false) => "Failed",
    };
    LastDelivery { at: facts.last_delivery_at, label: label.to_owned() }
}

fn endpoint_status(status: EndpointStatus) -> wire::EndpointStatus {
    match status {
        EndpointStatus::Active => wire::EndpointStatus::Active,
        EndpointStatus::Failing => wire::EndpointStatus::Failing,
        EndpointStatus::Paused => wire::EndpointStatus::Paused,
        EndpointStatus::Disabled => wire::EndpointStatus::Disabled,
    }
}

fn connection_test(test: ConnectionTest) -> wire::ConnectionTest {
    match test {
        ConnectionTest::NotTested => wire::ConnectionTest::NotTested,
        ConnectionTest::Passed => wire::ConnectionTest::Passed,
        ConnectionTest::Failed => wire::ConnectionTest::Failed,
    }
}

fn delivery_state(state: DeliveryState) -> wire::DeliveryState {
    match state {
        DeliveryState::Pending => wire::DeliveryState::Pending,
        DeliveryState::Succeeded => wire::DeliveryState::Succeeded,
        DeliveryState::Failed => wire::DeliveryState::Failed,
        DeliveryState::Discarded => wire::DeliveryState::Discarded,
        DeliveryState::Parked => wire::DeliveryState::Parked,
    }
}

pub(super) fn of_summary(summary: EndpointsSummary) -> WebhookSummary {
    WebhookSummary {
        status: summary.status.map(endpoint_status),
        connection_test: connection_test(summary.connection_test),
        verified: summary.verified.map(|test| WebhookVerified {
            at: test.at,
            test_event_id: test.test_event,
            forged_event_id: test.forged_event,
        }),
    }
}

pub(super) fn of_created(created: CreatedEndpoint, context: ViewContext) -> CreatedView {
    CreatedView { view: of_endpoint(created.endpoint, context), secret: created.secret.expose().to_owned() }
}

pub(super) fn of_delivery(delivery: Delivery) -> DeliveryView {
    DeliveryView {
        id: delivery.id,
        endpoint_id: delivery.endpoint_id,
        event_id: delivery.event_id,
        event: delivery.kind,
        mode: delivery.mode,
        order_reference: delivery.order_reference,
        status: delivery_state(delivery.state),
        attempts: delivery.attempts,
        next_attempt_at: delivery.next_attempt_at,
        created_at: delivery.created_at,
        completed_at: delivery.completed_at,
        last_response_status: delivery.last_response_status,
        last_error: delivery.last_error,
        stepped_aside_at: delivery.skipped_at,
    }
}

pub(super) fn of_order_delivery(delivery: OrderDelivery) -> OrderDeliveryView {
    OrderDeliveryView {
        id: delivery.id,
        event_id: delivery.event_id,
        event: delivery.kind,
        endpoint_id: delivery.endpoint_id,
        state: delivery_state(delivery.state),
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

/// The service wrote the text. If it is not JSON nevertheless, it is shown as a string.
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
    RedeliveredView { view: of_delivery(redelivered.delivery), redelivery: redelivery(redelivered.effect) }
}

fn redelivery(effect: RedeliveryEffect) -> Redelivery {
    match effect {
        RedeliveryEffect::Queued => Redelivery::Queued,
        RedeliveryEffect::BroughtForward => Redelivery::BroughtForward,
        RedeliveryEffect::InFlight => Redelivery::UnderWay,
        RedeliveryEffect::Waiting => Redelivery::WaitsItsTurn,
    }
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
        status: recovery_state(recovery.state),
        since: recovery.since,
        until: recovery.until,
        total: recovery.total,
        done: recovery.done,
        created_at: recovery.created_at,
        ended_at: recovery.ended_at,
    }
}

fn recovery_state(state: RecoveryState) -> wire::RecoveryState {
    match state {
        RecoveryState::Running => wire::RecoveryState::Running,
        RecoveryState::Completed => wire::RecoveryState::Completed,
        RecoveryState::Cancelled => wire::RecoveryState::Cancelled,
    }
}

pub(super) fn of_findings(findings: Findings, received: String) -> SignatureFindings {
    let problem = |found: Problem| SignatureProblem { code: found.code.to_owned(), message: found.message };
    SignatureFindings {
        matches: findings.matches,
        string_to_sign: String::from_utf8_lossy(&findings.string_to_sign).into_owned(),
        received,
        problems: findings.problems.into_iter().map(problem).collect(),
    }
}
