//! Answers of the fake peers, built from the shared types, so that a renamed field does not compile.

use std::str::FromStr;

use chrono::NaiveDate;
use domain::{CodStatus, DeliveryStatus, Entropy, EventKind, Mode, Paise, TrackingCode};
use internal_api::Page;
use internal_api::cash::{CashAge, CashOverview, CashTotals, CashView};
use internal_api::keys::{ApiKeyView, CreatedApiKey, RevokedApiKey};
use internal_api::orders::{
    BusinessEventView, BusinessEventsPage, EvidenceAttempt, EvidenceOrder, EvidenceView, ExceptionCounts,
    ExceptionLimits, ExceptionOrder, ExceptionsPage, OrderEventView, OrderView, SimulatedOrderView,
    SimulationView, TimelineEntry, TimelinePage,
};
use internal_api::wallet::{EntryView, SpendDay, SpendView, StatementTotalsView, TopUpView};
use internal_api::webhooks::{
    ConnectionTest, CreatedEndpoint, DeliveriesPage, DeliveryDetails, DeliveryState, DeliveryView,
    EndpointStatus, EndpointView, LastDelivery, RecoveryState, RecoveryView, Redelivered, Redelivery,
    SignatureFindings, SignatureProblem, TestResult,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::peers::{answer_of, at};

pub(crate) const KEY: &str = "key_01ARZ3NDEKTSV4RRFFQ69G5FAV";
pub(crate) const ORDER: &str = "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV";
pub(crate) const ENDPOINT: &str = "whe_01ARZ3NDEKTSV4RRFFQ69G5FAV";
pub(crate) const DELIVERY: &str = "whd_01ARZ3NDEKTSV4RRFFQ69G5FAV";
pub(crate) const RECOVERY: &str = "whr_01ARZ3NDEKTSV4RRFFQ69G5FAV";
const EVENT: &str = "evt_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// An id from its text.
fn id<T: FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// The only page of a list of one.
pub(crate) fn page<T: Serialize>(of: T) -> Value {
    answer_of(&Page { data: vec![of], has_more: false })
}

pub(crate) fn key() -> ApiKeyView {
    ApiKeyView {
        id: id(KEY),
        mode: Mode::Test,
        name: "Shop".to_owned(),
        prefix: "sk_test_waybill_".to_owned(),
        last_four: "abcd".to_owned(),
        created_at: at(),
        last_used_at: None,
        revoked_at: None,
        expires_at: None,
        replaces: None,
        in_grace_period: Some(false),
        created_by: None,
        scopes: None,
        ip_allow_list: None,
    }
}

pub(crate) fn revoked_key() -> RevokedApiKey {
    RevokedApiKey { view: key(), also_revoked: Vec::new() }
}

pub(crate) fn created_key(key_text: &str) -> CreatedApiKey {
    CreatedApiKey { view: key(), key: key_text.to_owned() }
}

pub(crate) fn order() -> OrderView {
    OrderView {
        id: id(ORDER),
        service_order_id: id(ORDER),
        order_reference: "shop-1".to_owned(),
        order_source: "business_website".to_owned(),
        tracking_code: TrackingCode::generate(Mode::Test, &Entropy::seeded(5)),
        tracking_url: "http://t.test".to_owned(),
        status: DeliveryStatus::Created,
        cod_status: CodStatus::NotApplicable,
        mode: Mode::Test,
        customer: json!({}),
        delivery: json!({}),
        pickup: json!({}),
        package: json!({}),
        payment: json!({}),
        notes: json!({}),
        fee_charged_paise: Paise::ZERO,
        refunded_paise: Paise::ZERO,
        driver: Value::Null,
        reason: None,
        reason_code: None,
        failed_attempts: 0,
        reattempt: None,
        reattempt_possible: false,
        reattempt_fee_paise: Paise::ZERO,
        reattempt_fees_paise: Paise::ZERO,
        return_requested_at: None,
        return_requested_by: None,
        corrections: Vec::new(),
        cod_collected_paise: None,
        cod_handed_over_paise: None,
        cod_settled_paise: None,
        cod_discrepancy_paise: None,
        cod_difference_paise: None,
        created_at: at(),
        updated_at: at(),
        personal_data_erased_at: None,
    }
}

pub(crate) fn evidence() -> EvidenceView {
    let attempt = EvidenceAttempt {
        attempt: 1,
        event: EventKind::OrderDelivered,
        sequence: 5,
        report_id: "run-7-4".to_owned(),
        occurred_at: at(),
        recorded_at: at(),
        reason: None,
        reason_code: None,
        captured_at: None,
        place: None,
        recipient_name: None,
        recipient_relation: Some("guard".to_owned()),
        code_verified: Some(true),
        photo: None,
        previous_hash: None,
        hash: "ab".repeat(32),
        record: "{}".to_owned(),
        personal: None,
    };
    let order = order();
    EvidenceView {
        order: EvidenceOrder {
            id: order.id,
            order_reference: order.order_reference,
            tracking_code: order.tracking_code,
            mode: order.mode,
            status: order.status,
            created_at: order.created_at,
            personal_data_erased_at: None,
        },
        attempts: vec![attempt],
        intact: true,
        verification: "As here.".to_owned(),
    }
}

pub(crate) fn exceptions() -> ExceptionsPage {
    let counts = ExceptionCounts { failed: 1, unassigned: 0, stuck: 2 };
    let limits = Some(ExceptionLimits { unassigned_minutes: 30, silent_minutes: 240 });
    let order = ExceptionOrder { order: order(), since: Some(at()) };
    ExceptionsPage { counts, attempts_max: 3, limits, data: vec![order], has_more: false }
}

pub(crate) fn simulated() -> SimulatedOrderView {
    let (next_event, next_at) = (Some(EventKind::DriverAssigned), at());
    let simulation = SimulationView { scenario: "delivered".to_owned(), next_event, next_at };
    SimulatedOrderView {
        order: order(),
        legal: vec![EventKind::DriverAssigned],
        simulation: Some(simulation),
    }
}

pub(crate) fn timeline() -> TimelinePage {
    let created = OrderEventView {
        id: id(EVENT),
        event: EventKind::OrderCreated,
        sequence: 1,
        status: DeliveryStatus::Created,
        cod_status: CodStatus::NotApplicable,
        occurred_at: at(),
        recorded_at: at(),
        data: json!({}),
    };
    TimelinePage { data: vec![TimelineEntry::Status(created)], has_more: false, incomplete: vec![] }
}

pub(crate) fn events() -> BusinessEventsPage {
    let created = BusinessEventView {
        id: id(EVENT),
        event: EventKind::OrderCreated,
        sequence: 1,
        mode: Mode::Test,
        order_id: id(ORDER),
        order_reference: "ref-1".to_owned(),
        occurred_at: at(),
        recorded_at: at(),
        deliveries: vec![],
    };
    BusinessEventsPage {
        data: vec![created],
        has_more: true,
        continue_after: Some(id(EVENT)),
        incomplete: vec![],
    }
}

pub(crate) fn endpoint() -> EndpointView {
    EndpointView {
        id: id(ENDPOINT),
        url: "https://shop.example/hook".to_owned(),
        events: vec![EventKind::OrderCreated],
        modes: vec![Mode::Test],
        status: EndpointStatus::Active,
        last_delivery: LastDelivery { at: None, label: "Never".to_owned() },
        connection_test: ConnectionTest::NotTested,
        forged_refused: None,
        next_secret: None,
        max_per_second: None,
        parked_deliveries: 0,
        trouble: None,
        created_at: at(),
    }
}

pub(crate) fn created_endpoint(secret: &str) -> CreatedEndpoint {
    CreatedEndpoint { view: endpoint(), secret: secret.to_owned() }
}

fn delivery() -> DeliveryView {
    DeliveryView {
        id: id(DELIVERY),
        endpoint_id: id(ENDPOINT),
        event_id: id(EVENT),
        event: EventKind::OrderCreated,
        mode: Mode::Test,
        order_reference: Some("shop-1".to_owned()),
        status: DeliveryState::Pending,
        attempts: 0,
        next_attempt_at: None,
        created_at: at(),
        completed_at: None,
        last_response_status: None,
        last_error: None,
        stepped_aside_at: None,
    }
}

pub(crate) fn deliveries() -> DeliveriesPage {
    DeliveriesPage { data: vec![delivery()], has_more: true, continue_after: Some(id(DELIVERY)) }
}

pub(crate) fn delivery_details() -> DeliveryDetails {
    DeliveryDetails { view: delivery(), request_body: "{}".to_owned(), attempt_log: vec![] }
}

pub(crate) fn redelivered() -> Redelivered {
    Redelivered { view: delivery(), redelivery: Redelivery::Queued }
}

pub(crate) fn recovery() -> RecoveryView {
    RecoveryView {
        id: id(RECOVERY),
        endpoint_id: id(ENDPOINT),
        status: RecoveryState::Running,
        since: at(),
        until: at(),
        total: 3,
        done: 1,
        created_at: at(),
        ended_at: None,
    }
}

pub(crate) fn findings() -> SignatureFindings {
    let message = "No usual mistake explains it.".to_owned();
    SignatureFindings {
        matches: false,
        string_to_sign: "1.{}".to_owned(),
        received: "sha256=b".to_owned(),
        problems: vec![SignatureProblem { code: "unexplained".to_owned(), message }],
    }
}

pub(crate) fn test_result() -> TestResult {
    TestResult {
        event_id: id(EVENT),
        succeeded: true,
        response_status: Some(200),
        duration_ms: 7,
        error: None,
        forged_refused: Some(true),
        forged_event_id: Some(id("evt_01ARZ3NDEKTSV4RRFFQ69G5FAW")),
        forged_response_status: Some(401),
        forged_problem: None,
    }
}

pub(crate) fn entry() -> EntryView {
    EntryView {
        id: "1".to_owned(),
        transfer_id: id("trf_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        kind: "top_up".to_owned(),
        amount_paise: Paise::new(100),
        owed_paise: Paise::ZERO,
        balance_after_paise: Paise::new(100),
        order_id: None,
        order_reference: None,
        reverses: None,
        reference: None,
        reason: None,
        takes_back: None,
        left_paise: Some(Paise::new(100)),
        created_at: at(),
    }
}

pub(crate) fn statement_totals() -> StatementTotalsView {
    let (since, until) = (at(), at());
    let [opening_paise, in_paise, out_paise] = [500, 100, -200].map(Paise::new);
    let [owed_paise, closing_paise] = [0, 400].map(Paise::new);
    StatementTotalsView {
        since,
        until,
        opening_paise,
        in_paise,
        out_paise,
        owed_paise,
        closing_paise,
        entries: 3,
    }
}

pub(crate) fn spend() -> SpendView {
    let date = NaiveDate::from_ymd_opt(2026, 1, 1).unwrap();
    let [fees_paise, attempt_fees_paise, refunds_paise] = [100, 30, 0].map(Paise::new);
    let day = SpendDay { date, fees_paise, attempt_fees_paise, refunds_paise, orders: 1 };
    SpendView { time_zone: "UTC".to_owned(), days: vec![day] }
}

pub(crate) fn top_up() -> TopUpView {
    TopUpView {
        id: id("top_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        amount_paise: Paise::new(100),
        status: "succeeded".to_owned(),
        provider: "sandbox".to_owned(),
        balance_paise: Paise::new(100),
        created_at: at(),
        checkout: None,
    }
}

pub(crate) fn cash() -> CashOverview {
    let amount = Paise::new(1_000);
    let order = CashView {
        order_id: id(ORDER),
        business_id: id("biz_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        order_reference: "shop-1".to_owned(),
        status: "collected".to_owned(),
        expected_paise: Some(Paise::new(1_100)),
        delivered_at: Some(at()),
        collected_paise: Some(amount),
        collected_at: Some(at()),
        handed_over_paise: None,
        handed_over_at: None,
        settled_paise: None,
        settled_at: None,
        due_since: at(),
        discrepant: true,
        difference_paise: Some(Paise::new(-100)),
        difference_state: Some("open".to_owned()),
        promised_on: NaiveDate::from_ymd_opt(2026, 1, 8),
        remittance: None,
        reported_settled_paise: None,
        difference: None,
    };
    let totals = CashTotals {
        outstanding_paise: amount,
        pending_paise: Paise::ZERO,
        with_drivers_paise: amount,
        handed_over_short_paise: Paise::ZERO,
        with_operator_paise: Paise::ZERO,
        settled_recently_paise: Paise::new(7),
        discrepancies: 1,
        late_orders: 1,
        late_paise: amount,
        ages: vec![CashAge { days: "0-1".to_owned(), orders: 1, amount_paise: amount }],
    };
    CashOverview { totals, data: vec![order], has_more: false }
}
