//! The point from which on a closing is not withdrawn: a completion that is refused before it changes nothing.

use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};
use test_kit::until;

use crate::client::Client;
use crate::closings::{
    CLOSING, closing_owner, deletion, far, has_access, live_access, lock, of_operator, revocation, settled,
};
use crate::peers::wallet_of;
use crate::portal::{Owner, Portal};

/// Nobody withdraws it or tops up, and live access stays off.
async fn is_past_withdrawal(owner: &mut Owner, operator: &mut Client) {
    let path = of_operator(&owner.business);
    for refused in [
        owner.client.delete(CLOSING).await,
        operator.delete(&format!("{path}/closing")).await,
        owner.client.call("POST", "/v1/portal/wallet/top-ups").await,
    ] {
        assert_eq!((refused.status, refused.code()), (409, "closing_ends"), "{refused:?}");
    }
    assert_eq!(live_access(operator, &owner.business).await, "inactive");
}

/// The entries in each of both audit logs.
async fn completions_begun(operator: &mut Client, business: &str) -> usize {
    let of_business = format!("{}/audit-log", of_operator(business));
    let of_staff = format!("/v1/operator/audit-log?businessId={business}");
    let mut counts = Vec::new();
    for log in [of_business, of_staff] {
        let log = operator.get(&log).await.body;
        let entries = log["data"].as_array().unwrap().iter();
        counts.push(entries.filter(|entry| entry["action"] == "business.closing_completion_begun").count());
    }
    assert_eq!(counts[0], counts[1]);
    counts[0]
}

#[tokio::test]
async fn a_closing_whose_keys_end_is_not_withdrawn() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (closing_owner(&portal).await, portal.operator());
    let business = owner.business.clone();
    let closing = format!("{}/closing", of_operator(&business));
    let complete = format!("{closing}/complete");
    assert_eq!(owner.client.get(CLOSING).await.body["endingAt"], Value::Null);
    has_access(&portal, &business);
    portal.peers.answer(deletion(&business), 503, json!({}));
    assert_eq!(operator.post(&complete, json!({})).await.status, 503);
    settled(&portal, &business, 0);
    let ending = owner.client.get(CLOSING).await.body;
    assert!(ending["state"] == "open" && ending["endingAt"].is_string(), "{ending}");
    is_past_withdrawal(&mut owner, &mut operator).await;

    assert_eq!(completions_begun(&mut operator, &business).await, 1);

    // The operator takes the closing over. Its keys still end.
    assert_eq!(owner.client.post(CLOSING, json!({})).await.status, 204);
    assert_eq!(operator.post(&closing, json!({ "reason": "Contract ended" })).await.status, 204);
    let taken = operator.get(&closing).await.body;
    assert_eq!((&taken["begunBy"], &taken["endingAt"]), (&json!("operator"), &ending["endingAt"]), "{taken}");
    is_past_withdrawal(&mut owner, &mut operator).await;

    has_access(&portal, &business);
    assert_eq!(operator.post(&complete, json!({})).await.status, 204);
    let closed = operator.get(&closing).await.body;
    assert_eq!(
        (&closed["state"], &closed["endingAt"]),
        (&json!("completed"), &ending["endingAt"]),
        "{closed}"
    );
    assert_eq!(completions_begun(&mut operator, &business).await, 1, "the repeated call begins none");
}

#[tokio::test]
async fn a_completion_whose_closing_is_withdrawn_meanwhile_changes_nothing() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (closing_owner(&portal).await, portal.operator());
    let business = owner.business.clone();
    let complete = format!("{}/closing/complete", of_operator(&business));
    has_access(&portal, &business);
    let orders = far("order-api", "GET", &business, "open-orders");
    let mut conn = lock(&portal, &business).await;
    // As a withdrawal that locks the business before the completion does.
    let withdrawn = async {
        until("the first look runs", async || !portal.peers.asked(&orders).is_empty()).await;
        let withdrawal = format!("DELETE FROM closings WHERE business_id = '{business}'; COMMIT");
        conn.batch_execute(&withdrawal).await.unwrap();
    };
    let (refused, ()) = tokio::join!(operator.post(&complete, json!({})), withdrawn);
    assert_eq!((refused.status, refused.code()), (409, "closing_not_begun"), "{refused:?}");
    for call in [revocation(&business), deletion(&business)] {
        assert_eq!(portal.peers.asked(&call).len(), 0, "{call}");
    }
    settled(&portal, &business, 0);
    let read = owner.client.get(CLOSING).await.body;
    assert_eq!((&read["state"], &read["endingAt"]), (&json!("not_begun"), &Value::Null), "{read}");
    assert_eq!(completions_begun(&mut operator, &business).await, 0);
}

#[tokio::test]
async fn money_that_arrives_while_keys_end_is_settled_before_the_completion() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (closing_owner(&portal).await, portal.operator());
    let business = owner.business.clone();
    let complete = format!("{}/closing/complete", of_operator(&business));
    has_access(&portal, &business);
    let wallet = format!("GET /wallet/internal/wallets/{business}");
    portal.peers.answer_in_turn(wallet, [0, 700].map(|balance| (200, wallet_of(balance, true))));
    // At the second look, and at the first one of the repeated call.
    for _ in 0..2 {
        let refused = operator.post(&complete, json!({})).await;
        assert_eq!((refused.status, refused.code()), (409, "closing_not_settled"), "{refused:?}");
        assert_eq!(refused.body["unsettled"], json!(["balance"]), "{refused:?}");
        let message = refused.body["message"].as_str().unwrap();
        assert!(message.contains("cannot be withdrawn") && message.contains("balance"), "{message}");
        for call in [revocation(&business), deletion(&business)] {
            assert_eq!(portal.peers.asked(&call).len(), 1, "{call}");
        }
        is_past_withdrawal(&mut owner, &mut operator).await;
    }
    settled(&portal, &business, 0);
    assert_eq!(operator.post(&complete, json!({})).await.status, 204);
    assert_eq!(owner.client.get(CLOSING).await.body["state"], "completed");
}
