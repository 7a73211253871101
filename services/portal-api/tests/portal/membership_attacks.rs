//! What a member of two businesses, and the owners of one of them, cannot do.

use diesel_async::SimpleAsyncConnection;
use serde_json::json;

use crate::authenticator::{SESSION, challenged, enrol};
use crate::portal::Portal;
use crate::two_businesses::{
    ASHA, JOIN, SWITCH, Two, USERS, actions, business_of, go_to, join, right, switch, user_of,
};

const INVITATIONS: &str = "/v1/portal/invitations";

#[tokio::test]
async fn an_invitation_is_for_one_address() {
    let portal = Portal::start().await;
    let mut ravi = portal.owner("ravi@other.example").await;
    portal.owner(ASHA).await;
    let mut eve = portal.owner("eve@evil.example").await;
    let token = portal.invite(&mut ravi, ASHA, "owner").await;
    let refused = join(&mut eve.client, &token).await;
    assert_eq!((refused.status, refused.code()), (403, "other_account"));
    let itself = join(&mut ravi.client, &token).await;
    assert_eq!((itself.status, itself.code()), (403, "other_account"));
    let mut asha = portal.stranger();
    asha.post(SESSION, right(ASHA)).await;
    assert_eq!(join(&mut asha, &token).await.status, 201, "it is not used up");
}

#[tokio::test]
async fn a_session_must_be_complete_and_open() {
    let portal = Portal::with_factors(&[]).await;
    let mut home = portal.owner(ASHA).await;
    enrol(&portal, &mut home.client).await;
    let mut ravi = portal.owner("ravi@other.example").await;
    let token = portal.invite(&mut ravi, ASHA, "owner").await;
    let mut half = challenged(&portal, ASHA).await;
    let calls = [
        (JOIN, json!({ "token": token })),
        (SWITCH, json!({ "businessId": home.business })),
        ("/v1/portal/businesses", json!({ "businessName": "Shop" })),
    ];
    for (path, body) in &calls {
        assert_eq!(half.post(path, body.clone()).await.code(), "not_logged_in", "{path} without the code");
    }
    let mut ended = home.client.clone();
    home.client.delete(SESSION).await;
    for (path, body) in &calls {
        assert_eq!(ended.post(path, body.clone()).await.code(), "not_logged_in", "{path} after the log-out");
    }
    let foreign = portal.stranger().with_header("origin", "https://evil.example");
    for (path, body) in &calls {
        assert_eq!(foreign.clone().post(path, body.clone()).await.code(), "foreign_origin", "{path}");
    }
}

#[tokio::test]
async fn nobody_switches_to_a_business_that_they_do_not_belong_to() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "viewer").await;
    let stranger = portal.owner("eve@evil.example").await.business;
    for id in [stranger.as_str(), "biz_01ARZ3NDEKTSV4RRFFQ69G5FAV", &two.users[0], "x", "' OR true --"] {
        let refused = switch(&mut two.asha, id).await;
        assert_eq!((refused.status, refused.code()), (404, "business_not_found"), "{id}");
    }
    for body in [json!({}), json!({ "businessId": 7 }), json!({ "businessId": null })] {
        let refused = two.asha.post(SWITCH, body).await;
        assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["businessId"]));
    }
    let forged = json!({ "businessId": two.home, "userId": two.users[0], "role": "owner" });
    assert_eq!(two.asha.post(SWITCH, forged).await.invalid_fields(), ["role", "userId"]);
    let refused = switch(&mut two.ravi.client, &two.home).await;
    assert_eq!((refused.status, refused.code()), (404, "business_not_found"), "another member");
    assert_eq!(business_of(&mut two.asha).await, two.ravi.business, "the session stays open");
    assert_eq!(two.ravi.client.delete(&format!("{USERS}/{}", two.users[1])).await.status, 200);
    two.asha = two.log_in(&portal).await;
    assert_eq!(switch(&mut two.asha, &two.ravi.business).await.code(), "business_not_found", "removed");
}

#[tokio::test]
async fn an_invitation_does_nothing_while_the_business_is_not_active_or_after_the_inviter_left() {
    let portal = Portal::start().await;
    let mut home = portal.owner(ASHA).await;
    let mut ravi = portal.owner("ravi@other.example").await;
    let token = portal.invite(&mut ravi, ASHA, "viewer").await;
    let newcomer = portal.invite(&mut ravi, "new@other.example", "viewer").await;
    for status in ["suspended", "inactive"] {
        let set = format!("UPDATE businesses SET status = '{status}' WHERE id = '{}'", ravi.business);
        portal.connect().await.batch_execute(&set).await.unwrap();
        for (path, body) in [
            (JOIN.to_owned(), json!({ "token": token })),
            (format!("{INVITATIONS}/look-up"), json!({ "token": token })),
            (format!("{INVITATIONS}/look-up"), json!({ "token": newcomer })),
            (format!("{INVITATIONS}/accept"), json!({ "token": newcomer, "password": "battery staple" })),
        ] {
            let refused = home.client.post(&path, body).await;
            assert_eq!((refused.status, refused.code()), (403, "business_not_active"), "{status} {path}");
        }
    }
    portal.approve(&ravi.business).await;
    let mut second = portal.member(&mut ravi, "second@other.example", "owner").await;
    let by_second = json!({ "email": "third@other.example", "role": "viewer" });
    let url = second.post(INVITATIONS, by_second).await.body["url"].as_str().unwrap().to_owned();
    let demote = "UPDATE memberships SET role = 'viewer'
        WHERE account_id = (SELECT id FROM accounts WHERE email = 'second@other.example')";
    portal.connect().await.batch_execute(demote).await.unwrap();
    let mut third = portal.owner("third@other.example").await;
    let refused = join(&mut third.client, url.split("#token=").nth(1).unwrap()).await;
    assert_eq!((refused.status, refused.code()), (422, "invitation_invalid"));
    assert_eq!(join(&mut home.client, &token).await.status, 201, "nothing is used up");
}

#[tokio::test]
async fn a_person_joins_a_business_once() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "viewer").await;
    // The address is changed to an invited one after the invitation.
    let token = portal.invite(&mut two.ravi, "new@shop.example", "owner").await;
    let change = json!({ "email": "new@shop.example" });
    assert_eq!(two.asha.put("/v1/portal/email", change).await.status, 200);
    let refused = join(&mut two.asha, &token).await;
    assert_eq!((refused.status, refused.code()), (409, "already_member"));
    go_to(&portal, &mut two.asha, &two.home).await;
    assert_eq!(join(&mut two.asha, &token).await.code(), "already_member");
}

/// An owner of one business gains nothing in another one.
#[tokio::test]
async fn owners_act_on_their_own_business_only() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "owner").await;
    let [home, there] = two.users.clone();
    let ravi = &mut two.ravi.client;
    for (method, path) in [
        ("DELETE", format!("{USERS}/{home}")),
        ("DELETE", format!("{USERS}/{home}/sessions")),
        ("DELETE", format!("{USERS}/{home}/second-factor")),
    ] {
        assert_eq!(ravi.call(method, &path).await.code(), "user_not_found", "{method} {path}");
    }
    let role = json!({ "role": "viewer" });
    assert_eq!(ravi.patch(&format!("{USERS}/{home}"), role.clone()).await.code(), "user_not_found");
    assert_eq!(ravi.patch(&format!("{USERS}/{there}"), role).await.status, 200);
    assert_eq!(two.asha.get(SESSION).await.body["role"], "viewer");
    go_to(&portal, &mut two.asha, &two.home).await;
    assert_eq!(two.asha.get(SESSION).await.body["role"], "owner", "at home nothing changed");
    let mut other = two.log_in(&portal).await;
    go_to(&portal, &mut other, &two.ravi.business).await;
    let ended = two.ravi.client.delete(&format!("{USERS}/{there}/sessions")).await;
    assert_eq!(ended.body, json!({ "revoked": 1 }));
    assert_eq!((other.get(SESSION).await.status, two.asha.get(SESSION).await.status), (401, 200));
    assert_eq!(two.ravi.client.delete(&format!("{USERS}/{there}")).await.status, 200);
    assert_eq!(two.asha.get(SESSION).await.body["businessId"], two.home);
    assert_eq!(two.asha.get(SESSION).await.body["memberships"].as_array().unwrap().len(), 1);
    assert!(!actions(&mut two.boss).await.contains(&"user.removed".to_owned()));
}

/// Every call in a session of one business shows nothing of the other one.
#[tokio::test]
async fn a_session_shows_its_business_only() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "owner").await;
    two.ravi.client.put("/v1/portal/business", json!({ "businessName": "Ravi Traders" })).await;
    portal.invite(&mut two.ravi, "guest@other.example", "viewer").await;
    go_to(&portal, &mut two.asha, &two.home).await;
    let asked_before = portal.peers.calls().len();
    let theirs = ["Ravi Traders", "@other.example", two.ravi.business.as_str(), two.users[1].as_str()];
    for path in [
        "/users",
        "/invitations",
        "/audit-log",
        "/audit-log.csv",
        "/audit-log.jsonl",
        "/status",
        "/pickup-profile",
        "/subscription",
        "/email",
        "/second-factor",
        "/api-keys",
        "/orders",
        "/events",
        "/wallet",
        "/wallet/entries",
        "/webhook-endpoints",
        "/cod",
        "/packages",
    ] {
        let answer = two.asha.get(&format!("/v1/portal{path}")).await;
        for word in theirs {
            assert!(!answer.body.to_string().contains(word), "{path} shows {word}: {}", answer.body);
        }
    }
    let asked = portal.peers.calls().split_off(asked_before);
    assert!(asked.iter().any(|call| call.contains(&two.home)), "{asked:?}");
    assert!(!asked.iter().any(|call| call.contains(&two.ravi.business)), "{asked:?}");
    // And the other owner sees nothing of Asha's home.
    let log = two.ravi.client.get("/v1/portal/audit-log").await.body.to_string();
    let users = two.ravi.client.get(USERS).await.body.to_string();
    for word in [two.home.as_str(), two.users[0].as_str(), "boss@shop.example"] {
        assert!(!log.contains(word) && !users.contains(word), "{word}");
    }
    let seen = two.asha.get("/v1/portal/sessions").await.body;
    assert_eq!(
        (&seen["data"][0]["businessId"], &seen["data"][0]["current"]),
        (&json!(two.home), &json!(true))
    );
    assert_eq!(user_of(&mut two.asha).await, two.users[0]);
}
