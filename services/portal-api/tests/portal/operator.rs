//! The operator's calls.

use serde_json::{Value, json};

use crate::portal::Portal;

const BUSINESSES: &str = "/v1/operator/businesses";

#[tokio::test]
async fn only_the_operators_token_opens_the_operators_calls() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let path = format!("{BUSINESSES}/{}", owner.business);
    let token = crate::portal::OPERATOR_TOKEN;
    for mut caller in [
        owner.client.clone(),
        portal.stranger(),
        portal.stranger().with_bearer("local-operator-token-of-the-local-stacc"),
        portal.stranger().with_bearer(&format!("{token}x")),
        portal.stranger().with_header("authorization", &format!("Basic {token}")),
    ] {
        let refused = caller.get(BUSINESSES).await;
        assert_eq!((refused.status, refused.code()), (401, "operator_token_invalid"));
        assert_eq!(caller.patch(&path, json!({ "status": "active" })).await.status, 401);
    }
    assert_eq!(portal.operator().get(BUSINESSES).await.body["data"][0]["status"], "inactive");
}

#[tokio::test]
async fn businesses_are_listed_newest_first_page_by_page() {
    let portal = Portal::start().await;
    let mut operator = portal.operator();
    let mut expected = Vec::new();
    for number in 0..5 {
        let owner = portal.owner(&format!("owner{number}@shop.example")).await;
        expected.insert(0, owner.business);
    }
    let mut seen = Vec::new();
    let mut after = String::new();
    loop {
        let page = operator.get(&format!("{BUSINESSES}?limit=2{after}")).await;
        assert_eq!(page.status, 200, "{page:?}");
        let data = page.body["data"].as_array().unwrap();
        seen.extend(data.iter().map(|business| business["id"].as_str().unwrap().to_owned()));
        after = format!("&startingAfter={}", seen.last().unwrap());
        if page.body["hasMore"] == false {
            break;
        }
    }
    assert_eq!(seen, expected);
    let first = operator.get(BUSINESSES).await.body["data"][4].clone();
    assert_eq!(first["ownerEmail"], "owner0@shop.example");
    assert_eq!(first["subscription"], "required");
    assert_eq!(first["liveAccess"], "inactive");
    assert_eq!(first["missing"].as_array().unwrap().len(), 6);

    for query in ["startingAfter=biz_01ARZ3NDEKTSV4RRFFQ69G5FAV", "startingAfter=x", "limit=0", "limit=101"] {
        let refused = operator.get(&format!("{BUSINESSES}?{query}")).await;
        assert_eq!((refused.status, refused.code()), (400, "invalid_request"), "{query}");
    }
}

#[tokio::test]
async fn a_change_is_validated_whole_and_made_whole() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let path = format!("{BUSINESSES}/{}", owner.business);
    let mut operator = portal.operator();
    let refused = operator
        .patch(
            &path,
            json!({ "status": "open", "subscription": "suspended", "liveAccess": true, "name": "x" }),
        )
        .await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.invalid_fields(), ["liveAccess", "name", "status", "subscription"]);
    assert_eq!(operator.patch(&path, json!({})).await.status, 400);
    let half = operator.patch(&path, json!({ "status": "active", "liveAccess": "on" })).await;
    assert_eq!(half.invalid_fields(), ["liveAccess"]);
    assert_eq!(operator.get(BUSINESSES).await.body["data"][0]["status"], "inactive");

    let all = json!({ "status": "active", "subscription": "active", "liveAccess": "active" });
    let changed = operator.patch(&path, all.clone()).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    for (name, value) in all.as_object().unwrap() {
        assert_eq!(&changed.body[name], value);
    }
    let suspended = operator.patch(&path, json!({ "status": "suspended" })).await;
    assert_eq!(suspended.body["status"], "suspended");
    assert_eq!(suspended.body["liveAccess"], "active", "what is left out stays");
}

#[tokio::test]
async fn the_plan_that_the_operator_saw_is_the_one_that_becomes_active() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let path = format!("{BUSINESSES}/{}", owner.business);
    let mut operator = portal.operator();
    let activation = |plan: Value| json!({ "subscription": "active", "plan": plan });
    let ask = json!({ "plan": "starter" });
    assert_eq!(owner.client.put("/v1/portal/subscription", ask).await.status, 200);
    for seen in [json!("growth"), json!(null)] {
        let refused = operator.patch(&path, activation(seen)).await;
        assert_eq!((refused.status, refused.code()), (409, "plan_changed"), "{refused:?}");
        assert_eq!(owner.client.get("/v1/portal/subscription").await.body["status"], "requested");
    }
    let changed = operator.patch(&path, activation(json!("starter"))).await;
    assert_eq!((changed.status, &changed.body["plan"]), (200, &json!("starter")));
    let refused = operator.patch(&path, activation(json!(7))).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["plan"]));
    let refused = operator.patch(&path, json!({ "subscription": "inactive", "plan": "starter" })).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["plan"]));
}

#[tokio::test]
async fn an_unknown_business_is_not_found() {
    let portal = Portal::start().await;
    let mut operator = portal.operator();
    for id in ["biz_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x", "..%2f..", "%00"] {
        let refused = operator.patch(&format!("{BUSINESSES}/{id}"), json!({ "status": "active" })).await;
        assert_eq!((refused.status, refused.code()), (404, "business_not_found"), "{id}");
        let credit = json!({ "amountPaise": 1_000, "reference": "r1" });
        let refused = operator.post(&format!("{BUSINESSES}/{id}/wallet/credits"), credit).await;
        assert_eq!((refused.status, refused.code()), (404, "business_not_found"), "{id}");
    }
}

#[tokio::test]
async fn a_credit_funds_the_wallet_at_once() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let credit = json!({ "amountPaise": 100_000, "reference": "invoice-7" });
    let call = format!("POST /wallet/internal/wallets/{}/credits", owner.business);
    portal.peers.answer(&call, 200, crate::office::credited(100_000, "invoice-7"));
    let path = format!("{BUSINESSES}/{}/wallet/credits", owner.business);
    let answer = portal.operator().post(&path, credit.clone()).await;
    assert_eq!((answer.status, answer.body["balancePaise"].as_i64()), (201, Some(100_000)));
    let mut before = crate::office::credited(100_000, "invoice-7");
    before["alreadyCredited"] = json!(true);
    portal.peers.answer(&call, 200, before);
    let again = portal.operator().post(&path, credit.clone()).await;
    assert_eq!((again.status, &again.body["alreadyCredited"]), (200, &json!(true)));
    assert_eq!(portal.peers.asked(&call)[0].body, credit, "passed on as it came");
    // The wallet itself still says that it was never funded; that it was is known here already.
    let listed = portal.operator().get(BUSINESSES).await;
    assert!(!listed.body["data"][0]["missing"].as_array().unwrap().contains(&json!("wallet_funded")));

    portal.peers.answer(
        &call,
        409,
        json!({ "code": "reference_reused", "message": "Used for another amount." }),
    );
    let refused = portal.operator().post(&path, credit).await;
    assert_eq!((refused.status, refused.code()), (409, "reference_reused"), "passed on unchanged");
}

#[tokio::test]
async fn a_suspended_business_logs_in_but_cannot_order_for_real() {
    let portal = Portal::start().await;
    let owner = portal.owner("owner@shop.example").await;
    let path = format!("{BUSINESSES}/{}", owner.business);
    portal.operator().patch(&path, json!({ "status": "suspended" })).await;
    let log_in = json!({ "email": "owner@shop.example", "password": "correct horse" });
    assert_eq!(portal.stranger().post("/v1/portal/session", log_in).await.status, 200);
    let missing = portal.ordering(&owner.business).await["missing"].clone();
    assert!(missing.as_array().unwrap().contains(&json!("business_active")));
}
