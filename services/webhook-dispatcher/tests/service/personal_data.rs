//! After an erasure, no stored or sent data of an order contains personal data: sent, waiting and later events, and
//! responses.

use diesel::sql_query;
use diesel::sql_types::BigInt;
use diesel_async::RunQueryDsl;
use domain::{Clock, EventId, EventKind, Mode};
use events::{Body, Driver, Envelope, Evidence, PersonalDataErased, ProgressData};
use internal_api::webhooks::DeliveryState;
use serde_json::json;
use test_kit::until;

use crate::harness::{Harness, TestOrder};
use crate::receiver::{Latch, Receiver, Reply, reply};

const NAME: &str = "Quentina";

fn evidence() -> Evidence {
    Evidence {
        attempt: 1,
        captured_at: None,
        place: None,
        recipient_name: Some(NAME.to_owned()),
        recipient_relation: None,
        code_verified: None,
        photo: None,
        hash: String::new(),
    }
}

/// Contains personal data.
fn telling(harness: &Harness, order: &TestOrder, sequence: i64, kind: EventKind) -> Envelope {
    let mut envelope = harness.envelope(order, sequence, kind);
    if let Body::Order(event) = &mut envelope.body {
        let driver = Driver { name: NAME.to_owned(), phone: Some("+919800000009".to_owned()), vehicle: None };
        let reason = Some(format!("{NAME} was there"));
        let evidence = Some(evidence());
        event.data = ProgressData { driver: Some(driver), reason, evidence, ..ProgressData::default() };
    }
    envelope
}

fn erasure(harness: &Harness, order: &TestOrder) -> Envelope {
    let erased_at = harness.clock.now();
    Envelope {
        id: EventId::generate(&harness.clock, &harness.entropy),
        business_id: order.business,
        occurred_at: erased_at,
        body: Body::PersonalDataErased(PersonalDataErased { order_id: order.id, erased_at }),
    }
}

#[derive(diesel::QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// The number of rows that contain the name.
async fn mentions(harness: &Harness) -> i64 {
    let sql = format!(
        "SELECT (SELECT count(*) FROM events WHERE convert_from(body, 'UTF8') LIKE '%{NAME}%')
            + (SELECT count(*) FROM held_back_events WHERE envelope::text LIKE '%{NAME}%')
            + (SELECT count(*) FROM attempts WHERE attempts::text LIKE '%{NAME}%')
            + (SELECT count(*) FROM deliveries WHERE deliveries::text LIKE '%{NAME}%') AS count"
    );
    let mut conn = harness.connection().await;
    sql_query(sql).get_result::<Count>(&mut conn).await.unwrap().count
}

/// A receiver whose responses name the recipient: first in a header, then in the body.
fn talkative() -> Receiver {
    Receiver::start(|_, before| match before {
        0 => Reply { headers: vec![("x-recipient", NAME.to_owned())], ..reply(200) },
        _ => Reply { body: format!("thanks, {NAME}").into_bytes(), ..reply(200) },
    })
}

#[tokio::test]
async fn sent_waiting_and_later_events_contain_no_personal_data() {
    let harness = Harness::start().await;
    let receiver = talkative();
    let endpoint = harness.endpoint(&receiver).await;
    let order = harness.new_order(Mode::Live);
    let created = harness.publish_created(&order).await;
    let assigned = telling(&harness, &order, 2, EventKind::DriverAssigned);
    // The fourth waits for the third.
    let early = telling(&harness, &order, 4, EventKind::OrderOutForDelivery);
    harness.publish(&[assigned.clone(), early]).await;
    until("two arrive and one waits", async || mentions(&harness).await == 4).await;
    until("both are over", async || harness.succeeded(&endpoint).await).await;

    // Repeated messages are harmless.
    harness.publish(&[erasure(&harness, &order), erasure(&harness, &order)]).await;
    until("nobody is named", async || mentions(&harness).await == 0).await;

    let log = harness.deliveries(&endpoint).await;
    let body_of = async |event: &Envelope| {
        let delivery = log.iter().find(|one| one.event_id == event.id).expect("a delivery");
        let details = harness.details(delivery).await;
        assert!(details.attempt_log.iter().all(|attempt| attempt.response_body.is_none()));
        details.request_body
    };
    assert!(body_of(&assigned).await.contains("personalDataErasedAt"));
    assert!(!body_of(&created).await.contains("personalDataErasedAt"), "it contained no personal data");

    let late = telling(&harness, &order, 3, EventKind::OrderPickedUp);
    harness.publish(&[late]).await;
    until("all arrive", async || receiver.sequences(&order.reference) == [1, 2, 3, 4]).await;
    for received in receiver.received().iter().filter(|received| received.sequence() > 2) {
        assert_eq!(received.json()["data"], json!({}), "what was still to be sent is sent without");
    }

    let of_assigned = log.iter().find(|one| one.event_id == assigned.id).expect("a delivery");
    let before = receiver.count();
    harness.hooks.redeliver(harness.business, &of_assigned.id.to_string()).await.expect("accepted");
    until("it is sent again", async || receiver.count() == before + 1).await;
    let again = receiver.received().pop().expect("a webhook");
    assert_eq!(again.json()["data"], json!({}));
    assert!(again.json()["personalDataErasedAt"].is_string(), "{}", again.json());
    assert_eq!((again.id(), again.sequence()), (assigned.id.to_string(), 2), "the same event as before");
    until("it is over", async || {
        let again = harness.hooks.delivery(harness.business, &of_assigned.id.to_string()).await.expect("it");
        again.view.status == DeliveryState::Succeeded && again.view.attempts == 2
    })
    .await;
}

#[tokio::test]
async fn an_erasure_completes_although_it_overtakes_events_or_is_interrupted() {
    let mut harness = Harness::start().await;
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let (overtaken, order) = (harness.new_order(Mode::Live), harness.new_order(Mode::Live));
    harness.publish(&[erasure(&harness, &overtaken)]).await;
    harness.publish(&[telling(&harness, &order, 1, EventKind::DriverAssigned)]).await;
    until("the other order's event is there", async || mentions(&harness).await == 1).await;
    until("the erasure is there", async || {
        let sql = "SELECT count(*) AS count FROM order_streams WHERE personal_data_erased_at IS NOT NULL";
        sql_query(sql).get_result::<Count>(&mut harness.connection().await).await.unwrap().count == 1
    })
    .await;
    harness.publish(&[telling(&harness, &overtaken, 1, EventKind::DriverAssigned)]).await;
    until("it arrives", async || receiver.sequences(&overtaken.reference) == [1]).await;
    assert_eq!(mentions(&harness).await, 1, "it was taken in without");

    // Holds the erasure after its first step, and lets the service die there.
    let mut conn = harness.connection().await;
    sql_query("BEGIN").execute(&mut conn).await.unwrap();
    sql_query("SELECT FROM events FOR UPDATE").execute(&mut conn).await.unwrap();
    harness.publish(&[erasure(&harness, &order)]).await;
    // In this database: other tests share the server.
    let waiting = "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until("it waits", async || harness.count(waiting).await > 0).await;
    harness.crash().await;
    sql_query("ROLLBACK").execute(&mut conn).await.unwrap();
    harness.restart();
    until("nobody is named", async || mentions(&harness).await == 0).await;
}

#[tokio::test]
async fn an_order_that_is_placed_after_it_was_erased_is_complete_again() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let (taken_over, overtaken) = (harness.new_order(Mode::Live), harness.new_order(Mode::Live));
    let overtaken_first = harness.envelope(&overtaken, 1, EventKind::OrderCreated);
    harness.publish(&[erasure(&harness, &taken_over), erasure(&harness, &overtaken)]).await;
    until("both are erased", async || {
        harness.count("order_streams WHERE personal_data_erased_at IS NOT NULL").await == 2
    })
    .await;

    harness.publish(&[overtaken_first, telling(&harness, &overtaken, 2, EventKind::DriverAssigned)]).await;
    harness.publish_created(&taken_over).await;
    harness.publish(&[telling(&harness, &taken_over, 2, EventKind::DriverAssigned)]).await;
    for (order, is_complete) in [(&taken_over, true), (&overtaken, false)] {
        until("both arrive", async || receiver.sequences(&order.reference) == [1, 2]).await;
        let received = receiver.received();
        let second = received.iter().find(|received| {
            received.json()["order"]["orderReference"] == order.reference.as_str() && received.sequence() == 2
        });
        let event = second.expect("the second event").json();
        assert_eq!(event["data"]["driver"]["name"] == NAME, is_complete, "{event}");
        assert_eq!(event["data"]["reason"].is_string(), is_complete, "{event}");
    }
}

#[tokio::test]
async fn a_response_after_the_erasure_is_not_stored() {
    let adjust = |settings: &mut webhook_dispatcher::Settings| settings.webhooks.timeout_seconds = 600.0;
    let harness = Harness::start_with(adjust, Clock::system()).await;
    let latch = Latch::closed();
    let held = latch.clone();
    // The second attempt succeeds.
    let receiver = Receiver::start(move |_, before| Reply {
        headers: vec![("x-recipient", NAME.to_owned())],
        body: format!("thanks, {NAME}").into_bytes(),
        held: Some(held.clone()),
        ..reply(if before == 0 { 500 } else { 200 })
    });
    let endpoint = harness.endpoint(&receiver).await;
    let order = harness.new_order(Mode::Live);
    harness.publish_created(&order).await;
    until("it is under way", async || receiver.count() == 1).await;
    harness.publish(&[erasure(&harness, &order)]).await;
    until("the order is erased", async || {
        harness.count("order_streams WHERE personal_data_erased_at IS NOT NULL").await == 1
    })
    .await;
    latch.open();
    until("it is over", async || harness.succeeded(&endpoint).await).await;
    let log = harness.deliveries(&endpoint).await;
    let attempts = harness.details(&log[0]).await.attempt_log;
    assert_eq!(attempts.len(), 2);
    assert!(
        attempts.iter().all(|attempt| attempt.response_status.is_some() && attempt.response_body.is_none())
    );
    assert_eq!(mentions(&harness).await, 0);
}

#[tokio::test]
async fn nobody_erases_another_business_s_order() {
    let harness = Harness::start().await;
    let receiver = Receiver::kind();
    harness.endpoint(&receiver).await;
    let order = harness.new_order(Mode::Live);
    harness.publish(&[telling(&harness, &order, 1, EventKind::DriverAssigned)]).await;
    until("it is stored", async || mentions(&harness).await == 1).await;
    let foreign = TestOrder { business: harness.new_business(), ..order.clone() };
    let own = harness.new_order(Mode::Live);
    harness.publish(&[erasure(&harness, &foreign), erasure(&harness, &own)]).await;
    until("both were looked at", async || {
        let sql = "SELECT count(*) AS count FROM order_streams WHERE personal_data_erased_at IS NOT NULL";
        sql_query(sql).get_result::<Count>(&mut harness.connection().await).await.unwrap().count == 1
    })
    .await;
    assert_eq!(mentions(&harness).await, 1);
}
