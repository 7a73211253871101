//! A closed business: it refuses every change of its data and money but for a few, and nobody joins it.

use std::collections::BTreeSet;

use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};

use crate::answers::ORDER;
use crate::business_sso::Scene;
use crate::client::{Answer, Client};
use crate::closings::{closing_owner, of_operator};
use crate::documented::DOCUMENT;
use crate::portal::Portal;
use crate::roles::{CALLS, filled};
use crate::two_businesses::join;

/// About a person, who may belong to other businesses too.
const OWN_ACCOUNT: [&str; 7] =
    ["/password", "/email", "/name", "/session", "/second-factor", "/memberships", "/businesses"];

/// What stays possible, and why.
const ALLOWED: [(&str, &[&str]); 6] = [
    (
        "its people still come in to read, or no longer do",
        &[
            "DELETE /v1/portal/single-sign-on",
            "PATCH /v1/portal/users/{id}",
            "DELETE /v1/portal/users/{id}",
            "POST /v1/portal/users/{id}/link",
            "DELETE /v1/portal/users/{id}/second-factor",
            "DELETE /v1/portal/users/{id}/sessions",
            "DELETE /v1/portal/invitations/{id}",
            "POST /v1/operator/businesses/{id}/password-resets",
            "DELETE /v1/operator/businesses/{id}/users/{user}/second-factor",
            // A suspension, or its end. Its command refuses live access.
            "PATCH /v1/operator/businesses/{id}",
        ],
    ),
    (
        "it ends what a call on its way, or release 1.0.0, made after the completion",
        &[
            "POST /v1/portal/api-keys/{id}/revoke",
            "DELETE /v1/portal/webhook-endpoints/{id}",
            "POST /v1/portal/orders/{id}/cancel",
            "POST /v1/portal/orders/{id}/return",
            "POST /v1/operator/businesses/{id}/orders/{order}/return",
        ],
    ),
    (
        "it erases personal data",
        &[
            "POST /v1/portal/orders/{id}/erase-personal-data",
            "POST /v1/portal/personal-data-erasure",
            "POST /v1/operator/businesses/{id}/personal-data-erasure",
        ],
    ),
    (
        "an export is a list that is read later",
        &[
            "POST /v1/portal/orders/exports",
            "POST /v1/portal/cod/exports",
            "DELETE /v1/portal/exports/{id}",
            "POST /v1/operator/businesses/{id}/orders/exports",
            "POST /v1/operator/businesses/{id}/cod/exports",
        ],
    ),
    (
        "money that arrived late is paid out or settled, and the staff notes why, until the erasure",
        &[
            "POST /v1/operator/businesses/{id}/wallet/debits",
            // The bank may return a payout.
            "POST /v1/operator/businesses/{id}/wallet/credits",
            "POST /v1/operator/businesses/{id}/remittances",
            "POST /v1/operator/businesses/{id}/remittances/check",
            "PUT /v1/operator/businesses/{id}/cod/{order}/difference",
            "POST /v1/operator/businesses/{id}/notes",
        ],
    ),
    ("a repeated completion changes nothing", &["POST /v1/operator/businesses/{id}/closing/complete"]),
];

/// The changes of a business: those of its users, and those of the operator, by method and path.
fn changes() -> Vec<(String, String)> {
    let of_users = CALLS.iter().map(|(call, _)| call.split_once(' ').unwrap());
    let of_users = of_users.filter(|(_, path)| !OWN_ACCOUNT.iter().any(|own| path.starts_with(own)));
    let mut changes: Vec<(String, String)> =
        of_users.map(|(method, path)| (method.to_owned(), format!("/v1/portal{path}"))).collect();
    for (path, methods) in DOCUMENT["paths"].as_object().unwrap() {
        if path.starts_with("/v1/operator/businesses/{id}") {
            let methods = methods.as_object().unwrap().keys();
            changes.extend(methods.map(|method| (method.to_uppercase(), path.clone())));
        }
    }
    changes.retain(|(method, _)| method != "GET");
    changes
}

async fn complete(portal: &Portal, business: &str) {
    let path = format!("{}/closing/complete", of_operator(business));
    assert_eq!(portal.operator().post(&path, json!({})).await.status, 204);
}

async fn send(clients: (&mut Client, &mut Client), business: &str, method: &str, path: &str) -> Answer {
    let (owner, operator) = clients;
    match path.strip_prefix("/v1/portal") {
        Some(rest) => owner.call(method, &filled(rest)).await,
        None => {
            let path = path.replace("{id}", business).replace("{order}", ORDER);
            operator.call(method, &path.replace("{user}", "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV")).await
        }
    }
}

#[tokio::test]
async fn every_change_of_a_closed_business_is_refused_but_for_a_few() {
    let portal = Portal::start().await;
    let (mut owner, mut operator) = (closing_owner(&portal).await, portal.operator());
    let mut other = portal.owner("owner@other.example").await;
    complete(&portal, &owner.business).await;
    let mut allowed: BTreeSet<&str> = ALLOWED.iter().flat_map(|(_, calls)| *calls).copied().collect();
    for (method, path) in changes() {
        let call = format!("{method} {path}");
        let answer = send((&mut owner.client, &mut operator), &owner.business, &method, &path).await;
        let is_refused = (answer.status, answer.code()) == (409, "business_closed");
        assert_eq!(is_refused, !allowed.remove(call.as_str()), "{call}: {answer:?}");
        let answer = send((&mut other.client, &mut operator), &other.business, &method, &path).await;
        assert_ne!(answer.code(), "business_closed", "{call} of another business: {answer:?}");
    }
    assert!(allowed.is_empty(), "these are no changes: {allowed:?}");
}

#[tokio::test]
async fn nobody_joins_a_closed_business_with_an_older_invitation() {
    let portal = Portal::start().await;
    let mut owner = closing_owner(&portal).await;
    let mut known = portal.owner("known@other.example").await;
    let of_new = portal.invite(&mut owner, "new@shop.example", "viewer").await;
    let of_known = portal.invite(&mut owner, "known@other.example", "viewer").await;
    complete(&portal, &owner.business).await;
    let body = json!({ "token": of_new, "password": "battery staple" });
    for refused in [
        portal.stranger().post("/v1/portal/invitations/accept", body).await,
        join(&mut known.client, &of_known).await,
    ] {
        assert_eq!((refused.status, refused.code()), (409, "business_closed"), "{refused:?}");
    }
    assert_eq!(owner.client.get("/v1/portal/users").await.body["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_provider_adds_nobody_to_a_closed_business() {
    let scene = Scene::new().await;
    let mut known = scene.portal.stranger();
    assert_eq!(scene.log_in(&mut known, &json!({})).await.status, 200);
    let closed = format!(
        "INSERT INTO closings VALUES ('{}', now(), true, 'Fraud', false, now(), now() + interval '9 years', NULL, now())",
        scene.owner.business
    );
    scene.portal.connect().await.batch_execute(&closed).await.unwrap();
    assert_eq!(scene.log_in(&mut known, &json!({})).await.status, 200, "its users still read");
    let new = json!({ "sub": "person-2", "email": "new@shop.example" });
    let refused = scene.log_in(&mut scene.portal.stranger(), &new).await;
    assert_eq!((refused.status, refused.code()), (403, "business_not_active"), "{refused:?}");
}

/// Such as a top-up that was begun before the closing and paid after it.
#[tokio::test]
async fn the_operator_sees_and_pays_out_money_that_arrived_after_the_closing() {
    let portal = Portal::start().await;
    let (owner, mut operator) = (closing_owner(&portal).await, portal.operator());
    complete(&portal, &owner.business).await;
    let business = &owner.business;
    let (attention, balances) = ("POST /wallet/internal/attention", "POST /wallet/internal/balances");
    portal.peers.answer(attention, 200, json!({ "lowBalances": [], "lateCash": [] }));
    portal.peers.answer("GET /webhook-dispatcher/internal/failing-endpoints", 200, json!([]));
    for (paise, expected) in [
        (0, json!([])),
        (700, json!([{ "businessId": business, "name": "Corner Shop", "balancePaise": 700 }])),
    ] {
        let balance = json!([{ "businessId": business, "balancePaise": paise }]);
        portal.peers.answer(balances, 200, balance);
        let home = operator.get("/v1/operator/home").await.body;
        assert_eq!(home["closedWithMoney"], expected, "{home}");
    }
    assert_eq!(portal.peers.asked(balances)[0].body, json!({ "ids": [business] }));
    assert_eq!(portal.peers.asked(attention)[0].body, json!({ "closed": [business] }));

    let debits = format!("/wallet/internal/wallets/{business}/debits");
    let path = format!("{}/wallet/debits", of_operator(business));
    let body = json!({ "amountPaise": 700, "reference": "UTR 2", "reason": "Paid after the closing." });
    operator.post(&path, body).await;
    assert!(!portal.peers.asked(&format!("POST {debits}")).is_empty(), "the guard lets it through");

    portal.peers.fail("wallet");
    let home = operator.get("/v1/operator/home").await.body;
    assert_eq!(
        (&home["closedWithMoney"], &home["incomplete"][0]),
        (&Value::Null, &json!("wallet")),
        "{home}"
    );
}
