//! The tracking page and its JSON: readable with the code alone, without JavaScript, and free of personal data.

use demo::clients::{Api, Fleet, Reply};
use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::business::Business;
use test_kit::smallest_order;

use crate::harness::{OrderApi, PUBLIC_ORIGIN, text};

#[tokio::test(flavor = "multi_thread")]
async fn anyone_with_the_code_sees_where_the_parcel_is() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(100_000);
    let customer = Customer(Api::new(format!("http://{}", service.public))?);
    a_live_parcel_shows_its_steps_and_no_personal_data(&business, &customer).await?;
    a_test_order_says_so(&business, &customer).await?;
    an_unknown_code_is_answered_kindly(&customer).await
}

/// A client without a key.
struct Customer(Api);

impl Customer {
    async fn get(&self, path: &str) -> anyhow::Result<Reply> {
        self.0.send(self.0.request(Method::GET, path)).await
    }

    /// The page of an order and its JSON.
    async fn look(&self, order: &Value) -> anyhow::Result<(Reply, Reply)> {
        let page = path_of_page(order);
        let json = page.replace("/track/", "/v1/tracking/");
        Ok((self.get(&page).await?, self.get(&json).await?))
    }
}

fn path_of_page(order: &Value) -> String {
    let url = text(order, "trackingUrl");
    url.strip_prefix(PUBLIC_ORIGIN).unwrap_or_else(|| panic!("not ours: {url}")).to_owned()
}

async fn a_live_parcel_shows_its_steps_and_no_personal_data(
    business: &Business,
    customer: &Customer,
) -> anyhow::Result<()> {
    let id = business.place("tracked-reference").await?;
    business.fleet.drive(&id, &["driver.assigned"], 0).await?;
    let mut picked_up = Fleet::progress(&id, "order.picked_up", 0);
    picked_up["occurredAt"] = json!("2020-01-31T09:30:00Z");
    business.fleet.send(&id, &picked_up).await?.expect(200)?;
    let order = business.live()?.call(Method::GET, &format!("/{id}"), None).await?.expect(200)?;
    let (page, json) = customer.look(&order).await?;
    assert_eq!((page.status.as_u16(), json.status.as_u16()), (200, 200));
    assert_eq!(json.body["headline"], "Your parcel is picked up");
    assert_eq!((&json.body["status"], &json.body["finished"]), (&json!("picked_up"), &json!(false)));
    let steps: Vec<_> =
        json.body["steps"].as_array().into_iter().flatten().map(|step| &step["event"]).collect();
    assert_eq!(steps, ["order.created", "driver.assigned", "order.picked_up"]);
    let stages = json.body["progress"].as_array().cloned().unwrap_or_default();
    let states: Vec<_> = stages.iter().map(|stage| stage["state"].as_str().unwrap_or_default()).collect();
    assert_eq!(states, ["done", "done", "current", "upcoming", "upcoming"]);

    // Each stage has its recorded time: the clock of the fleet can be wrong.
    let events = business.live()?.call(Method::GET, &format!("/{id}/events"), None).await?.expect(200)?;
    let entries = events["data"].as_array().into_iter().flatten();
    let moves = entries.filter(|entry| entry["type"] == "status");
    let recorded: Vec<_> = moves.map(|entry| text(entry, "recordedAt")).collect();
    for (place, recorded_at) in recorded.iter().enumerate() {
        assert_eq!(json.body["steps"][place]["recordedAt"], json!(recorded_at));
        assert_eq!(stages[place]["at"], json!(recorded_at));
        let time = format!("datetime=\"{}+00:00\"", recorded_at.trim_end_matches('Z'));
        assert!(page.text.contains(&time), "{time} in {}", page.text);
    }
    assert_eq!(recorded.len(), 3);

    // The page works without JavaScript: its HTML contains all of this.
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
    let code = text(&order, "trackingCode");
    let typed = path_of_page(&order).replace(&code, &code.to_lowercase());
    assert_ne!(typed, path_of_page(&order));
    assert_eq!(customer.get(&typed).await?.text, page.text);
    Ok(())
}

async fn a_test_order_says_so(business: &Business, customer: &Customer) -> anyhow::Result<()> {
    let test = business.test()?;
    let order = test.create("tracked-test", &smallest_order("tracked-test")).await?.expect(201)?;
    let (page, json) = customer.look(&order).await?;
    assert!(page.text.contains("Test order."), "{}", page.text);
    assert_eq!(json.body["mode"], "test");
    let cancel = format!("/{}/cancel", text(&order, "id"));
    test.call(Method::POST, &cancel, Some(&json!({ "reason": "<b>mine alone</b>" }))).await?.expect(200)?;
    let (page, json) = customer.look(&order).await?;
    assert_eq!(
        (&json.body["headline"], &json.body["finished"]),
        (&json!("The delivery was cancelled"), &json!(true))
    );
    assert!(!page.text.contains("mine alone") && !json.text.contains("mine alone"));
    Ok(())
}

async fn an_unknown_code_is_answered_kindly(customer: &Customer) -> anyhow::Result<()> {
    for code in [
        "TEST-0000000000000X",
        "x",
        "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "%00",
        "ord_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    ] {
        let page = customer.get(&format!("/track/{code}")).await?;
        assert_eq!(page.status, 404, "{code}");
        assert!(page.text.contains("We cannot find this parcel") && !page.text.contains("alert"), "{code}");
        let json = customer.get(&format!("/v1/tracking/{code}")).await?;
        assert_eq!((json.status.as_u16(), json.code()), (404, "tracking_code_not_found"), "{code}");
    }
    Ok(())
}
