//! The JSON of orders and their events.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{CodStatus, DeliveryStatus, Mode, OrderId, Paise, TrackingCode};
use internal_api::Page;
use internal_api::orders::{
    AcceptedRequest, CorrectionView, ErasureView, ExceptionCounts, ExceptionLimits, MoneyView,
    OrderEventView, OrderView, ReattemptView, SimulatedOrderView, SimulationView, TimelineEntry,
    TimelinePage, WebhookOutcomeView, details, reason_code,
};
use internal_api::wallet::EntryView;
use internal_api::webhooks::OrderDeliveryView;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::commands::simulate_progress::Simulated;
use crate::domain::{
    AcceptedOrder, AttemptRules, BusinessErasure, Corrected, Decided, Decision, Order, OrderEvent, Patience,
    TrackingUrls, Warning, corrections, without_corrections,
};
use crate::queries::Timeline;

/// For the business of the order.
pub(super) fn order_view(tracking_urls: &TrackingUrls, rules: AttemptRules, order: Order) -> OrderView {
    let (cod_discrepancy_paise, cod_difference_paise) = (order.cod_discrepancy(), order.cod_difference());
    let refunded_paise = order.refunded();
    let reattempt_possible = Decision::Reattempt { on: None }.refusal(&order, rules.max).is_none();
    let reattempt_fee_paise = if reattempt_possible { rules.fee_of_reattempt(&order) } else { Paise::ZERO };
    let (reattempt, return_requested_at) = asked(&order);
    let return_requested_by = return_requested_at.and(requested_by(&order));
    let corrections = corrections(&order.details).into_iter().map(correction_view).collect();
    let mut details = Arc::unwrap_or_clone(order.details);
    let mut section = |name: &str| details.get_mut(name).map(Value::take).unwrap_or_default();
    OrderView {
        id: order.id,
        service_order_id: order.id,
        customer: section("customer"),
        delivery: section("delivery"),
        pickup: section("pickup"),
        package: section("package"),
        payment: section("payment"),
        notes: without_reattempt_note(section("notes")),
        tracking_url: tracking_urls.of(&order.tracking_code),
        order_reference: order.order_reference,
        order_source: order.order_source,
        tracking_code: order.tracking_code,
        status: order.state.status,
        cod_status: order.state.cod,
        mode: order.mode,
        fee_charged_paise: match order.mode {
            Mode::Live => order.delivery_fee,
            Mode::Test => Paise::ZERO,
        },
        refunded_paise,
        driver: order.driver.unwrap_or_default(),
        reason: order.reason,
        reason_code: order.reason_code,
        failed_attempts: order.state.failed_attempts,
        reattempt,
        reattempt_possible,
        reattempt_fee_paise,
        reattempt_fees_paise: order.paid.fees,
        return_requested_at,
        return_requested_by,
        corrections,
        cod_collected_paise: order.cash.collected,
        cod_handed_over_paise: order.cash.handed_over,
        cod_settled_paise: order.cash.settled,
        cod_discrepancy_paise,
        cod_difference_paise,
        created_at: order.created_at,
        updated_at: order.updated_at,
        personal_data_erased_at: order.personal_data_erased_at,
    }
}

fn correction_view(Corrected { at, key_id, fields }: Corrected) -> CorrectionView {
    CorrectionView { corrected_at: at, key_id, fields }
}

/// The attempt and the return that the business asked for: at most one of them.
fn asked(order: &Order) -> (Option<ReattemptView>, Option<DateTime<Utc>>) {
    match order.decided {
        Some(Decided { decision: Decision::Reattempt { on }, at: requested_at, fee: fee_paise, .. }) => {
            let number = order.next_attempt();
            let note = order.reattempt_note().map(str::to_owned);
            let requested_by = requested_by(order);
            (Some(ReattemptView { on, number, note, fee_paise, requested_at, requested_by }), None)
        }
        Some(Decided { decision: Decision::Return, at, .. }) => (None, Some(at)),
        None => (None, None),
    }
}

fn requested_by(order: &Order) -> Option<String> {
    order.decided.and_then(|decided| decided.by).map(|by| by.to_string())
}

/// The note of another attempt is shown with that attempt.
fn without_reattempt_note(mut notes: Value) -> Value {
    if let Some(notes) = notes.as_object_mut() {
        notes.remove("reattemptNote");
    }
    notes
}

pub(super) fn erasure_view(erasure: BusinessErasure) -> ErasureView {
    ErasureView {
        requested_at: erasure.requested_at,
        erased: erasure.erased,
        not_completed: erasure.not_completed,
        completed_at: erasure.completed_at,
        everything: erasure.everything,
    }
}

/// The stored part of the request that created an order: the validated body with its completed pickup, and without later
/// corrections. Headers, exact bytes and unknown fields are not stored.
pub(super) fn accepted_request(accepted: AcceptedOrder) -> AcceptedRequest {
    let AcceptedOrder { order, idempotency_key, request_id, key_id } = accepted;
    let personal_data_erased_at = order.personal_data_erased_at;
    let mut body = json!({ "orderReference": order.order_reference, "orderSource": order.order_source });
    if let (Some(body), Value::Object(mut details)) =
        (body.as_object_mut(), without_corrections(&order.details))
    {
        if let Some(notes) = details.get_mut("notes") {
            *notes = without_reattempt_note(notes.take());
        }
        body.extend(details);
    }
    AcceptedRequest {
        request_id,
        // A takeover keeps the time of the first request.
        received_at: request_id.time(),
        idempotency_key,
        body,
        key_id,
        personal_data_erased_at,
    }
}

/// Merges the entries of all sources by time, and cuts the page.
pub(super) fn timeline_page(found: Timeline, limit: usize) -> TimelinePage {
    let moves = found.moves.into_iter().map(|event| TimelineEntry::Status(event_view(event)));
    let money = found.money.into_iter().map(|line| TimelineEntry::Money(money_view(line)));
    let webhooks = found.webhooks.into_iter().map(|sent| TimelineEntry::Webhook(webhook_view(sent)));
    let mut entries: Vec<_> = moves.chain(money).chain(webhooks).collect();
    entries.sort_by_cached_key(TimelineEntry::position);
    let page = Page::cut(entries, limit);
    let incomplete = found.incomplete.into_iter().map(str::to_owned).collect();
    TimelinePage { data: page.data, has_more: page.has_more, incomplete }
}

fn money_view(line: EntryView) -> MoneyView {
    MoneyView {
        id: line.transfer_id,
        kind: line.kind,
        amount_paise: line.amount_paise,
        owed_paise: line.owed_paise,
        balance_after_paise: line.balance_after_paise,
        recorded_at: line.created_at,
    }
}

pub(super) fn webhook_view(sent: OrderDeliveryView) -> WebhookOutcomeView {
    WebhookOutcomeView {
        id: sent.id,
        event_id: sent.event_id,
        event: sent.event,
        endpoint_id: sent.endpoint_id,
        status: sent.state,
        state: sent.state,
        attempts: sent.attempts,
        last_attempt_at: sent.last_attempt_at,
        last_response_status: sent.last_response_status,
        last_error: sent.last_error,
        next_attempt_at: sent.next_attempt_at,
        completed_at: sent.completed_at,
        recorded_at: sent.created_at,
    }
}

pub(super) fn simulated_view(
    tracking_urls: &TrackingUrls,
    rules: AttemptRules,
    simulated: Simulated,
) -> SimulatedOrderView {
    let state = simulated.order.state;
    SimulatedOrderView {
        legal: state.legal(rules.max),
        simulation: simulated.run.map(|run| SimulationView {
            scenario: run.scenario.to_string(),
            next_event: run.scenario.next(state, run.steps_done),
            next_at: run.next_at,
        }),
        order: order_view(tracking_urls, rules, simulated.order),
    }
}

fn event_view(event: OrderEvent) -> OrderEventView {
    OrderEventView {
        id: event.id,
        event: event.kind,
        sequence: event.sequence,
        status: event.status,
        cod_status: event.cod_status,
        occurred_at: event.occurred_at,
        recorded_at: event.recorded_at,
        data: event.data,
    }
}

/// An order as the fleet sees it: without the business's own notes and money, but for the fee of a requested attempt.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FleetOrder)]
pub(super) struct FleetOrderView {
    id: OrderId,
    /// The business's id of the order.
    order_reference: String,
    tracking_code: TrackingCode,
    status: DeliveryStatus,
    cod_status: CodStatus,
    /// The cash to collect; 0 for none.
    cod_amount_paise: Paise,
    /// A reported amount that differs from the cash to collect.
    cod_discrepancy_paise: Option<Paise>,
    /// That amount minus the cash to collect. Null once the whole amount is settled.
    cod_difference_paise: Option<Paise>,
    #[schema(value_type = details::Customer)]
    customer: Value,
    #[schema(value_type = details::DeliveryAddress)]
    delivery: Value,
    #[schema(value_type = Option<details::PickupPlace>)]
    pickup: Value,
    #[schema(value_type = details::Package)]
    package: Value,
    /// From the customer to the driver.
    #[schema(value_type = Option<String>)]
    customer_note: Value,
    #[schema(value_type = Option<details::DriverView>)]
    driver: Option<Value>,
    /// Why the delivery failed, was cancelled or returned.
    reason: Option<String>,
    #[schema(schema_with = reason_code)]
    reason_code: Option<String>,
    /// The attempts that failed after the pickup.
    failed_attempts: u32,
    /// The attempt that the business asks for.
    reattempt: Option<ReattemptView>,
    /// When the business asked for the parcel. Bring it back, then report `order.returned`.
    return_requested_at: Option<DateTime<Utc>>,
    /// When the first request for the order arrived.
    created_at: DateTime<Utc>,
    /// When the order last changed.
    updated_at: DateTime<Utc>,
    /// When the order's personal data was erased; null before.
    personal_data_erased_at: Option<DateTime<Utc>>,
}

/// The order after a report, and the warnings about that report.
#[derive(Serialize, ToSchema)]
#[schema(as = ReportedOrder)]
pub(super) struct ReportedOrderView {
    #[serde(flatten)]
    order: FleetOrderView,
    /// Parts of the report that were recorded, but may be wrong.
    warnings: Vec<Warning>,
}

/// The warnings depend only on the report and the order, so a repeated report gets the same ones.
pub(super) fn reported_view(order: Order, occurred_at: DateTime<Utc>) -> ReportedOrderView {
    let warnings = Warning::of_early_report(occurred_at, order.created_at).into_iter().collect();
    ReportedOrderView { order: fleet_view(order), warnings }
}

pub(super) fn fleet_view(order: Order) -> FleetOrderView {
    let (cod_discrepancy_paise, cod_difference_paise) = (order.cod_discrepancy(), order.cod_difference());
    let (reattempt, return_requested_at) = asked(&order);
    let mut details = Arc::unwrap_or_clone(order.details);
    let customer_note = details.pointer_mut("/notes/customerNote").map(Value::take).unwrap_or_default();
    let mut section = |name: &str| details.get_mut(name).map(Value::take).unwrap_or_default();
    FleetOrderView {
        id: order.id,
        customer: section("customer"),
        delivery: section("delivery"),
        pickup: section("pickup"),
        package: section("package"),
        customer_note,
        order_reference: order.order_reference,
        tracking_code: order.tracking_code,
        status: order.state.status,
        cod_status: order.state.cod,
        cod_amount_paise: order.cod_amount,
        cod_discrepancy_paise,
        cod_difference_paise,
        driver: order.driver,
        reason: order.reason,
        reason_code: order.reason_code,
        failed_attempts: order.state.failed_attempts,
        reattempt,
        return_requested_at,
        created_at: order.created_at,
        updated_at: order.updated_at,
        personal_data_erased_at: order.personal_data_erased_at,
    }
}

pub(super) fn exception_counts(counts: crate::domain::ExceptionCounts) -> ExceptionCounts {
    ExceptionCounts { failed: counts.failed, unassigned: counts.unassigned, stuck: counts.stuck }
}

pub(super) fn exception_limits(patience: Patience) -> ExceptionLimits {
    let minutes = |of: TimeDelta| u32::try_from(of.num_minutes()).unwrap_or(u32::MAX);
    ExceptionLimits {
        unassigned_minutes: minutes(patience.unassigned),
        silent_minutes: minutes(patience.silent),
    }
}
