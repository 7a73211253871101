//! The events of a business as portal-api reads them: newest first, by order, kind and mode.

use demo::clients::{Api, Reply};
use diesel_async::SimpleAsyncConnection;
use domain::{BusinessId, Clock};
use reqwest::Method;
use serde_json::{Value, json};
use test_kit::until;

use super::reader::{ids, place, simulate};
use super::{STEPS, UNLIMITED};
use crate::harness::{OrderApi, text};

async fn get(service: &OrderApi, business: BusinessId, query: &str) -> Reply {
    get_of(service, business, "events", query).await
}

async fn get_of(service: &OrderApi, business: BusinessId, list: &str, query: &str) -> Reply {
    let api = Api::new(format!("http://{}", service.internal)).unwrap();
    let path = format!("/internal/businesses/{business}/{list}?{query}");
    let token = service.settings.internal.token.expose();
    api.send(api.request(Method::GET, &path).bearer_auth(token)).await.unwrap()
}

async fn page(service: &OrderApi, business: BusinessId, query: &str) -> Value {
    get(service, business, query).await.expect(200).unwrap()
}

fn listed(page: &Value) -> Vec<String> {
    ids(page["data"].as_array().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_found_by_order_kind_and_mode_newest_first() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let (owner, stranger) = (service.business(100_000), service.business(0));
    let (first, second) = (place(&owner, "first").await, place(&owner, "second").await);
    for step in STEPS {
        simulate(&owner, &first, step).await;
    }
    owner
        .live()
        .unwrap()
        .create("live", &test_kit::smallest_order("live"))
        .await
        .unwrap()
        .expect(201)
        .unwrap();
    place(&stranger, "first").await;

    let mut stored = service.event_ids(&owner).await;
    stored.reverse();
    let all = page(&service, owner.id, "limit=100").await;
    assert_eq!(listed(&all), stored);
    assert_eq!((&all["hasMore"], &all["continueAfter"]), (&json!(false), &Value::Null));
    assert_eq!(all["data"][0]["orderReference"], "live");
    assert_eq!(all["data"][1]["event"], STEPS[3]);
    assert_eq!(all["data"][1]["deliveries"], json!([]));
    assert!(!all.to_string().contains("driver\":{"), "no personal data: {all}");

    let (mut paged, mut after) = (Vec::new(), String::new());
    loop {
        let page = page(&service, owner.id, &format!("limit=2{after}")).await;
        paged.extend(listed(&page));
        if page["hasMore"] == false {
            break;
        }
        after = format!("&startingAfter={}", text(&page, "continueAfter"));
    }
    assert_eq!(paged, stored);

    let of_first: Vec<_> =
        all["data"].as_array().unwrap().iter().filter(|one| one["orderId"] == first).cloned().collect();
    for search in [&*first, "first"] {
        assert_eq!(listed(&page(&service, owner.id, &format!("search={search}")).await), ids(&of_first));
    }
    let created = page(&service, owner.id, "event=order.created&mode=test").await;
    let orders: Vec<_> = created["data"].as_array().unwrap().iter().map(|one| text(one, "orderId")).collect();
    assert_eq!(orders, [second.as_str(), &first]);
    assert_eq!(listed(&page(&service, owner.id, "search=nothing").await).len(), 0);

    let mine = text(&all["data"][0], "id");
    for (business, query, field) in [
        (owner.id, "event=order.lost".to_owned(), "event"),
        (owner.id, "event=webhook.test".to_owned(), "event"),
        (owner.id, "mode=real".to_owned(), "mode"),
        (owner.id, "startingAfter=first".to_owned(), "startingAfter"),
        (stranger.id, format!("startingAfter={mine}"), "startingAfter"),
    ] {
        let refused = get(&service, business, &query).await;
        assert_eq!(
            (refused.status.as_u16(), refused.body["errors"][0]["field"].as_str()),
            (400, Some(field)),
            "{query}"
        );
    }
}

/// Users whose role masks customers' data may search too, so a search must not confirm a guessed phone or address. They see
/// names and PIN codes.
#[tokio::test(flavor = "multi_thread")]
async fn no_search_finds_an_order_by_data_that_some_roles_do_not_see() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(0);
    let id = place(&business, "first").await;
    let order = test_kit::smallest_order("first");
    let mut texts = Vec::new();
    until("the order is indexed", async || service.count("order_search").await == 1).await;
    for field in ["/customer/phone", "/delivery/addressLine1"] {
        let text = order.pointer(field).and_then(Value::as_str).unwrap();
        texts.extend([text, text.trim_start_matches("+91"), &text[text.len() - 4..]]);
    }
    for list in ["orders", "events"] {
        for text in &texts {
            let query = format!("search={}", text.replace('+', "%2B").replace(' ', "%20"));
            let found = get_of(&service, business.id, list, &query).await.expect(200).unwrap();
            assert_eq!(found["data"], json!([]), "{list}: {text}");
        }
        let found = get_of(&service, business.id, list, "search=first").await.expect(200).unwrap();
        assert!(found["data"][0].to_string().contains(&id), "{list}: {found}");
    }
}

/// Events that are not wanted are read in parts, so that no call reads all of them.
#[tokio::test(flavor = "multi_thread")]
async fn a_rare_kind_is_searched_in_parts() {
    let service = OrderApi::on_clock(Clock::system(), &UNLIMITED).await;
    let business = service.business(0);
    let order = place(&business, "many").await;
    let created = service.event_ids(&business).await;
    let many = format!(
        "INSERT INTO order_events (order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at)
         SELECT order_id, 1 + n, 'evt_' || lpad(n::text, 26, '0'), business_id, 'driver.assigned', status, cod_status, data, occurred_at, recorded_at
         FROM order_events, generate_series(1, 1500) AS n WHERE order_id = '{order}'"
    );
    service.connection().await.batch_execute(&many).await.unwrap();
    let first = page(&service, business.id, "event=order.created").await;
    assert_eq!((listed(&first).len(), &first["hasMore"]), (0, &json!(true)));
    let after = format!("event=order.created&startingAfter={}", text(&first, "continueAfter"));
    let rest = page(&service, business.id, &after).await;
    assert_eq!((listed(&rest), &rest["hasMore"]), (created, &json!(false)));
}
