//! Reports of the fleet: all errors are named, a repeated report changes nothing, times may be out of order, and wrong
//! amounts of cash are recorded and shown.

use chrono::{DateTime, TimeDelta, Utc};
use demo::SAMPLE_CASH_PAISE;
use demo::clients::{COD_DELIVERY, Reply};
use domain::Paise;
use internal_api::orders::OrdersClient;
use internal_api::{Peer, PeerOptions};
use reqwest::Method;
use serde_json::{Value, json};
use url::Url;

use crate::business::Business;
use test_kit::smallest_order;

use crate::events::Received;
use crate::harness::{OrderApi, text};

const AT: &str = "2026-01-31T09:30:00Z";

#[tokio::test(flavor = "multi_thread")]
async fn the_fleet_reports() -> anyhow::Result<()> {
    let service = OrderApi::connected().await;
    let received = service.listen().await;
    let business = service.business(1_000_000);
    every_fault_of_a_report_is_named(&business).await?;
    refusals_say_why_and_are_not_remembered(&business).await?;
    times_may_come_out_of_order(&business).await?;
    a_report_from_before_its_order_is_recorded_with_a_warning(&business).await?;
    cash_that_does_not_add_up_is_shown(&service, &business, &received).await
}

fn report(event_id: &str, event: &str) -> Value {
    json!({ "eventId": event_id, "event": event, "occurredAt": AT })
}

fn with(mut report: Value, name: &str, value: Value) -> Value {
    report[name] = value;
    report
}

fn field_errors(reply: &Reply) -> Vec<(String, String)> {
    let text = |error: &Value, name: &str| error[name].as_str().unwrap_or_default().to_owned();
    let errors = reply.body["errors"].as_array().cloned().unwrap_or_default();
    errors.iter().map(|error| (text(error, "field"), text(error, "code"))).collect()
}

async fn place(business: &Business, reference: &str) -> anyhow::Result<String> {
    Ok(text(&business.live()?.create(reference, &smallest_order(reference)).await?.expect(201)?, "id"))
}

async fn every_fault_of_a_report_is_named(business: &Business) -> anyhow::Result<()> {
    let order = place(business, "faults").await?;
    let good = || report("faulty", "driver.assigned");
    for (body, field, code) in [
        (with(good(), "eventId", json!(null)), "eventId", "required"),
        (with(good(), "eventId", json!(" ")), "eventId", "required"),
        (with(good(), "eventId", json!(7)), "eventId", "invalid_type"),
        (with(good(), "eventId", json!("x".repeat(129))), "eventId", "too_long"),
        (with(good(), "eventId", json!("a\u{0}b")), "eventId", "invalid_format"),
        (with(good(), "event", json!(null)), "event", "required"),
        (with(good(), "event", json!("order.lost")), "event", "invalid_value"),
        (with(good(), "event", json!("order.created")), "event", "invalid_value"),
        (with(good(), "event", json!("auto")), "event", "invalid_value"),
        (with(good(), "event", json!(["order.failed"])), "event", "invalid_type"),
        (with(good(), "occurredAt", json!(null)), "occurredAt", "required"),
        (with(good(), "occurredAt", json!("yesterday")), "occurredAt", "invalid_format"),
        (with(good(), "occurredAt", json!("2026-01-31 09:30")), "occurredAt", "invalid_format"),
        (with(good(), "occurredAt", json!(1_769_851_800)), "occurredAt", "invalid_type"),
        (with(good(), "occurredAt", json!("2999-01-01T00:00:00Z")), "occurredAt", "out_of_range"),
        (with(good(), "occurredAt", json!("0000-01-01T00:00:00+05:30")), "occurredAt", "invalid_format"),
        (with(good(), "driver", json!("Ravi")), "driver", "invalid_type"),
        (with(good(), "driver", json!({ "phone": "1" })), "driver.name", "required"),
        (with(good(), "driver", json!({ "name": "R", "vehicle": 5 })), "driver.vehicle", "invalid_type"),
        (with(good(), "reason", json!("x".repeat(1_001))), "reason", "too_long"),
        (with(good(), "codAmountPaise", json!(1.0)), "codAmountPaise", "invalid_type"),
        (with(good(), "codAmountPaise", json!(-1)), "codAmountPaise", "out_of_range"),
        (report("faulty", "order.failed"), "reason", "required"),
        (
            with(with(report("faulty", "order.failed"), "reason", json!("x")), "reasonCode", json!("rain")),
            "reasonCode",
            "invalid_value",
        ),
        (report("faulty", "cod.collected"), "codAmountPaise", "required"),
        (report("faulty", "cod.handed_over"), "codAmountPaise", "required"),
        (report("faulty", "cod.settled"), "codAmountPaise", "required"),
    ] {
        let refused = business.fleet.send(&order, &body).await?;
        assert_eq!((refused.status.as_u16(), refused.code()), (400, "invalid_request"), "{body}");
        assert_eq!(field_errors(&refused), [(field.to_owned(), code.to_owned())], "{body}");
    }
    let all = business.fleet.send(&order, &json!({ "driver": 1, "codAmountPaise": "5" })).await?;
    let fields: Vec<_> = field_errors(&all).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["eventId", "event", "occurredAt", "driver", "codAmountPaise"], "all at once");
    for body in [json!([]), json!("x"), json!(null)] {
        assert_eq!(business.fleet.send(&order, &body).await?.status, 400, "{body}");
    }
    // The id is still unused.
    business.fleet.send(&order, &good()).await?.expect(200)?;
    Ok(())
}

async fn refusals_say_why_and_are_not_remembered(business: &Business) -> anyhow::Result<()> {
    let (order, other) = (place(business, "refusals").await?, place(business, "refusals-2").await?);
    for unknown in ["ord_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x", "ord_"] {
        let refused = business.fleet.send(unknown, &report("unknown", "driver.assigned")).await?;
        assert_eq!((refused.status.as_u16(), refused.code()), (404, "order_not_found"), "{unknown}");
    }
    let too_early = report("r-1", "order.delivered");
    let refused = business.fleet.send(&order, &too_early).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (409, "illegal_transition"));
    assert_eq!(refused.body["status"], "created");
    assert_eq!(refused.body["legal"], json!(["driver.assigned", "order.failed", "order.cancelled"]));

    // The id of the refused report is unused. Afterwards only the same report of the same order may use it.
    let first = business.fleet.send(&order, &report("r-1", "driver.assigned")).await?;
    assert_eq!(first.status, 200, "{}", first.text);
    let again = business.fleet.send(&order, &report("r-1", "driver.assigned")).await?;
    assert_eq!((again.status.as_u16(), &again.text), (200, &first.text));
    // Null equals absent.
    let same = with(report("r-1", "driver.assigned"), "reason", json!(null));
    assert_eq!(business.fleet.send(&order, &same).await?.text, first.text);
    for (order, body) in [
        (&order, report("r-1", "order.picked_up")),
        (&order, with(report("r-1", "driver.assigned"), "occurredAt", json!("2026-01-31T09:30:01Z"))),
        (&other, report("r-1", "driver.assigned")),
    ] {
        let reused = business.fleet.send(order, &body).await?;
        assert_eq!((reused.status.as_u16(), reused.code()), (422, "event_id_reused"), "{body}");
    }
    // Also 200 and unchanged after further progress.
    business.fleet.send(&order, &report("r-2", "order.picked_up")).await?.expect(200)?;
    let late = business.fleet.send(&order, &report("r-1", "driver.assigned")).await?.expect(200)?;
    assert_eq!(late["status"], "picked_up");
    let live = business.live()?;
    let page = live.call(Method::GET, &format!("/{order}/events"), None).await?.expect(200)?;
    let moves = page["data"].as_array().into_iter().flatten().filter(|entry| entry["type"] == "status");
    assert_eq!(moves.count(), 3, "a repeated report adds nothing");
    Ok(())
}

async fn times_may_come_out_of_order(business: &Business) -> anyhow::Result<()> {
    let order = place(business, "times").await?;
    let times = ["2026-01-31T12:00:00Z", "2026-01-31T10:00:00+05:30", "2026-01-31T11:00:00Z"];
    let events = ["driver.assigned", "order.picked_up", "order.out_for_delivery"];
    for (number, (event, time)) in events.into_iter().zip(times).enumerate() {
        let body = with(report(&format!("time-{number}"), event), "occurredAt", json!(time));
        business.fleet.send(&order, &body).await?.expect(200)?;
    }
    let live = business.live()?;
    let page = live.call(Method::GET, &format!("/{order}/events"), None).await?.expect(200)?;
    let moves: Vec<Value> = page["data"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|entry| entry["type"] == "status" && entry["sequence"] != 1)
        .cloned()
        .collect();
    let listed: Vec<_> = moves.iter().map(|entry| (&entry["event"], &entry["occurredAt"])).collect();
    let said =
        ["2026-01-31T12:00:00Z", "2026-01-31T04:30:00Z", "2026-01-31T11:00:00Z"].map(|time| json!(time));
    let expected: Vec<_> = events.iter().map(|event| json!(event)).zip(said).collect();
    assert_eq!(listed, expected.iter().map(|(event, time)| (event, time)).collect::<Vec<_>>());
    let sequences: Vec<_> = moves.iter().map(|entry| entry["sequence"].as_i64()).collect();
    assert_eq!(sequences, [Some(2), Some(3), Some(4)], "the sequence follows acceptance");
    let recorded: Vec<String> = moves.iter().map(|entry| text(entry, "recordedAt")).collect();
    assert!(recorded.iter().all(|time| time.as_str() > "2026-02"), "{recorded:?}");
    Ok(())
}

async fn a_report_from_before_its_order_is_recorded_with_a_warning(
    business: &Business,
) -> anyhow::Result<()> {
    let order = place(business, "early").await?;
    let read = business.live()?.call(Method::GET, &format!("/{order}"), None).await?.expect(200)?;
    let created_at = text(&read, "createdAt").parse::<DateTime<Utc>>()?;
    let warning = |body: &Value| (body["warnings"][0]["field"].clone(), body["warnings"][0]["code"].clone());
    for (event, occurred_at, is_warned_of) in [
        ("driver.assigned", json!(created_at - TimeDelta::minutes(5)), false),
        ("driver.unassigned", json!(created_at - TimeDelta::seconds(301)), true),
        ("driver.assigned", json!("1970-01-01T00:00:00+05:30"), true),
        ("order.picked_up", json!("0000-01-01T00:00:00Z"), true),
        ("order.out_for_delivery", json!(created_at), false),
    ] {
        let body = with(report(&format!("early-{occurred_at}"), event), "occurredAt", occurred_at);
        let first = business.fleet.send(&order, &body).await?;
        let again = business.fleet.send(&order, &body).await?;
        assert_eq!(again.text, first.text, "a repeated report warns again");
        let answer = first.expect(200)?;
        match is_warned_of {
            true => {
                assert_eq!(warning(&answer), (json!("occurredAt"), json!("occurred_before_order")), "{body}")
            }
            false => assert_eq!(answer["warnings"], json!([]), "{body}"),
        }
    }
    Ok(())
}

async fn cash_that_does_not_add_up_is_shown(
    service: &OrderApi,
    business: &Business,
    received: &Received,
) -> anyhow::Result<()> {
    let internal = Url::parse(&format!("http://{}/", service.internal))?;
    let token = &service.settings.internal.token;
    let portal = OrdersClient(Peer::new("order-api", internal, None, token, PeerOptions::default())?);
    let expected = SAMPLE_CASH_PAISE;
    for (reference, collected, handed_over, settled, shown) in [
        ("cash-right", expected, expected, expected, None),
        ("cash-short", expected - 100, expected - 100, expected - 100, Some(expected - 100)),
        ("cash-lost-later", expected, expected - 50, expected, Some(expected - 50)),
        ("cash-settled-wrong", expected, expected, expected + 1, Some(expected + 1)),
        ("cash-made-good", 0, expected, expected, Some(0)),
    ] {
        let order = business.place(reference).await?;
        business.fleet.drive(&order, &COD_DELIVERY[..4], 0).await?;
        business.fleet.report(&order, "cod.collected", collected).await?.expect(200)?;
        business.fleet.report(&order, "cod.handed_over", handed_over).await?.expect(200)?;
        let fleet = business.fleet.report(&order, "cod.settled", settled).await?.expect(200)?;
        assert_eq!(fleet["codDiscrepancyPaise"], json!(shown), "{reference}");
        let late = with(report(&format!("late-{reference}"), "cod.handed_over"), "codAmountPaise", json!(1));
        let refused = business.fleet.send(&order, &late).await?;
        let words = "cod.handed_over cannot follow cash status settled. Possible now: nothing.";
        assert_eq!((refused.status.as_u16(), &refused.body["message"]), (409, &json!(words)));
        let live = business.live()?;
        let view = live.call(Method::GET, &format!("/{order}"), None).await?.expect(200)?;
        assert_eq!(view["codDiscrepancyPaise"], json!(shown), "{reference}");
        let difference = shown.filter(|_| settled != expected).map(|reported| reported - expected);
        assert_eq!(view["codDifferencePaise"], json!(difference), "{reference}");
        let amounts =
            ["codCollectedPaise", "codHandedOverPaise", "codSettledPaise"].map(|name| view[name].clone());
        assert_eq!(amounts, [json!(collected), json!(handed_over), json!(settled)], "{reference}");
        let shown_to_portal = portal.get(business.id, &order).await?.cod_discrepancy_paise;
        assert_eq!(shown_to_portal, shown.map(Paise::new), "{reference}");
        // Each amount is announced as it was reported.
        let announced = received.of(reference, 8).await;
        let amounts_announced: Vec<_> =
            announced[5..].iter().map(|event| json!(event.data.cod_amount_paise)).collect();
        assert_eq!(amounts_announced, amounts, "{reference}");
    }
    Ok(())
}
