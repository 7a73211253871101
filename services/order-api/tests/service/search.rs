//! The search for orders: by words of the customer and the order, with filters, in bounded time, and after an erasure.

use std::collections::HashMap;

use demo::clients::{Api, Reply};
use diesel_async::SimpleAsyncConnection;
use domain::BusinessId;
use internal_api::orders::OrdersClient;
use reqwest::Method;
use serde_json::{Value, json};
use test_kit::until;

use crate::business::Business;
use crate::harness::{OrderApi, text};

const BALANCE: i64 = 1_000_000;

pub(crate) async fn get(service: &OrderApi, path: &str) -> Reply {
    let api = Api::new(format!("http://{}", service.internal)).unwrap();
    let token = service.settings.internal.token.expose();
    api.send(api.request(Method::GET, &format!("/internal/{path}")).bearer_auth(token)).await.unwrap()
}

pub(crate) async fn page(service: &OrderApi, business: BusinessId, query: &str) -> Value {
    get(service, &format!("businesses/{business}/orders?{query}")).await.expect(200).unwrap()
}

pub(crate) fn references(page: &Value) -> Vec<String> {
    page["data"].as_array().unwrap().iter().map(|order| text(order, "orderReference")).collect()
}

pub(crate) async fn found(service: &OrderApi, business: BusinessId, search: &str, more: &str) -> Vec<String> {
    let search: String = url_encoded(search);
    references(&page(service, business, &format!("search={search}&seesPhones=true{more}")).await)
}

fn url_encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

pub(crate) async fn place(
    business: &Business,
    is_live: bool,
    reference: &str,
    customer: [&str; 4],
) -> String {
    let [name, phone, city, pincode] = customer;
    let mut order = test_kit::smallest_order(reference);
    order["customer"] = json!({ "name": name, "phone": phone });
    order["delivery"]["city"] = json!(city);
    order["delivery"]["pincode"] = json!(pincode);
    if reference.ends_with("cod") {
        order["payment"] =
            json!({ "paymentType": "cod", "deliveryFeePaise": 4900, "codAmountPaise": 25_000 });
    }
    let caller = if is_live { business.live() } else { business.test() }.unwrap();
    text(&caller.create(reference, &order).await.unwrap().expect(201).unwrap(), "id")
}

pub(crate) async fn indexed(service: &OrderApi, count: i64) {
    until("the orders are indexed", async || service.count("order_search").await == count).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_found_by_words_and_filters_in_both_modes() {
    let service = OrderApi::start().await;
    let (owner, stranger) = (service.business(BALANCE), service.business(BALANCE));
    let asha = ["Asha D'Souza", "+919876543210", "Navi Mumbai", "400701"];
    let ravi = ["Ravi Rao", "+919812345678", "Bengaluru", "560038"];
    place(&owner, false, "MC-2026/1001A", asha).await;
    service.clock.advance(chrono::TimeDelta::days(1));
    place(&owner, true, "MC-2026/1002-cod", ravi).await;
    place(&stranger, true, "MC-2026/1001A", asha).await;
    indexed(&service, 3).await;
    let (first, second) = ("MC-2026/1001A", "MC-2026/1002-cod");
    for (search, expected) in [
        ("asha", vec![first]),
        ("SOUZA navi", vec![first]),
        ("400701", vec![first]),
        ("9876543210", vec![first]),
        ("+91 98765 43210", vec![first]),
        ("3210", vec![first]),
        ("mc-2026", vec![second, first]),
        ("1001a", vec![first]),
        ("MC-2026/1001A", vec![first]),
        ("rao 560038", vec![second]),
        ("asha rao", vec![]),
        ("/", vec![]),
        ("mumbai' | 'x", vec![]),
    ] {
        assert_eq!(found(&service, owner.id, search, "").await, expected, "{search}");
    }
    for (filter, expected) in [
        ("mode=live", vec![second]),
        ("status=created", vec![second, first]),
        ("status=delivered", vec![]),
        ("codStatus=pending", vec![second]),
        ("paymentType=prepaid", vec![first]),
        ("paymentType=cod&codStatus=pending&status=created&mode=live", vec![second]),
        ("paymentType=cod&mode=test", vec![]),
        ("createdFrom=2027-01-16T00:00:00Z", vec![second]),
        (
            "createdFrom=2027-01-15T00:00:00Z&createdUntil=2027-01-16T00:00:00Z&paymentType=prepaid",
            vec![first],
        ),
        ("createdUntil=2027-01-15T00:00:00Z", vec![]),
    ] {
        assert_eq!(references(&page(&service, owner.id, filter).await), expected, "{filter}");
        assert_eq!(found(&service, owner.id, "mc", &format!("&{filter}")).await, expected, "mc, {filter}");
    }
    let live = page(&service, owner.id, "mode=live").await;
    for name in ["id", "trackingCode"] {
        let search = text(&live["data"][0], name);
        assert_eq!(found(&service, owner.id, &search, "").await, [second], "{name}");
        assert_eq!(found(&service, owner.id, &search, "&mode=test").await, Vec::<String>::new(), "{name}");
        assert_eq!(found(&service, stranger.id, &search, "").await, Vec::<String>::new(), "{name}");
    }
    // Roles that see phones masked.
    for query in ["search=9876543210", "search=3210&seesPhones=false"] {
        assert_eq!(references(&page(&service, owner.id, query).await), Vec::<String>::new(), "{query}");
    }
    assert_eq!(references(&page(&service, owner.id, "search=asha&seesPhones=false").await), [first]);
    let pages = page(&service, owner.id, "search=mc&limit=1").await;
    assert_eq!((references(&pages), &pages["hasMore"]), (vec![second.to_owned()], &json!(true)));
    let after = format!("search=mc&limit=1&startingAfter={}", text(&pages["data"][0], "id"));
    let pages = page(&service, owner.id, &after).await;
    assert_eq!((references(&pages), &pages["hasMore"]), (vec![first.to_owned()], &json!(false)));
}

/// `KB-5600` is also the words `kb` and `5600`, with which the newer orders to 560038 begin.
#[tokio::test(flavor = "multi_thread")]
async fn an_exact_match_comes_first_and_once() {
    let service = OrderApi::start().await;
    let owner = service.business(BALANCE);
    let asha = ["Asha Rao", "+919876543210", "Bengaluru", "560038"];
    for reference in ["KB-5600", "KB-5601", "KB-5602", "KB-5603"] {
        place(&owner, true, reference, asha).await;
        service.clock.advance(chrono::TimeDelta::seconds(1));
    }
    indexed(&service, 4).await;
    let ranked = ["KB-5600", "KB-5603", "KB-5602", "KB-5601"];
    assert_eq!(found(&service, owner.id, "kb 5600", "").await, ["KB-5603", "KB-5602", "KB-5601", "KB-5600"]);
    for limit in 1..=5 {
        let (mut read, mut after) = (Vec::new(), String::new());
        loop {
            let query = format!("search=KB-5600&limit={limit}{after}");
            let page = page(&service, owner.id, &query).await;
            assert!(references(&page).len() <= limit, "{query}");
            read.extend(references(&page));
            if page["hasMore"] == false {
                break;
            }
            let last = page["next"].as_str().or(page["data"][limit - 1]["id"].as_str()).unwrap().to_owned();
            after = format!("&startingAfter={last}");
        }
        assert_eq!(read, ranked, "pages of {limit}");
    }
    for query in ["search=KB-5600".to_owned(), format!("search=KB-5600&business={}", owner.id)] {
        let found = get(&service, &format!("orders/search?{query}")).await.expect(200).unwrap();
        assert_eq!(text(&found["data"][0]["order"], "orderReference"), "KB-5600", "{query}");
    }

    // A tracking code finds no other order, though the words of one begin with it.
    let newest = page(&service, owner.id, "limit=1").await;
    let code = text(&newest["data"][0], "trackingCode");
    let other = format!("{code}-2");
    place(&owner, true, &other, asha).await;
    indexed(&service, 5).await;
    assert_eq!(found(&service, owner.id, &code[..6], "").await, [other]);
    assert_eq!(found(&service, owner.id, &code, "").await, ["KB-5603"]);
    let anywhere = get(&service, &format!("orders/search?search={code}")).await.expect(200).unwrap();
    assert_eq!(anywhere["data"].as_array().unwrap().len(), 1, "{anywhere}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_with_errors_names_each_of_them() {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let query =
        "search=%20&codStatus=paid&paymentType=card&createdFrom=yesterday&createdUntil=1&seesPhones=2&mode=x";
    let refused = get(&service, &format!("businesses/{}/orders?{query}", business.id)).await;
    let fields: Vec<_> =
        refused.body["errors"].as_array().unwrap().iter().map(|error| text(error, "field")).collect();
    let expected =
        ["mode", "codStatus", "paymentType", "createdFrom", "createdUntil", "search", "seesPhones"];
    assert_eq!((refused.status.as_u16(), fields), (400, expected.map(str::to_owned).to_vec()));
    for more in ["orderReference=a", "trackingCode=29X08EHFC6N8GD", "updatedAfter=2026-01-01T00:00:00Z"] {
        let refused = get(&service, &format!("businesses/{}/orders?search=a&{more}", business.id)).await;
        assert_eq!(refused.body["errors"][0]["code"], "conflicting_fields", "{more}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_searches_the_orders_of_its_business_and_mode() {
    let service = OrderApi::start().await;
    let (one, other) = (service.business(0), service.business(0));
    let asha = ["Asha Rao", "+919876543210", "Mysuru", "570001"];
    place(&one, false, "first", asha).await;
    service.clock.advance(chrono::TimeDelta::seconds(1));
    place(&one, false, "second-cod", asha).await;
    place(&other, false, "other", asha).await;
    indexed(&service, 3).await;
    let found = async |query: &str| -> Vec<String> {
        let listed = one.test().unwrap().call(Method::GET, &format!("?{query}"), None).await.unwrap();
        references(&listed.expect(200).unwrap())
    };
    for search in ["asha", "43210", "mys%20570001"] {
        assert_eq!(found(&format!("search={search}")).await, ["second-cod", "first"], "{search}");
    }
    assert_eq!(found("search=asha&paymentType=cod").await, ["second-cod"]);
    assert_eq!(found("codStatus=not_applicable").await, ["first"]);
    for query in
        ["search=other", "search=asha&createdUntil=2020-01-01T00:00:00Z", "search=asha&status=failed"]
    {
        assert_eq!(found(query).await, Vec::<String>::new(), "{query}");
    }
    let of_live_key = one.live().unwrap().call(Method::GET, "?search=asha", None).await.unwrap();
    assert_eq!(references(&of_live_key.expect(200).unwrap()), Vec::<String>::new());
    let refusals = [
        ("search=%20&codStatus=paid&paymentType=card&createdFrom=1", vec!["invalid_value"; 4]),
        ("search=a&orderReference=first", vec!["conflicting_fields"]),
        ("updatedAfter=2026-01-01T00:00:00Z&paymentType=cod", vec!["conflicting_fields"]),
        ("search=a&seesPhones=true", vec!["unknown_parameter"]),
    ];
    for (query, codes) in refusals {
        let refused = one.test().unwrap().call(Method::GET, &format!("?{query}"), None).await.unwrap();
        let errors = refused.body["errors"].as_array().unwrap().iter();
        let found: Vec<_> = errors.map(|error| error["code"].as_str().unwrap()).collect();
        assert_eq!((refused.status.as_u16(), found), (400, codes), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_staff_find_orders_of_any_business_or_of_one() {
    let service = OrderApi::start().await;
    let (one, other) = (service.business(0), service.business(0));
    let asha = ["Asha Rao", "+919876543210", "Mysuru", "570001"];
    place(&one, false, "one", asha).await;
    // An event without its order does not stop the worker.
    let lost = "INSERT INTO order_events (order_id, sequence, event_id, business_id, kind, status, cod_status, data, occurred_at, recorded_at)
        SELECT 'ord_lost', 1, 'evt_lost', business_id, kind, status, cod_status, data, occurred_at, recorded_at FROM order_events";
    service.connection().await.batch_execute(lost).await.unwrap();
    service.clock.advance(chrono::TimeDelta::seconds(1));
    place(&other, false, "other", asha).await;
    indexed(&service, 2).await;
    let found = async |query: &str| -> Vec<String> {
        let found = get(&service, &format!("orders/search?{query}")).await.expect(200).unwrap();
        found["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| text(&found["order"], "orderReference"))
            .collect()
    };
    assert_eq!(found("search=asha").await, ["other", "one"]);
    assert_eq!(found("search=43210").await, ["other", "one"]);
    assert_eq!(found(&format!("search=asha&business={}", one.id)).await, ["one"]);
    assert_eq!(found("search=one").await, ["one"]);
    assert_eq!(found("search=nobody").await, Vec::<String>::new());
    let day = |days: i64| (service.clock.now() + chrono::TimeDelta::days(days)).format("%Y-%m-%dT%H:%M:%SZ");
    let (past, future) = (day(-1), day(1));
    for search in ["asha", "one"] {
        let with = |filter: String| format!("search={search}{filter}");
        let all = found(&with(String::new())).await;
        assert_eq!(found(&with(format!("&createdFrom={past}&createdUntil={future}"))).await, all);
        for filter in [format!("&createdUntil={past}"), format!("&createdFrom={future}")] {
            assert!(found(&with(filter.clone())).await.is_empty(), "{filter}");
            assert!(found(&with(format!("{filter}&business={}", one.id))).await.is_empty(), "{filter}");
        }
    }
    // A date alone finds all orders of its day.
    let period = format!("createdFrom={past}&createdUntil={future}");
    assert_eq!(found(&period).await, ["other", "one"]);
    assert_eq!(found(&format!("{period}&business={}", one.id)).await, ["one"]);
    for filter in [format!("{period}&status=failed"), format!("createdFrom={future}&createdUntil={}", day(2))]
    {
        assert!(found(&filter).await.is_empty(), "{filter}");
    }
    let long = format!("orders/search?createdFrom={past}&createdUntil={}", day(31));
    assert_eq!(get(&service, &long).await.body["errors"][0]["field"], "createdFrom");
    assert_eq!(get(&service, &format!("{long}&business={}", one.id)).await.status, 200);
    for query in ["orders", "orders?code=one&search=one", "orders/search", "orders/search?status=created"] {
        assert_eq!(get(&service, query).await.status, 400, "{query}");
    }
    for wrong in ["business=x", "status=lost", "createdUntil=yesterday", "startingAfter=x", "limit=0"] {
        let refused = get(&service, &format!("orders/search?search=a&{wrong}")).await;
        let field = wrong.split_once('=').unwrap().0;
        assert_eq!((refused.status.as_u16(), &refused.body["errors"][0]["field"]), (400, &json!(field)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_staff_search_by_city_and_status_and_page_by_page() {
    let service = OrderApi::start().await;
    let (one, other) = (service.business(BALANCE), service.business(BALANCE));
    let mut ids = HashMap::new();
    let to = |name: &'static str, city: &'static str| [name, "+919876543210", city, "682016"];
    for (business, reference, customer) in [
        (&one, "asha", to("Meera", "Kochi")),
        (&one, "kochi-1", to("Asha Rao", "Kochi")),
        (&other, "kochi-2", to("Ravi", "K\u{14d}chi")),
        (&one, "named", to("Kochi Menon", "Thrissur")),
        (&other, "kochi-3", to("Asha Das", "Kochi West")),
    ] {
        let id = place(business, true, reference, customer).await;
        ids.insert(reference, id);
        service.clock.advance(chrono::TimeDelta::seconds(1));
    }
    indexed(&service, 5).await;
    let read = async |query: &str, limit: usize| -> Vec<String> {
        let (mut read, mut after) = (Vec::new(), String::new());
        loop {
            let path = format!("orders/search?{query}&limit={limit}{after}");
            let page = get(&service, &path).await.expect(200).unwrap();
            let data = page["data"].as_array().unwrap();
            assert!(data.len() <= limit, "{path}");
            read.extend(data.iter().map(|found| text(&found["order"], "orderReference")));
            if page["hasMore"] == false {
                return read;
            }
            let last = page["next"].as_str().or_else(|| data.last()?["order"]["id"].as_str()).unwrap();
            after = format!("&startingAfter={last}");
        }
    };
    let of_one = format!("city=kochi&business={}", one.id);
    for limit in 1..=6 {
        assert_eq!(read("city=kochi", limit).await, ["kochi-3", "kochi-2", "kochi-1", "asha"], "{limit}");
        assert_eq!(read(of_one.as_str(), limit).await, ["kochi-1", "asha"], "{limit}");
        assert_eq!(read("search=asha", limit).await, ["asha", "kochi-3", "kochi-1"], "{limit}");
        assert_eq!(read("search=asha&city=KOCHI%20w", limit).await, ["kochi-3"], "{limit}");
    }
    assert_eq!(read("city=kochi&status=cancelled", 2).await, Vec::<String>::new());
    let cancel = format!("/{}/cancel", ids["kochi-1"]);
    one.live().unwrap().call(Method::POST, &cancel, None).await.unwrap().expect(200).unwrap();
    for query in ["city=kochi&status=cancelled", "search=kochi-1&status=cancelled"] {
        assert_eq!(read(query, 2).await, ["kochi-1"], "{query}");
    }
    assert_eq!(read("search=kochi-1&status=created", 2).await, Vec::<String>::new());
    for business in [&one, &other, &service.business(BALANCE)] {
        place(business, true, "shared", to("Ravi", "Pune")).await;
    }
    indexed(&service, 8).await;
    for limit in 1..=4 {
        assert_eq!(read("search=shared", limit).await, ["shared"; 3], "{limit}");
    }
}

const OF_CUSTOMER: &str = "order_search WHERE words::text ~ '[*+-]'";

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_removes_the_words_of_the_customer_by_whichever_release() {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let asha = ["Asha Rao", "+919876543210", "Mysuru", "570001"];
    let first = place(&business, false, "first", asha).await;
    place(&business, false, "second", asha).await;
    indexed(&service, 2).await;
    cancel_and_erase(&service, &business, &first).await;
    assert_eq!(found(&service, business.id, "asha", "").await, ["second"]);
    assert_eq!(found(&service, business.id, "9876543210", "").await, ["second"]);
    assert_eq!(service.count(OF_CUSTOMER).await, 1);
    // As release 1.0.0 does it, which does not know the words.
    let erase = "UPDATE orders SET details = '{}', personal_data_erased_at = now() WHERE personal_data_erased_at IS NULL";
    service.connection().await.batch_execute(erase).await.unwrap();
    assert_eq!(service.count(OF_CUSTOMER).await, 0);
    assert_eq!(found(&service, business.id, "asha", "").await, Vec::<String>::new());
    for kept in ["first", "570001 first", "rst"] {
        assert_eq!(found(&service, business.id, kept, "").await, ["first"], "{kept}");
    }
}

async fn cancel_and_erase(service: &OrderApi, business: &Business, id: &str) {
    let cancel = format!("/{id}/cancel");
    let caller = business.test().unwrap();
    caller.call(Method::POST, &cancel, Some(&json!({}))).await.unwrap().expect(200).unwrap();
    let internal = test_kit::url(service.internal);
    let orders = OrdersClient(test_kit::peer("order-api", &internal, &service.settings.internal.token));
    orders.erase_personal_data(business.id, id).await.unwrap();
}

/// The worker may have read the order before, or may read it afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_erased_while_it_is_indexed_leaves_no_words_of_its_customer() {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let mut holder = service.connection().await;
    for round in 0..3 {
        let reference = format!("round-{round}");
        let customer = ["Asha Rao", "+919876543210", "Mysuru", "570001"];
        let id = place(&business, false, &reference, customer).await;
        holder.batch_execute("BEGIN; LOCK TABLE order_search IN EXCLUSIVE MODE").await.unwrap();
        let release = async {
            let waiting = "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
            let both_wait = async || {
                service.count(waiting).await + service.count("order_search").await >= 2 + i64::from(round)
            };
            until("the erasure and the worker wait", both_wait).await;
            holder.batch_execute("COMMIT").await.unwrap();
        };
        tokio::join!(cancel_and_erase(&service, &business, &id), release);
        indexed(&service, i64::from(round) + 1).await;
        assert_eq!(service.count(OF_CUSTOMER).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_corrected_order_is_found_by_its_new_words_only() {
    let service = OrderApi::start().await;
    let owner = service.business(BALANCE);
    let order = place(&owner, true, "C-1", ["Asha Rao", "+919876543210", "Pune", "411001"]).await;
    indexed(&service, 1).await;
    let (path, phone) = (format!("/{order}/delivery-details"), json!({ "phone": "+919812344444" }));
    owner.live().unwrap().call(Method::POST, &path, Some(&phone)).await.unwrap().expect(200).unwrap();
    assert_eq!(found(&service, owner.id, "9812344444", "").await, ["C-1"]);
    assert!(found(&service, owner.id, "9876543210", "").await.is_empty());
    assert_eq!(found(&service, owner.id, "asha pune", "").await, ["C-1"]);
}
