//! Phones and addresses of customers, in the responses of every call for every role.

use domain::{EvidencePlace, Paise, Photo};
use internal_api::Page;
use internal_api::orders::{
    AcceptedRequest, EvidenceView, ExceptionOrder, ExceptionsPage, OrderView, ReattemptView,
    SimulatedOrderView, TimelineEntry, TimelinePage,
};
use internal_api::webhooks::{AttemptView, DeliveryDetails, EndpointView};
use serde_json::{Value, json};

use crate::answers::{self, DELIVERY, ORDER};
use crate::client::Client;
use crate::peers::{answer_of, at};
use crate::portal::{Owner, Portal};
use crate::roles::{CALLS, filled};

const PHONE: &str = "9876543210";
const DRIVERS_PHONE: &str = "9800000009";
const STREET: &str = "12 Lavender Lane";
const REASON: &str = "left with the neighbour at 14 Lavender Lane";
/// None of these reaches a role that does not see customers.
const PERSONAL: [&str; 8] =
    [PHONE, DRIVERS_PHONE, STREET, "Lavender", "asha@home.example", "12.9716", "home.example", "98765"];

fn details() -> Value {
    let place = json!({
        "addressLine1": STREET, "addressLine2": "Lavender house", "landmark": "Lavender park", "city": "Bengaluru",
        "state": "Karnataka", "pincode": "560001", "latitude": 12.9716, "longitude": 12.9716,
        "fullAddress": format!("{STREET}, Bengaluru"),
    });
    let mut pickup = place.clone();
    pickup["phone"] = json!(format!("+91{PHONE}"));
    json!({
        "customer": { "name": "Asha Rao", "phone": format!("+91{PHONE}"), "email": "asha@home.example" },
        "delivery": place,
        "pickup": pickup,
        "package": { "items": [], "fragile": true, "specialInstructions": format!("ring at {STREET}") },
        "notes": { "customerNote": format!("call {PHONE}"), "internalNote": STREET },
    })
}

fn order() -> OrderView {
    let details = details();
    OrderView {
        customer: details["customer"].clone(),
        delivery: details["delivery"].clone(),
        pickup: details["pickup"].clone(),
        package: details["package"].clone(),
        notes: details["notes"].clone(),
        driver: json!({ "name": "Ravi", "phone": format!("+91{DRIVERS_PHONE}"), "vehicle": "Bike" }),
        reason: Some(REASON.to_owned()),
        reattempt: Some(ReattemptView {
            on: None,
            number: 2,
            note: Some(format!("call {PHONE}")),
            fee_paise: Paise::ZERO,
            requested_at: at(),
            requested_by: Some("portal".to_owned()),
        }),
        ..answers::order()
    }
}

fn event_data() -> Value {
    json!({ "driver": { "name": "Ravi", "phone": format!("+91{DRIVERS_PHONE}") }, "reason": REASON })
}

fn timeline() -> TimelinePage {
    let mut page = answers::timeline();
    for entry in &mut page.data {
        if let TimelineEntry::Status(entry) = entry {
            entry.data = event_data();
        }
    }
    page
}

fn evidence() -> EvidenceView {
    let mut evidence = answers::evidence();
    let attempt = &mut evidence.attempts[0];
    attempt.place = Some(EvidencePlace { latitude: 12.9716, longitude: 12.9716 });
    attempt.recipient_name = Some("Lavender".to_owned());
    attempt.photo = Some(Photo { url: "https://home.example/7".to_owned(), sha256: "cd".repeat(32) });
    attempt.personal = Some(format!("{{\"reason\":\"{REASON}\"}}"));
    evidence
}

fn delivery() -> DeliveryDetails {
    let attempt = AttemptView {
        number: 1,
        method: "POST".to_owned(),
        url: None,
        started_at: at(),
        duration_ms: 7,
        response_status: Some(500),
        succeeded: false,
        error: Some("HTTP 500".to_owned()),
        request_headers: json!({}),
        response_headers: json!({ "x-customer": format!("+91{PHONE}"), "location": "/thanks?to=asha%40home.example&tel=98765%2043210" }),
        response_body: Some(format!("no order of +91 {PHONE}")),
    };
    let request_body = json!({ "event": "delivery.failed", "data": event_data() }).to_string();
    DeliveryDetails { request_body, attempt_log: vec![attempt], ..answers::delivery_details() }
}

fn accepted() -> AcceptedRequest {
    AcceptedRequest {
        request_id: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
        received_at: at(),
        idempotency_key: "shop-1".to_owned(),
        body: details(),
        key_id: answers::KEY.parse().unwrap(),
        personal_data_erased_at: None,
    }
}

/// All peers answer with as much personal data as they may.
fn know_personal_data(portal: &Portal, owner: &Owner) {
    let of = |service: &str, call: &str, answer: Value| {
        let (method, path) = call.split_once(' ').unwrap();
        let kind = if service == "wallet" { "wallets" } else { "businesses" };
        portal.peers.answer(
            format!("{method} /{service}/internal/{kind}/{}{path}", owner.business),
            200,
            answer,
        );
    };
    let one = format!("/orders/{ORDER}");
    // Large enough to be masked outside the thread of requests.
    let orders = Page { data: vec![order(); 40], has_more: false };
    of("order-api", "GET /orders", answer_of(&orders));
    of("order-api", &format!("GET {one}"), answer_of(&order()));
    of("order-api", &format!("GET {one}/events"), answer_of(&timeline()));
    of("order-api", &format!("GET {one}/evidence"), answer_of(&evidence()));
    of("order-api", &format!("GET {one}/request"), answer_of(&accepted()));
    of("key-management", &format!("GET /api-keys/{}", answers::KEY), answer_of(&answers::key()));
    for call in ["cancel", "reattempt", "return", "delivery-details"] {
        of("order-api", &format!("POST {one}/{call}"), answer_of(&order()));
    }
    let exceptions = ExceptionsPage {
        data: vec![ExceptionOrder { order: order(), since: Some(at()) }],
        ..answers::exceptions()
    };
    of("order-api", "GET /exceptions", answer_of(&exceptions));
    of("order-api", &format!("POST {one}/erase-personal-data"), answer_of(&order()));
    let simulated = SimulatedOrderView { order: order(), ..answers::simulated() };
    of("order-api", &format!("POST {one}/simulate"), answer_of(&simulated));
    of("order-api", "GET /events", answer_of(&answers::events()));
    of("wallet", "GET /entries", answers::page(answers::entry()));
    of("wallet", "GET /cash", answer_of(&answers::cash()));
    of("webhook-dispatcher", &format!("GET /webhook-deliveries/{DELIVERY}"), answer_of(&delivery()));
    let log = format!("GET /webhook-endpoints/{}/deliveries", answers::ENDPOINT);
    of("webhook-dispatcher", &log, answer_of(&answers::deliveries()));
}

/// The calls whose successful response contains personal data, and how many there were.
async fn leaks(client: &mut Client) -> (Vec<&'static str>, usize) {
    let (mut leaks, mut succeeded) = (Vec::new(), 0);
    for (call, _) in CALLS {
        let (method, path) = call.split_once(' ').unwrap();
        let answer = client.call(method, &filled(path)).await;
        succeeded += usize::from(answer.status < 300);
        let text = format!("{} {:?}", answer.body, answer.headers);
        if PERSONAL.iter().any(|personal| text.contains(personal)) {
            leaks.push(*call);
        }
    }
    (leaks, succeeded)
}

#[tokio::test]
async fn no_call_shows_phones_or_addresses_to_roles_that_do_not_need_them() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    for role in ["developer", "finance", "viewer", "support"] {
        let mut member = portal.member(&mut owner, &format!("{role}@shop.example"), role).await;
        know_personal_data(&portal, &owner);
        let (leaks, succeeded) = leaks(&mut member).await;
        assert!(succeeded >= 12, "{role}: {succeeded}");
        if role == "support" {
            let shown = [
                "GET /orders",
                "GET /orders/{id}",
                "GET /exceptions",
                "GET /orders/{id}/events",
                "GET /orders/{id}/evidence",
                "GET /orders/{id}/request",
                "GET /webhook-deliveries/{id}",
                "POST /orders/{id}/cancel",
                "POST /orders/{id}/reattempt",
                "POST /orders/{id}/return",
                "POST /orders/{id}/delivery-details",
            ];
            assert_eq!(leaks, shown, "support sees customers");
        } else {
            assert_eq!(leaks, [""; 0], "{role}");
        }
    }
    know_personal_data(&portal, &owner);
    let (shown, _) = leaks(&mut owner.client).await;
    assert_eq!(shown.len(), 13, "owners see everything: {shown:?}");
}

#[tokio::test]
async fn masked_orders_say_so_and_keep_what_the_role_needs() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    know_personal_data(&portal, &owner);
    let path = format!("/v1/portal/orders/{ORDER}");
    let shown = owner.client.get(&path).await;
    assert_eq!(shown.body, answer_of(&order()), "unchanged for owners");
    let masked = viewer.get(&path).await;
    assert_eq!(masked.header("content-type"), "application/json");
    assert_eq!(masked.header("cache-control"), "no-store");
    assert_eq!(masked.body["personalDataMasked"], true);
    assert_eq!(masked.body["customer"], json!({ "name": "Asha Rao", "phone": "••••••3210", "email": null }));
    assert_eq!(
        (&masked.body["delivery"]["city"], &masked.body["delivery"]["pincode"]),
        (&json!("Bengaluru"), &json!("560001"))
    );
    assert_eq!(masked.body["trackingUrl"], shown.body["trackingUrl"], "the page shows no personal data");
    let listed = viewer.get("/v1/portal/orders").await.body;
    assert_eq!((&listed["data"][0], &listed["hasMore"]), (&masked.body, &json!(false)));
    let delivery = viewer.get(&format!("/v1/portal/webhook-deliveries/{DELIVERY}")).await.body;
    assert_eq!(delivery["personalDataMasked"], true);
    assert_eq!(delivery["attemptLog"][0]["responseBody"], "••••••");
    let request = viewer.get(&format!("{path}/request")).await.body;
    assert_eq!(
        (&request["personalDataMasked"], &request["body"]["customer"]["phone"]),
        (&json!(true), &json!("••••••3210"))
    );
    // An error is not masked, and says what is wrong.
    portal.peers.answer(
        format!("GET /order-api/internal/businesses/{}/orders/{ORDER}", owner.business),
        404,
        json!({ "code": "order_not_found", "message": "There is no such order." }),
    );
    assert_eq!(viewer.get(&path).await.code(), "order_not_found");
}

#[tokio::test]
async fn the_query_of_a_webhook_url_is_shown_to_roles_that_manage_endpoints() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let url = "https://shop.example/hook?token=of-the-owner";
    let endpoint = EndpointView { url: url.to_owned(), ..answers::endpoint() };
    let mut sent = delivery();
    let attempt = &mut sent.attempt_log[0];
    attempt.url = Some(url.to_owned());
    attempt.response_headers = json!({ "location": "https://shop.example/hook/?token=of-the-owner" });
    attempt.response_body = Some("no page /hook?token=of-the-owner".to_owned());
    let one = format!("/webhook-endpoints/{}", answers::ENDPOINT);
    let log = format!("/webhook-deliveries/{DELIVERY}");
    for (path, answer) in [
        ("/webhook-endpoints", answers::page(&endpoint)),
        (one.as_str(), answer_of(&endpoint)),
        (log.as_str(), answer_of(&sent)),
    ] {
        let call = format!("GET /webhook-dispatcher/internal/businesses/{}{path}", owner.business);
        portal.peers.answer(call, 200, answer);
    }
    for (role, sees) in [("developer", true), ("support", false), ("viewer", false)] {
        let mut member = portal.member(&mut owner, &format!("{role}@shop.example"), role).await;
        for path in ["/webhook-endpoints", one.as_str(), log.as_str()] {
            let answer = member.get(&format!("/v1/portal{path}")).await;
            assert!(answer.status == 200 && answer.body.to_string().contains("shop.example/hook"), "{path}");
            assert_eq!(answer.body.to_string().contains("token"), sees, "{role} {path}");
        }
    }
}

/// order-api searches phones only for roles that see them, so that a masked role cannot test phones.
#[tokio::test]
async fn a_search_finds_phones_only_for_roles_that_see_them_and_there_is_no_filter_by_phone() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut viewer = portal.member(&mut owner, "viewer@shop.example", "viewer").await;
    know_personal_data(&portal, &owner);
    for filter in ["phone", "customerPhone", "customer.phone", "email", "addressLine1", "pincode"] {
        let refused = viewer.get(&format!("/v1/portal/orders?{filter}={PHONE}")).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, vec![filter]));
    }
    let empty = json!({ "data": [], "hasMore": false });
    let list = format!("GET /order-api/internal/businesses/{}/orders", owner.business);
    portal.peers.answer(&list, 200, empty.clone());
    let found = viewer.get(&format!("/v1/portal/orders?search={PHONE}")).await;
    assert_eq!((found.status, &found.body), (200, &empty));
    let asked = portal.peers.asked(&list);
    let parameters: Vec<_> = asked.last().unwrap().query.split('&').collect();
    assert!(parameters.contains(&format!("search={PHONE}").as_str()), "{parameters:?}");
    let others = parameters.iter().filter(|one| one.contains(PHONE) && !one.starts_with("search="));
    assert_eq!(others.count(), 0, "{parameters:?}");
    assert!(parameters.contains(&"seesPhones=false"), "{parameters:?}");
    owner.client.get(&format!("/v1/portal/orders?search={PHONE}")).await;
    let asked = portal.peers.asked(&list);
    assert!(asked.last().unwrap().query.ends_with("&seesPhones=true"), "{asked:?}");
}
