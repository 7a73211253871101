//! Requests after a failed delivery: another attempt, and the return.

use chrono::{Days, TimeDelta};
use demo::clients::{Fleet, Reply};
use diesel_async::RunQueryDsl;
use domain::RequestedBy::{Operator, Portal};
use domain::{Clock, indian_time};
use internal_api::orders::{OrdersClient, SeenDecision};
use internal_api::{Peer, PeerOptions};
use reqwest::Method;
use serde_json::{Value, json};
use test_kit::smallest_order;
use url::Url;

use crate::business::Business;
use crate::harness::{OrderApi, text};

const FEE: i64 = 4_900;
const TO_THE_DOOR: [&str; 3] = ["driver.assigned", "order.picked_up", "order.out_for_delivery"];

pub(crate) async fn post(business: &Business, order: &str, call: &str, body: Value) -> anyhow::Result<Reply> {
    business.live()?.call(Method::POST, &format!("/{order}/{call}"), Some(&body)).await
}

/// A report of a later attempt: each has an id of its own.
pub(crate) async fn again(
    business: &Business,
    order: &str,
    attempt: u32,
    event: &str,
) -> anyhow::Result<Value> {
    let mut report = Fleet::progress(order, event, 25_000);
    report["eventId"] = json!(format!("{order}-{event}-{attempt}"));
    business.fleet.send(order, &report).await?.expect(200)
}

/// A live order whose first attempt failed at the door.
pub(crate) async fn failed(business: &Business, reference: &str) -> anyhow::Result<String> {
    let order = business.place(reference).await?;
    business.fleet.drive(&order, &TO_THE_DOOR, 0).await?;
    let mut report = Fleet::progress(&order, "order.failed", 0);
    report["reasonCode"] = json!("customer_unreachable");
    business.fleet.send(&order, &report).await?.expect(200)?;
    Ok(order)
}

pub(crate) async fn view(business: &Business, order: &str) -> anyhow::Result<Value> {
    business.live()?.call(Method::GET, &format!("/{order}"), None).await?.expect(200)
}

pub(crate) fn portal(service: &OrderApi) -> anyhow::Result<OrdersClient> {
    let internal = Url::parse(&format!("http://{}/", service.internal))?;
    let token = &service.settings.internal.token;
    Ok(OrdersClient(Peer::new("order-api", internal, None, token, PeerOptions::default())?))
}

pub(crate) fn refusal(reply: &Reply) -> (u16, &str) {
    (reply.status.as_u16(), reply.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_delivery_is_attempted_again_for_one_fee() -> anyhow::Result<()> {
    let service = OrderApi::on_clock(Clock::system(), &[]).await;
    let business = service.business(FEE * 10);
    let order = failed(&business, "again").await?;
    let before = view(&business, &order).await?;
    assert_eq!(
        (&before["reasonCode"], &before["failedAttempts"], &before["reattempt"], &before["codStatus"]),
        (&json!("customer_unreachable"), &json!(1), &Value::Null, &json!("not_applicable"))
    );
    assert_eq!((&before["reattemptPossible"], &before["reattemptFeePaise"]), (&json!(true), &json!(0)));
    let day = indian_time(service.clock.now()).date_naive() + Days::new(2);
    let body = json!({ "date": day, "note": "Ring at the gate" });
    let asked = post(&business, &order, "reattempt", body.clone()).await?;
    let answer = asked.body["reattempt"].clone();
    assert_eq!(
        (&answer["on"], &answer["number"], &answer["note"], &answer["feePaise"]),
        (&json!(day), &json!(2), &json!("Ring at the gate"), &json!(0)),
        "{}",
        asked.text
    );
    assert_eq!((&asked.body["status"], asked.status.as_u16()), (&json!("failed"), 200));
    assert!(text(&asked.body, "updatedAt") > text(&before, "updatedAt"));
    assert_eq!(
        post(&business, &order, "reattempt", body).await?.text,
        asked.text,
        "the same changes nothing"
    );
    let page = format!("http://{}/v1/tracking/{}", service.public, text(&before, "trackingCode"));
    let page: Value = serde_json::from_str(&reqwest::get(page).await?.text().await?)?;
    assert_eq!(page["headline"], "We will try again");
    assert!(text(&page, "detail").ends_with(&day.format("%-d %B.").to_string()), "{page}");
    // The fleet sees it in its list, as a change.
    let after = text(&before, "updatedAt");
    test_kit::until("the fleet sees the request", async || {
        let listed = business.fleet.orders(&format!("?updatedAfter={after}")).await.unwrap().body;
        listed["data"][0]["reattempt"] == answer && listed["data"][0]["customer"]["name"].is_string()
    })
    .await;

    let assigned = again(&business, &order, 2, "driver.assigned").await?;
    assert_eq!((&assigned["status"], &assigned["codStatus"]), (&json!("driver_assigned"), &json!("pending")));
    let cancel = business.live()?.call(Method::POST, &format!("/{order}/cancel"), None).await?;
    assert_eq!(refusal(&cancel), (409, "order_not_cancellable"));
    let dropped = again(&business, &order, 2, "driver.unassigned").await?;
    assert_eq!((&dropped["status"], &dropped["failedAttempts"]), (&json!("failed"), &json!(1)));
    again(&business, &order, 3, "driver.assigned").await?;
    for event in ["order.out_for_delivery", "order.delivered", "cod.collected"] {
        again(&business, &order, 3, event).await?;
    }
    let end = view(&business, &order).await?;
    assert_eq!((&end["status"], &end["codStatus"]), (&json!("delivered"), &json!("collected")));
    assert_eq!(
        (&end["reason"], &end["reasonCode"], &end["refundedPaise"]),
        (&Value::Null, &Value::Null, &json!(0))
    );
    assert_eq!(business.entries_of(&order)?, [("delivery_fee".to_owned(), -FEE)]);
    assert_eq!(business.balance(), FEE * 9);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reattempt_is_refused_with_what_to_do() -> anyhow::Result<()> {
    let service = OrderApi::with(&[("WAYBILL_DELIVERY__ATTEMPTS_MAX", "2")]).await;
    let business = service.business(FEE * 10);
    let early = business.place("early").await?;
    let refused = post(&business, &early, "reattempt", json!({})).await?;
    assert_eq!(refusal(&refused), (409, "reattempt_not_possible"));
    business.fleet.drive(&early, &["driver.assigned", "order.failed"], 0).await?;
    for (call, code) in [("reattempt", "reattempt_not_possible"), ("return", "return_not_possible")] {
        let refused = post(&business, &early, call, json!({})).await?;
        assert_eq!(refusal(&refused), (409, code));
        let message = text(&refused.body, "message");
        assert!(message.contains("refunded. Place a new order"), "{message}");
    }

    let order = failed(&business, "limited").await?;
    for (body, field, code) in [
        (json!({ "date": "soon" }), "date", "invalid_format"),
        (json!({ "date": "2027-1-16" }), "date", "invalid_format"),
        (json!({ "date": 5 }), "date", "invalid_type"),
        (json!({ "dat": "2027-01-16" }), "dat", "unknown_field"),
        // The clock shows 15 January 2027 in India.
        (json!({ "date": "2027-01-14" }), "date", "out_of_range"),
        (json!({ "date": "2027-01-30" }), "date", "out_of_range"),
        (json!({ "note": "x".repeat(1_001) }), "note", "too_long"),
        (json!([]), "", "invalid_type"),
    ] {
        let refused = post(&business, &order, "reattempt", body.clone()).await?;
        assert_eq!(refusal(&refused), (400, "invalid_request"), "{body}");
        let error = &refused.body["errors"][0];
        assert_eq!((&error["field"], &error["code"]), (&json!(field), &json!(code)), "{body}");
    }
    for date in ["2027-01-15", "2027-01-29"] {
        let spaced = json!({ "date": format!(" {date} ") });
        let asked = post(&business, &order, "reattempt", spaced).await?.expect(200)?;
        assert_eq!(asked["reattempt"]["on"], date, "another request replaces it");
    }
    again(&business, &order, 2, "driver.assigned").await?;
    again(&business, &order, 2, "order.failed").await?;
    let second = view(&business, &order).await?;
    assert_eq!((&second["failedAttempts"], &second["reattempt"]), (&json!(2), &Value::Null), "decide anew");
    assert_eq!(second["reattemptPossible"], json!(false));
    let refused = post(&business, &order, "reattempt", json!({})).await?;
    assert_eq!(refusal(&refused), (409, "reattempt_not_possible"));
    assert!(text(&refused.body, "message").contains("all of its 2 attempts"));
    let report = Fleet::progress(&order, "driver.assigned", 0);
    let report = json!({ "eventId": "third", "event": report["event"], "occurredAt": report["occurredAt"] });
    let refused = business.fleet.send(&order, &report).await?;
    assert_eq!(
        (refusal(&refused), &refused.body["legal"]),
        ((409, "illegal_transition"), &json!(["order.returned"])),
        "the fleet has the same bound"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parcel_is_asked_back() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let order = failed(&business, "back").await?;
    let mistaken = post(&business, &order, "return", json!({ "date": "2027-01-16" })).await?;
    assert_eq!(refusal(&mistaken), (400, "invalid_request"));
    let asked = post(&business, &order, "return", json!({})).await?;
    assert!(asked.body["returnRequestedAt"].is_string(), "{}", asked.text);
    assert_eq!(post(&business, &order, "return", json!({})).await?.text, asked.text);
    let changed = post(&business, &order, "reattempt", json!({})).await?.expect(200)?;
    assert_eq!((&changed["returnRequestedAt"], &changed["reattempt"]["on"]), (&Value::Null, &Value::Null));
    assert_eq!(changed["reattempt"]["number"], 2);
    post(&business, &order, "return", json!({})).await?.expect(200)?;
    business.fleet.drive(&order, &["order.returned"], 0).await?;
    let late = post(&business, &order, "return", json!({})).await?.expect(200)?;
    assert_eq!((&late["status"], late["returnRequestedAt"].is_string()), (&json!("returned"), true));
    assert_eq!(
        (&late["reason"], &late["reasonCode"]),
        (&json!("Nobody at home"), &json!("customer_unreachable")),
        "of the failure"
    );
    assert_eq!(
        refusal(&post(&business, &order, "reattempt", json!({})).await?),
        (409, "reattempt_not_possible")
    );
    assert_eq!(business.balance(), FEE * 9, "a return refunds nothing");
    Ok(())
}

/// Once for each request that changed something, without the note, and between the reports of the fleet.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_an_event_where_the_operator_switched_it_on() -> anyhow::Result<()> {
    for (is_on, expected) in [("false", 0), ("true", 1)] {
        let service = OrderApi::with(&[("WAYBILL_EVENTS__ATTEMPTS", is_on)]).await;
        let business = service.business(FEE * 10);
        let order = failed(&business, "announced").await?;
        let wanted = json!({ "date": "2027-01-16", "note": "Ask for Meera" });
        for (call, body) in [("reattempt", &wanted), ("return", &json!({}))] {
            for _ in 0..2 {
                post(&business, &order, call, body.clone()).await?.expect(200)?;
            }
        }
        again(&business, &order, 2, "driver.assigned").await?;
        for kind in ["order.reattempt_scheduled", "order.returning"] {
            let published = format!("outbox_messages WHERE routing_key = 'live.{kind}'");
            assert_eq!(service.count(&published).await, expected, "{kind}");
        }
        let named = "order_events WHERE data::text LIKE '%Meera%'";
        assert_eq!(service.count(named).await, 0, "the note is no part of the event");
        let path = format!("/{order}/events");
        let timeline = business.live()?.call(Method::GET, &path, None).await?.expect(200)?;
        let entries = timeline["data"].as_array().unwrap().iter();
        let moves: Vec<_> = entries.filter(|entry| entry["type"] == "status").skip(5).collect();
        let kinds: Vec<_> = moves.iter().map(|entry| text(entry, "event")).collect();
        if expected == 0 {
            assert_eq!(kinds, ["driver.assigned"]);
            continue;
        }
        assert_eq!(kinds, ["order.reattempt_scheduled", "order.returning", "driver.assigned"]);
        assert_eq!(
            moves[0]["data"],
            json!({ "reattempt": { "number": 2, "on": "2027-01-16", "feePaise": 0 }, "requestedBy": "api_key" })
        );
        assert_eq!(
            moves[1]["data"],
            json!({ "reasonCode": "customer_unreachable", "requestedBy": "api_key" })
        );
        let sequences = "order_events WHERE sequence = 8 AND kind = 'driver.assigned'";
        assert_eq!(service.count(sequences).await, 1, "no gap");
        // Requests alone do not fill the timeline.
        again(&business, &order, 2, "order.failed").await?;
        let many = format!("UPDATE orders SET sequence = 60 WHERE id = '{order}'");
        diesel::sql_query(many).execute(&mut service.connection().await).await?;
        post(&business, &order, "reattempt", wanted).await?.expect(200)?;
        let requests = "order_events WHERE kind = 'order.reattempt_scheduled'";
        assert_eq!(service.count(requests).await, 1);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_portal_decides_too_and_the_note_is_erased() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let (business, stranger) = (service.business(FEE * 10), service.business(FEE));
    let portal = portal(&service)?;
    let order = failed(&business, "portal").await?;
    assert!(portal.reattempt(stranger.id, &order, None, Portal, &json!({})).await.is_err());
    assert!(portal.request_return(stranger.id, &order, None, Portal).await.is_err());
    let body = json!({ "note": "Ask for Meera" });
    let asked = portal.reattempt(business.id, &order, None, Portal, &body).await?;
    let asked = asked.reattempt.unwrap();
    assert_eq!(
        (asked.note.as_deref(), asked.requested_by.as_deref()),
        (Some("Ask for Meera"), Some("portal"))
    );
    let phone = json!({ "phone": "+919800000009" });
    assert!(portal.correct_delivery(stranger.id, &order, &phone).await.is_err());
    assert_eq!(
        portal.correct_delivery(business.id, &order, &phone).await?.customer["phone"],
        "+919800000009"
    );
    let corrected = view(&business, &order).await?;
    let correction = &corrected["corrections"][0];
    assert_eq!((&correction["keyId"], &correction["fields"]), (&Value::Null, &json!(["phone"])));
    assert!(portal.issue_delivery_code(stranger.id, &order).await.is_err());
    let code = portal.issue_delivery_code(business.id, &order).await?.delivery_code;
    assert_eq!(portal.issue_delivery_code(business.id, &order).await?.delivery_code, code);
    again(&business, &order, 2, "driver.assigned").await?;
    for event in ["order.out_for_delivery", "order.delivered"] {
        again(&business, &order, 2, event).await?;
    }
    portal.erase_personal_data(business.id, &order).await?;
    let erased = view(&business, &order).await?;
    assert_eq!((&erased["reattempt"]["number"], &erased["reattempt"]["note"]), (&json!(2), &Value::Null));
    assert_eq!(service.count("orders WHERE details::text LIKE '%Meera%'").await, 0);
    assert_eq!(erased["corrections"], json!([]));
    Ok(())
}

/// The portal lists an order. Before its people decide, a program or a colleague does.
#[tokio::test(flavor = "multi_thread")]
async fn the_portal_does_not_replace_a_decision_that_it_has_not_seen() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let portal = portal(&service)?;
    let order = failed(&business, "unseen").await?;
    let (saw_none, at) = (Some(SeenDecision(None)), |view: &Value| {
        view["reattempt"]["requestedAt"].as_str().and_then(|at| at.parse::<SeenDecision>().ok())
    });
    let wanted = json!({ "date": "2027-01-16" });
    let first = post(&business, &order, "reattempt", wanted.clone()).await?.expect(200)?;
    let refused = portal.request_return(business.id, &order, saw_none, Portal).await.err().unwrap();
    assert_eq!(refused.refusal_code(), Some("decision_changed"), "{refused}");
    assert!(refused.to_string().contains("another attempt on 16 Jan 2027 is requested"), "{refused}");
    let other = portal.reattempt(business.id, &order, saw_none, Portal, &json!({})).await.err().unwrap();
    assert_eq!(other.refusal_code(), Some("decision_changed"), "{other}");
    assert_eq!(view(&business, &order).await?, first, "nothing is replaced");
    // What it wants is requested already.
    portal.reattempt(business.id, &order, saw_none, Portal, &wanted).await?;

    service.clock.advance(TimeDelta::seconds(1));
    let back = portal.request_return(business.id, &order, at(&first), Operator).await?;
    assert_eq!(back.return_requested_by.as_deref(), Some("operator"));
    let outdated = portal.reattempt(business.id, &order, at(&first), Portal, &json!({})).await.err().unwrap();
    assert_eq!(outdated.refusal_code(), Some("decision_changed"), "{outdated}");
    let by_key = post(&business, &order, "reattempt", json!({})).await?.expect(200)?;
    assert_eq!(
        (&by_key["reattempt"]["requestedBy"], &by_key["returnRequestedBy"]),
        (&json!("api_key"), &Value::Null)
    );
    Ok(())
}

/// An instance of release 1.0.0 fails another attempt: it knows neither the attempts nor the decision.
#[tokio::test(flavor = "multi_thread")]
async fn the_database_counts_a_failure_of_the_former_release() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let order = failed(&business, "former").await?;
    for (attempt, last) in [(2, "order.out_for_delivery"), (3, "driver.assigned")] {
        post(&business, &order, "reattempt", json!({})).await?.expect(200)?;
        again(&business, &order, attempt, "driver.assigned").await?;
        if last != "driver.assigned" {
            again(&business, &order, attempt, last).await?;
        }
        let failure = format!("UPDATE orders SET status = 'failed', reason = 'closed' WHERE id = '{order}'");
        diesel::sql_query(failure).execute(&mut service.connection().await).await?;
        let seen = view(&business, &order).await?;
        assert_eq!(
            (&seen["failedAttempts"], &seen["reattempt"], &seen["reasonCode"]),
            (&json!(attempt), &Value::Null, &Value::Null),
            "{last}"
        );
    }
    Ok(())
}

/// Release 1.0.0 does not know another attempt, and would cancel it and refund the fee.
#[tokio::test(flavor = "multi_thread")]
async fn the_database_refuses_a_cancellation_after_the_pickup() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let order = failed(&business, "guarded").await?;
    let test = business.test()?.create("guarded", &smallest_order("guarded")).await?.expect(201)?;
    for (id, status, is_refused) in [
        (order.as_str(), "cancelled", true),
        (&order, "created", true),
        (&order, "returned", false),
        (&text(&test, "id"), "cancelled", false),
    ] {
        let change = diesel::sql_query(format!("UPDATE orders SET status = '{status}' WHERE id = '{id}'"));
        let changed = change.execute(&mut service.connection().await).await;
        assert_eq!(changed.is_err(), is_refused, "{status}: {changed:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_simulated_failure_has_a_code_and_auto_begins_a_requested_attempt() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let test = business.test()?;
    let order = text(&test.create("simulated", &smallest_order("simulated")).await?.expect(201)?, "id");
    let call = async |name: &str, body: Value| -> anyhow::Result<Reply> {
        test.call(Method::POST, &format!("/{order}/{name}"), Some(&body)).await
    };
    for event in ["driver.assigned", "order.picked_up"] {
        call("simulate", json!({ "event": event })).await?.expect(200)?;
    }
    let unknown = json!({ "event": "order.failed", "reasonCode": "lost" });
    assert_eq!(refusal(&call("simulate", unknown).await?), (400, "invalid_request"));
    let known = json!({ "event": "order.failed", "reasonCode": "customer_refused" });
    let failed = call("simulate", known).await?.expect(200)?;
    assert_eq!((&failed["status"], &failed["reasonCode"]), (&json!("failed"), &json!("customer_refused")));

    let auto = json!({ "event": "auto" });
    let undecided = call("simulate", auto.clone()).await?;
    assert_eq!(refusal(&undecided), (409, "illegal_transition"));
    assert!(text(&undecided.body, "message").contains("Request another attempt first."));
    call("reattempt", json!({})).await?.expect(200)?;
    let started = call("simulate", auto).await?.expect(200)?;
    assert_eq!(
        (&started["status"], &started["simulation"]["nextEvent"]),
        (&json!("driver_assigned"), &json!("order.picked_up"))
    );
    Ok(())
}
