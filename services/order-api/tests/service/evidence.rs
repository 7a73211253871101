//! The evidence of attempts: what a fleet may report, the code of the customer, and records that are linked and stay.

use demo::clients::{Fleet, Reply};
use diesel_async::SimpleAsyncConnection;
use reqwest::Method;
use serde_json::{Value, json};

use crate::business::Business;
use crate::harness::{OrderApi, text};

const FEE: i64 = 4_900;
const TO_THE_DOOR: [&str; 3] = ["driver.assigned", "order.picked_up", "order.out_for_delivery"];
const SHA256: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

fn evidence() -> Value {
    json!({
        "recipientName": "Zubin of the gate", "recipientRelation": "guard", "capturedAt": "2026-01-31T09:30:00Z",
        "place": { "latitude": 12.9716, "longitude": 77.5946 },
        "photo": { "url": "https://fleet.example/photos/7", "sha256": SHA256 },
    })
}

/// A report that is not sent before.
fn report(order: &str, event: &str, number: u32, evidence: Value) -> Value {
    let mut report = Fleet::progress(order, event, 0);
    report["eventId"] = json!(format!("{order}-{event}-{number}"));
    report["occurredAt"] = json!("2026-01-31T09:30:00Z");
    report["evidence"] = evidence;
    report
}

/// A live order at the door.
async fn at_the_door(business: &Business, reference: &str) -> anyhow::Result<String> {
    let order = business.place(reference).await?;
    business.fleet.drive(&order, &TO_THE_DOOR, 0).await?;
    Ok(order)
}

async fn read(business: &Business, order: &str) -> anyhow::Result<Value> {
    business.live()?.call(Method::GET, &format!("/{order}/evidence"), None).await?.expect(200)
}

async fn issue(business: &Business, order: &str) -> anyhow::Result<String> {
    let issued = business.live()?.call(Method::POST, &format!("/{order}/delivery-code"), None).await?;
    Ok(text(&issued.expect(200)?, "deliveryCode"))
}

/// Another code than this one.
fn wrong(code: &str) -> String {
    code.chars().map(|digit| if digit == '0' { '1' } else { '0' }).collect()
}

fn refusal(reply: &Reply) -> (u16, &str) {
    (reply.status.as_u16(), reply.code())
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_are_linked_and_their_events_carry_the_evidence() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let order = at_the_door(&business, "linked").await?;
    assert_eq!(read(&business, &order).await?["attempts"], json!([]));
    business.fleet.send(&order, &report(&order, "order.failed", 1, Value::Null)).await?.expect(200)?;
    business.fleet.send(&order, &report(&order, "driver.assigned", 2, Value::Null)).await?.expect(200)?;
    let out = report(&order, "order.out_for_delivery", 2, Value::Null);
    business.fleet.send(&order, &out).await?.expect(200)?;
    let delivered = report(&order, "order.delivered", 2, evidence());
    let first = business.fleet.send(&order, &delivered).await?;
    let again = business.fleet.send(&order, &delivered).await?;
    assert_eq!((first.status.as_u16(), &first.text), (200, &again.text), "a repeated report changes nothing");
    let late = business.fleet.send(&order, &report(&order, "order.delivered", 3, evidence())).await?;
    assert_eq!(refusal(&late), (409, "illegal_transition"));

    let found = read(&business, &order).await?;
    let attempts = found["attempts"].as_array().unwrap();
    assert_eq!((attempts.len(), &found["intact"]), (2, &json!(true)), "{found}");
    assert_eq!(
        (&attempts[0]["attempt"], &attempts[0]["event"], &attempts[0]["previousHash"], &attempts[0]["place"]),
        (&json!(1), &json!("order.failed"), &Value::Null, &Value::Null)
    );
    assert_eq!(attempts[0]["reason"], "Nobody at home");
    let second = &attempts[1];
    assert_eq!((&second["previousHash"], &second["attempt"]), (&attempts[0]["hash"], &json!(2)));
    let sent = evidence();
    for field in ["recipientName", "recipientRelation", "capturedAt", "place", "photo"] {
        assert_eq!(second[field], sent[field], "{field}");
    }
    assert_eq!((&second["codeVerified"], &second["event"]), (&Value::Null, &json!("order.delivered")));
    let record: Value = serde_json::from_str(&text(second, "record"))?;
    assert_eq!((&record["orderId"], &record["photoSha256"]), (&json!(order), &json!(SHA256)));
    assert!(!text(second, "record").contains("Zubin"), "{record}");

    let timeline =
        business.live()?.call(Method::GET, &format!("/{order}/events"), None).await?.expect(200)?;
    let events = timeline["data"].as_array().unwrap();
    let data = |kind: &str| &events.iter().find(|entry| entry["event"] == kind).unwrap()["data"];
    let without = json!({ "attempt": 1, "hash": attempts[0]["hash"] });
    assert_eq!(data("order.failed")["evidence"], without, "none was sent");
    let mut expected = evidence();
    (expected["attempt"], expected["hash"]) = (json!(2), second["hash"].clone());
    assert_eq!(data("order.delivered")["evidence"], expected);
    Ok(())
}

/// An instance of release 1.0.0 fails the first attempt, which it neither counts nor records.
#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_that_the_former_release_ended_leaves_a_gap() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let order = at_the_door(&business, "former").await?;
    let failure = format!("UPDATE orders SET status = 'failed', reason = 'closed' WHERE id = '{order}'");
    service.connection().await.batch_execute(&failure).await?;
    for event in ["driver.assigned", "order.out_for_delivery", "order.delivered"] {
        business.fleet.send(&order, &report(&order, event, 2, Value::Null)).await?.expect(200)?;
    }
    let found = read(&business, &order).await?;
    let numbers: Vec<_> =
        found["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["attempt"]).collect();
    assert_eq!((numbers, &found["intact"]), (vec![&json!(2)], &json!(true)));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_fault_of_evidence_is_named() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let order = at_the_door(&business, "faults").await?;
    let photo = |url: &str, sha256: &str| json!({ "photo": { "url": url, "sha256": sha256 } });
    let url = "https://fleet.example/7";
    let long = format!("https://fleet.example/{}", "x".repeat(491));
    for (body, field, code) in [
        (json!("x"), "evidence", "invalid_type"),
        (json!({ "recipientName": 7 }), "evidence.recipientName", "invalid_type"),
        (json!({ "recipientName": "x".repeat(201) }), "evidence.recipientName", "too_long"),
        (json!({ "recipientRelation": "dog" }), "evidence.recipientRelation", "invalid_value"),
        (json!({ "capturedAt": "noon" }), "evidence.capturedAt", "invalid_format"),
        (json!({ "capturedAt": "2999-01-01T00:00:00Z" }), "evidence.capturedAt", "out_of_range"),
        (json!({ "place": [12.9, 77.5] }), "evidence.place", "invalid_type"),
        (json!({ "place": { "latitude": 12.9 } }), "evidence.place.longitude", "required"),
        (json!({ "place": { "longitude": 12.9 } }), "evidence.place.latitude", "required"),
        (json!({ "place": { "latitude": 90.1, "longitude": 0 } }), "evidence.place.latitude", "out_of_range"),
        (
            json!({ "place": { "latitude": 0, "longitude": -181 } }),
            "evidence.place.longitude",
            "out_of_range",
        ),
        (json!({ "place": { "latitude": "0", "longitude": 1 } }), "evidence.place.latitude", "invalid_type"),
        (json!({ "photo": { "url": url } }), "evidence.photo.sha256", "required"),
        (json!({ "photo": { "sha256": SHA256 } }), "evidence.photo.url", "required"),
        (photo("http://fleet.example/7", SHA256), "evidence.photo.url", "invalid_format"),
        (photo("javascript:alert(1)", SHA256), "evidence.photo.url", "invalid_format"),
        (photo("https://", SHA256), "evidence.photo.url", "invalid_format"),
        (photo("https://fleet.example/a b", SHA256), "evidence.photo.url", "invalid_format"),
        (photo("https://me:secret@fleet.example/7", SHA256), "evidence.photo.url", "invalid_format"),
        (photo(&long, SHA256), "evidence.photo.url", "too_long"),
        (photo(url, &SHA256.to_uppercase()), "evidence.photo.sha256", "invalid_format"),
        (photo(url, &SHA256[1..]), "evidence.photo.sha256", "invalid_format"),
        (json!({ "deliveryCode": 482_915 }), "evidence.deliveryCode", "invalid_type"),
        (json!({ "deliveryCode": "48291" }), "evidence.deliveryCode", "invalid_format"),
        (json!({ "deliveryCode": "48291x" }), "evidence.deliveryCode", "invalid_format"),
        (json!({ "deliveryCode": "4829150" }), "evidence.deliveryCode", "too_long"),
    ] {
        let refused =
            business.fleet.send(&order, &report(&order, "order.delivered", 1, body.clone())).await?;
        assert_eq!(refusal(&refused), (400, "invalid_request"), "{body}");
        let errors = refused.body["errors"].as_array().unwrap();
        let found: Vec<_> = errors.iter().map(|error| (&error["field"], &error["code"])).collect();
        assert_eq!(found, [(&json!(field), &json!(code))], "{body}");
    }
    let failed = report(&order, "order.failed", 1, json!({ "deliveryCode": "482915" }));
    let refused = business.fleet.send(&order, &failed).await?;
    assert_eq!(refused.body["errors"][0]["field"], "evidence.deliveryCode", "{}", refused.text);
    let moved = report(&order, "driver.unassigned", 1, json!({}));
    let refused = business.fleet.send(&order, &moved).await?;
    assert_eq!(refused.body["errors"][0]["field"], "evidence", "{}", refused.text);
    assert_eq!(service.count("delivery_evidence").await, 0);
    business.fleet.send(&order, &report(&order, "order.delivered", 1, json!({}))).await?.expect(200)?;
    assert_eq!(service.count("delivery_evidence").await, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_code_is_checked_and_few_wrong_ones_are_looked_at() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let order = at_the_door(&business, "code").await?;
    let with_code = |number: u32, code: &str| {
        let mut sent = evidence();
        sent["deliveryCode"] = json!(code);
        report(&order, "order.delivered", number, sent)
    };
    let unissued = business.fleet.send(&order, &with_code(1, "482915")).await?;
    assert_eq!(refusal(&unissued), (422, "delivery_code_not_issued"));
    let code = issue(&business, &order).await?;
    assert_eq!(issue(&business, &order).await?, code, "the same again");
    assert!(code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()), "{code}");
    let refused = business.fleet.send(&order, &with_code(1, &wrong(&code))).await?;
    assert_eq!(refusal(&refused), (422, "delivery_code_wrong"));
    assert!(text(&refused.body, "message").contains("4 more"), "{}", refused.text);
    assert_eq!(service.count("delivery_evidence").await, 0, "nothing is changed");
    assert_eq!(service.count("delivery_codes WHERE wrong = 1").await, 1);
    let delivered = with_code(1, &code);
    let first = business.fleet.send(&order, &delivered).await?;
    assert_eq!(first.status, 200, "{}", first.text);
    assert_eq!(read(&business, &order).await?["attempts"][0]["codeVerified"], true);
    let feed = business.live()?.call(Method::GET, &format!("/{order}/events"), None).await?;
    assert!(
        feed.text.contains(r#""codeVerified":true"#) && !feed.text.contains(&format!("\"{code}\"")),
        "{}",
        feed.text
    );
    for field in ["fleet_reports", "order_events", "delivery_evidence"] {
        let from = format!("{field} AS stored WHERE stored::text LIKE '%\"{code}\"%'");
        assert_eq!(service.count(&from).await, 0, "{field}");
    }

    // Release 1.0.0 accepted any code, and the fleet may repeat such a report.
    let other = format!("UPDATE delivery_codes SET code = '{}' WHERE order_id = '{order}'", wrong(&code));
    for change in [other, format!("DELETE FROM delivery_codes WHERE order_id = '{order}'")] {
        service.connection().await.batch_execute(&change).await?;
        let again = business.fleet.send(&order, &delivered).await?;
        assert_eq!((again.status.as_u16(), &again.text), (200, &first.text), "{change}");
        assert_eq!(service.count("delivery_codes WHERE wrong > 1").await, 0, "{change}");
    }

    // Wrong codes at once, all of which wait for the order: five are looked at, and then no code is.
    let order = at_the_door(&business, "guessed").await?;
    let code = issue(&business, &order).await?;
    let guesses = (1..=8).map(|number| {
        let sent = json!({ "deliveryCode": wrong(&code) });
        let (fleet, report) = (&business.fleet, report(&order, "order.delivered", number, sent));
        let order = &order;
        async move { fleet.send(order, &report).await.unwrap().code().to_owned() }
    });
    let mut codes = futures_util::future::join_all(guesses).await;
    codes.sort_unstable();
    let expected = [["delivery_code_blocked"; 3].as_slice(), &["delivery_code_wrong"; 5]].concat();
    assert_eq!(codes, expected);
    let right = report(&order, "order.delivered", 9, json!({ "deliveryCode": code }));
    assert_eq!(refusal(&business.fleet.send(&order, &right).await?), (422, "delivery_code_blocked"));
    let without = report(&order, "order.delivered", 9, json!({}));
    business.fleet.send(&order, &without).await?.expect(200)?;
    assert_eq!(read(&business, &order).await?["attempts"][0]["codeVerified"], false);
    let ended = business.live()?.call(Method::POST, &format!("/{order}/delivery-code"), None).await?;
    assert_eq!(ended.status, 200, "it is still shown");
    let order = at_the_door(&business, "late").await?;
    business.fleet.send(&order, &report(&order, "order.delivered", 1, Value::Null)).await?.expect(200)?;
    let late = business.live()?.call(Method::POST, &format!("/{order}/delivery-code"), None).await?;
    assert_eq!(refusal(&late), (409, "delivery_code_not_possible"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_keeps_the_records_and_nothing_else_may_change_them() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(FEE * 10);
    let order = at_the_door(&business, "erased").await?;
    business.fleet.send(&order, &report(&order, "order.failed", 1, evidence())).await?.expect(200)?;
    business.fleet.send(&order, &report(&order, "driver.assigned", 2, Value::Null)).await?.expect(200)?;
    for event in ["order.out_for_delivery", "order.delivered"] {
        let sent = if event == "order.delivered" { evidence() } else { Value::Null };
        business.fleet.send(&order, &report(&order, event, 2, sent)).await?.expect(200)?;
    }
    let mut connection = service.connection().await;
    for change in [
        "UPDATE delivery_evidence SET personal = '{}'",
        "UPDATE delivery_evidence SET record = record || ' ', hash = encode(sha256(convert_to(record || ' ', 'UTF8')), 'hex')",
        "UPDATE delivery_evidence SET attempt = attempt + 7",
        "DELETE FROM delivery_evidence",
        "TRUNCATE delivery_evidence",
    ] {
        let refused = connection.batch_execute(change).await.unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{change}: {refused}");
    }
    let before = read(&business, &order).await?;
    let erase = format!("UPDATE orders SET personal_data_erased_at = now() WHERE id = '{order}'");
    connection.batch_execute(&erase).await?;
    let after = read(&business, &order).await?;
    assert_eq!(after["intact"], true);
    for (attempt, was) in
        after["attempts"].as_array().unwrap().iter().zip(before["attempts"].as_array().unwrap())
    {
        for field in ["place", "recipientName", "photo", "personal", "reason"] {
            assert_eq!(attempt[field], Value::Null, "{field}");
        }
        for field in ["hash", "record", "recipientRelation", "capturedAt"] {
            assert_eq!(attempt[field], was[field], "{field}");
        }
    }
    for table in ["delivery_evidence", "order_events"] {
        let from = format!("{table} AS stored WHERE stored::text LIKE '%Zubin%'");
        assert_eq!(service.count(&from).await, 0, "{table}");
    }
    let marked = "order_events WHERE kind IN ('order.failed', 'order.delivered') AND personal_data_erased_at IS NOT NULL";
    assert_eq!(service.count(marked).await, 2);
    // The database's owner can switch the trigger off. The hashes tell.
    let tamper = "ALTER TABLE delivery_evidence DISABLE TRIGGER append_only;
        UPDATE delivery_evidence SET record = replace(record, 'guard', 'family'),
            hash = encode(sha256(convert_to(replace(record, 'guard', 'family'), 'UTF8')), 'hex') WHERE attempt = 1";
    connection.batch_execute(tamper).await?;
    assert_eq!(read(&business, &order).await?["intact"], false);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_simulated_delivery_has_evidence() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let test = business.test()?;
    let order = text(&test.create("sample", &test_kit::smallest_order("sample")).await?.expect(201)?, "id");
    let simulate = async |order: &str, event: &str| {
        let path = format!("/{order}/simulate");
        test.call(Method::POST, &path, Some(&json!({ "event": event }))).await?.expect(200)
    };
    for event in ["driver.assigned", "order.picked_up", "order.out_for_delivery", "order.delivered"] {
        simulate(&order, event).await?;
    }
    let found = test.call(Method::GET, &format!("/{order}/evidence"), None).await?.expect(200)?;
    assert_eq!(
        (&found["attempts"][0]["recipientName"], &found["intact"]),
        (&json!("Test Recipient"), &json!(true))
    );
    assert_eq!(found["attempts"][0]["codeVerified"], Value::Null, "none was issued");
    for (reference, last, verified) in
        [("coded", "order.delivered", json!(true)), ("coded-failed", "order.failed", Value::Null)]
    {
        let body = test_kit::smallest_order(reference);
        let order = text(&test.create(reference, &body).await?.expect(201)?, "id");
        test.call(Method::POST, &format!("/{order}/delivery-code"), None).await?.expect(200)?;
        for event in ["driver.assigned", "order.picked_up", "order.out_for_delivery", last] {
            simulate(&order, event).await?;
        }
        let found = test.call(Method::GET, &format!("/{order}/evidence"), None).await?.expect(200)?;
        assert_eq!(found["attempts"][0]["codeVerified"], verified, "{last}");
    }
    Ok(())
}
