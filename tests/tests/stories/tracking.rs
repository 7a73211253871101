//! The tracking page and its JSON: readable by whoever holds the code, without a script, and free of personal data.

use demo::clients::{Fleet, Reply};
use local_stack::Stack;
use reference_shop::NewOrder;
use reqwest::{Method, header};
use serde_json::{Value, json};
use waybill_tests::{Business, text};

#[tokio::test(flavor = "multi_thread")]
async fn whoever_holds_the_code_sees_where_the_parcel_is() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(100_000).await?;
    a_live_parcel_shows_its_steps_and_nobodys_data(&business).await?;
    a_test_order_says_so(&business).await?;
    an_unknown_code_is_answered_kindly(&stack).await?;
    stack.shut_down().await
}

async fn get(url: &str) -> anyhow::Result<Reply> {
    let api = demo::clients::Api::new("")?;
    api.send(api.request(Method::GET, url)).await
}

/// The order's page and the JSON behind it.
async fn look(order: &Value) -> anyhow::Result<(Reply, Reply)> {
    let page = text(order, "trackingUrl")?;
    let json = page.replace("/track/", "/v1/tracking/");
    Ok((get(&page).await?, get(&json).await?))
}

async fn a_live_parcel_shows_its_steps_and_nobodys_data(business: &Business) -> anyhow::Result<()> {
    let id = business.place(NewOrder::sample("tracked-reference")).await?;
    business.fleet.drive(&id, &["driver.assigned"], 0).await?;
    let mut picked_up = Fleet::progress(&id, "order.picked_up", 0);
    picked_up["occurredAt"] = json!("2020-01-31T09:30:00Z");
    business.fleet.send(&id, &picked_up).await?.expect(200)?;
    let order = business.live()?.call(Method::GET, &format!("/{id}"), None).await?.expect(200)?;
    let (page, json) = look(&order).await?;
    assert_eq!((page.status.as_u16(), json.status.as_u16()), (200, 200));
    assert_eq!(json.body["headline"], "Your parcel is picked up");
    assert_eq!((&json.body["status"], &json.body["finished"]), (&json!("picked_up"), &json!(false)));
    let steps: Vec<_> =
        json.body["steps"].as_array().into_iter().flatten().map(|step| &step["event"]).collect();
    assert_eq!(steps, ["order.created", "driver.assigned", "order.picked_up"]);
    let stages = json.body["progress"].as_array().cloned().unwrap_or_default();
    let states: Vec<_> = stages.iter().map(|stage| stage["state"].as_str().unwrap_or_default()).collect();
    assert_eq!(states, ["done", "done", "current", "upcoming", "upcoming"]);

    // Each stage has the time at which it was recorded: the fleet's clock can be wrong.
    let events = business.live()?.call(Method::GET, &format!("/{id}/events"), None).await?.expect(200)?;
    let entries = events["data"].as_array().into_iter().flatten();
    let moves = entries.filter(|entry| entry["type"] == "status");
    let recorded: Vec<_> = moves.map(|entry| text(entry, "recordedAt")).collect::<anyhow::Result<_>>()?;
    for (place, recorded_at) in recorded.iter().enumerate() {
        assert_eq!(json.body["steps"][place]["recordedAt"], json!(recorded_at));
        assert_eq!(stages[place]["at"], json!(recorded_at));
        let time = format!("datetime=\"{}+00:00\"", recorded_at.trim_end_matches('Z'));
        assert!(page.text.contains(&time), "{time} in {}", page.text);
    }
    assert_eq!(recorded.len(), 3);

    // All of it stands in the page as it is sent.
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.text.contains("<h1 id=\"headline\">Your parcel is picked up</h1>"), "{}", page.text);
    assert!(stages.iter().all(|stage| page.text.contains(stage["label"].as_str().unwrap_or("no label"))));
    assert_eq!(page.text.matches("<time ").count(), 3);
    assert!(!page.text.contains("Test order"));
    let policy = page.header("content-security-policy").unwrap_or_default();
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for reply in [&page, &json] {
        assert_eq!(reply.header(header::CACHE_CONTROL.as_str()), Some("no-store"));
        // Customer, shop, driver, money and the shop's own reference.
        for private in [
            "Asha",
            "+9198",
            "Lake View",
            "560038",
            "Malabar",
            "Joseph",
            "Ravi",
            "KA01",
            "Paise",
            "tracked-reference",
        ] {
            assert!(!reply.text.contains(private), "{private} in {}", reply.text);
        }
    }
    // Typed from paper.
    let lower = text(&order, "trackingCode")?.to_lowercase();
    let typed = text(&order, "trackingUrl")?.replace(&text(&order, "trackingCode")?, &lower);
    assert_eq!(get(&typed).await?.text, page.text);
    Ok(())
}

async fn a_test_order_says_so(business: &Business) -> anyhow::Result<()> {
    let test = business.integration(&business.test_key)?;
    let order =
        test.create("tracked-test", &waybill_tests::smallest_order("tracked-test")).await?.expect(201)?;
    let (page, json) = look(&order).await?;
    assert!(page.text.contains("Test order."), "{}", page.text);
    assert_eq!(json.body["mode"], "test");
    let cancel = format!("/{}/cancel", text(&order, "id")?);
    test.call(Method::POST, &cancel, Some(&json!({ "reason": "<b>mine alone</b>" }))).await?.expect(200)?;
    let (page, json) = look(&order).await?;
    assert_eq!(
        (&json.body["headline"], &json.body["finished"]),
        (&json!("The delivery was cancelled"), &json!(true))
    );
    assert!(!page.text.contains("mine alone") && !json.text.contains("mine alone"));
    Ok(())
}

async fn an_unknown_code_is_answered_kindly(stack: &Stack) -> anyhow::Result<()> {
    let origin = stack.order_api_origin();
    for code in [
        "TEST-0000000000000X",
        "x",
        "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "%00",
        "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ] {
        let page = get(&format!("{origin}/track/{code}")).await?;
        assert_eq!(page.status, 404, "{code}");
        assert!(page.text.contains("We cannot find this parcel") && !page.text.contains("alert"), "{code}");
        let json = get(&format!("{origin}/v1/tracking/{code}")).await?;
        assert_eq!((json.status.as_u16(), json.code()), (404, "tracking_code_not_found"), "{code}");
    }
    Ok(())
}
