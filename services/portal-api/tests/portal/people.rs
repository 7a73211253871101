//! Users of a business: invitations, roles, removal.

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::portal::{Portal, sign_up_body};

const USERS: &str = "/v1/portal/users";
const INVITATIONS: &str = "/v1/portal/invitations";
const LOOK_UP: &str = "/v1/portal/invitations/look-up";
const ACCEPT: &str = "/v1/portal/invitations/accept";

fn accept(token: &str) -> Value {
    json!({ "token": token, "password": "battery staple" })
}

#[tokio::test]
async fn an_invitation_is_looked_up_accepted_once_and_opens_a_session() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let token = portal.invite(&mut owner, "Dev@Shop.example", "developer").await;
    let open = owner.client.get(INVITATIONS).await.body["data"][0].clone();
    assert_eq!((&open["email"], &open["role"]), (&json!("Dev@Shop.example"), &json!("developer")));
    assert_eq!(open["invitedBy"], "owner@shop.example");
    assert_eq!(open.get("url"), None, "the link is told once");

    let mut visitor = portal.stranger();
    let found = visitor.post(LOOK_UP, json!({ "token": token })).await;
    assert_eq!(found.status, 200, "{found:?}");
    assert_eq!(found.body["businessName"], "Corner Shop");
    assert_eq!((&found.body["email"], &found.body["role"]), (&open["email"], &open["role"]));
    let address = json!({ "token": token, "password": "dev@shop.example" });
    let like = visitor.post(ACCEPT, address).await;
    assert_eq!((like.status, like.invalid_fields()), (400, vec!["password"]), "the password is the address");
    let joined = visitor.post(ACCEPT, accept(&token)).await;
    assert_eq!((joined.status, &joined.body["role"]), (201, &json!("developer")), "{joined:?}");
    assert_eq!(joined.body["businessId"], owner.business);
    assert_eq!(visitor.get("/v1/portal/session").await.body["email"], "Dev@Shop.example");

    let again = portal.stranger().post(ACCEPT, accept(&token)).await;
    assert_eq!((again.status, again.code()), (422, "invitation_invalid"), "it is used up");
    assert_eq!(owner.client.get(INVITATIONS).await.body["data"], json!([]));
    let log_in = json!({ "email": "dev@shop.example", "password": "battery staple" });
    assert_eq!(portal.stranger().post("/v1/portal/session", log_in).await.status, 200);
}

#[tokio::test]
async fn a_link_is_good_for_seven_days_unless_it_is_withdrawn_or_replaced() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let refused = async |token: &str| {
        let found = portal.stranger().post(LOOK_UP, json!({ "token": token })).await;
        let accepted = portal.stranger().post(ACCEPT, accept(token)).await;
        assert_eq!((found.status, found.code()), (accepted.status, accepted.code()));
        (accepted.status, accepted.code().to_owned()) == (422, "invitation_invalid".to_owned())
    };
    let replaced = portal.invite(&mut owner, "dev@shop.example", "viewer").await;
    let withdrawn = portal.invite(&mut owner, "DEV@shop.example", "developer").await;
    assert!(refused(&replaced).await);
    let open = owner.client.get(INVITATIONS).await.body["data"].clone();
    assert_eq!(open.as_array().unwrap().len(), 1, "{open}");
    let path = format!("{INVITATIONS}/{}", open[0]["id"].as_str().unwrap());
    assert_eq!(owner.client.delete(&path).await.status, 204);
    assert_eq!(owner.client.delete(&path).await.code(), "invitation_not_found");
    assert!(refused(&withdrawn).await);

    let late = portal.invite(&mut owner, "late@shop.example", "viewer").await;
    portal.clock.advance(TimeDelta::days(7) - TimeDelta::seconds(1));
    assert_eq!(portal.stranger().post(LOOK_UP, json!({ "token": late })).await.status, 200);
    portal.clock.advance(TimeDelta::seconds(1));
    assert!(refused(&late).await);
    for nonsense in ["x", &"A".repeat(43)] {
        assert!(refused(nonsense).await);
    }
}

#[tokio::test]
async fn an_invitation_does_not_reveal_whether_the_email_has_an_account() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.owner("owner@other.example").await;
    let token = portal.invite(&mut owner, "owner@other.example", "viewer").await;
    let taken = portal.stranger().post(ACCEPT, accept(&token)).await;
    assert_eq!((taken.status, taken.code()), (409, "email_taken"));
    let found = portal.stranger().post(LOOK_UP, json!({ "token": token })).await;
    assert_eq!(found.status, 200, "a refused one is not used up");
    let member = json!({ "email": "OWNER@shop.example", "role": "viewer" });
    let refused = owner.client.post(INVITATIONS, member).await;
    assert_eq!((refused.status, refused.code()), (409, "already_member"));
}

#[tokio::test]
async fn every_fault_of_an_invitation_is_named_at_once() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let refused = owner.client.post(INVITATIONS, json!({ "email": "x", "role": "admin" })).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["email", "role"]));
    let refused = portal.stranger().post(ACCEPT, json!({ "token": "x", "password": "short" })).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["password"]));
    let refused = portal.stranger().post(LOOK_UP, json!({ "token": 7 })).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["token"]));
}

#[tokio::test]
async fn a_role_is_one_of_five_words() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.member(&mut owner, "dev@shop.example", "developer").await;
    let id = owner.client.get(USERS).await.body["data"][1]["id"].as_str().unwrap().to_owned();
    let path = format!("{USERS}/{id}");
    for role in [
        json!("Finance"),
        json!("finance "),
        json!(""),
        json!("administrator"),
        json!("owner,viewer"),
        json!(null),
        json!(7),
        json!(["support"]),
        json!({ "role": "support" }),
        json!("\u{0}support"),
    ] {
        let invitation = json!({ "email": "guest@shop.example", "role": role });
        for refused in [
            owner.client.post(INVITATIONS, invitation).await,
            owner.client.patch(&path, json!({ "role": role })).await,
        ] {
            assert_eq!(
                (refused.status, refused.invalid_fields()),
                (400, vec!["role"]),
                "{role}: {refused:?}"
            );
            let message = refused.body["errors"][0]["message"].as_str().unwrap();
            let words = message.contains("owner, developer, finance, support or viewer");
            assert!(words || role.is_null() || !role.is_string(), "{role}: {message}");
        }
    }
    assert_eq!(owner.client.get(USERS).await.body["data"][1]["role"], "developer");
    let config = portal.stranger().get("/v1/portal/config").await;
    assert_eq!(config.body["roles"], json!(["owner", "developer", "finance", "support", "viewer"]));
}

#[tokio::test]
async fn fifty_invitations_are_open_at_once_and_sixty_are_sent_in_an_hour() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    for number in 0..50 {
        portal.invite(&mut owner, &format!("guest{number}@shop.example"), "viewer").await;
    }
    let one_more = json!({ "email": "one.more@shop.example", "role": "viewer" });
    let refused = owner.client.post(INVITATIONS, one_more).await;
    assert_eq!((refused.status, refused.code()), (409, "too_many_open_invitations"));
    for number in 0..10 {
        portal.invite(&mut owner, &format!("guest{number}@shop.example"), "viewer").await;
    }
    let again = json!({ "email": "guest1@shop.example", "role": "viewer" });
    let refused = owner.client.post(INVITATIONS, again.clone()).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_invitations"));
    portal.clock.advance(TimeDelta::hours(1));
    assert_eq!(owner.client.post(INVITATIONS, again).await.status, 201);
}

#[tokio::test]
async fn people_are_listed_page_by_page_and_know_themselves() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    for number in 0..3 {
        portal.member(&mut owner, &format!("dev{number}@shop.example"), "developer").await;
    }
    let mut seen = Vec::new();
    let mut after = String::new();
    loop {
        let page = owner.client.get(&format!("{USERS}?limit=2{after}")).await;
        assert_eq!(page.status, 200, "{page:?}");
        seen.extend(page.body["data"].as_array().unwrap().iter().cloned());
        after = format!("&startingAfter={}", seen.last().unwrap()["id"].as_str().unwrap());
        if page.body["hasMore"] == false {
            break;
        }
    }
    let emails: Vec<_> = seen.iter().map(|user| user["email"].as_str().unwrap()).collect();
    assert_eq!(emails, ["owner@shop.example", "dev0@shop.example", "dev1@shop.example", "dev2@shop.example"]);
    assert_eq!((&seen[0]["you"], &seen[1]["you"]), (&json!(true), &json!(false)));
    assert!(seen[1]["lastSeenAt"].is_string());
    let path = format!("/v1/operator/businesses/{}/users", owner.business);
    let listed = portal.operator().get(&path).await;
    assert_eq!(listed.body["data"].as_array().unwrap().len(), 4, "{listed:?}");
    assert_eq!(listed.body["data"][0]["you"], false);
    let businesses = portal.operator().get("/v1/operator/businesses").await;
    assert_eq!(businesses.body["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn several_owners_do_not_make_several_businesses() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.member(&mut owner, "partner@shop.example", "owner").await;
    let listed = portal.operator().get("/v1/operator/businesses").await;
    assert_eq!(listed.body["data"].as_array().unwrap().len(), 1, "{listed:?}");
    assert_eq!(listed.body["data"][0]["ownerEmail"], "owner@shop.example");
}

#[tokio::test]
async fn the_last_owner_stays_one() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut partner = portal.member(&mut owner, "partner@shop.example", "developer").await;
    let users = owner.client.get(USERS).await.body["data"].clone();
    let path = |index: usize| format!("{USERS}/{}", users[index]["id"].as_str().unwrap());
    let demoted = owner.client.patch(&path(0), json!({ "role": "viewer" })).await;
    assert_eq!((demoted.status, demoted.code()), (409, "last_owner"));
    assert_eq!(owner.client.delete(&path(0)).await.code(), "last_owner");
    assert_eq!(
        owner.client.patch(&path(0), json!({ "role": "owner" })).await.status,
        200,
        "it is so already"
    );

    let promoted = owner.client.patch(&path(1), json!({ "role": "owner" })).await;
    assert_eq!((promoted.status, &promoted.body["role"]), (200, &json!("owner")));
    // Both at the same time: one of them comes second.
    let (one, other) = (path(0), path(1));
    let mut first = owner.client.clone();
    let (a, b) = tokio::join!(
        first.patch(&one, json!({ "role": "viewer" })),
        partner.patch(&other, json!({ "role": "viewer" }))
    );
    let mut statuses = [a.status, b.status];
    statuses.sort_unstable();
    assert_eq!(statuses[0], 200, "{a:?} {b:?}");
    assert!([403, 409].contains(&statuses[1]), "{a:?} {b:?}");
}

#[tokio::test]
async fn roles_apply_from_the_next_call_and_removed_users_lose_access() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut guest = portal.member(&mut owner, "guest@shop.example", "owner").await;
    let left_behind = json!({ "email": "second.door@shop.example", "role": "owner" });
    assert_eq!(guest.post(INVITATIONS, left_behind).await.status, 201);
    let id = owner.client.get(USERS).await.body["data"][1]["id"].as_str().unwrap().to_owned();
    let path = format!("{USERS}/{id}");
    assert_eq!(owner.client.patch(&path, json!({ "role": "viewer" })).await.status, 200);
    assert_eq!(guest.get(USERS).await.code(), "role_insufficient");
    assert_eq!(guest.get("/v1/portal/session").await.body["role"], "viewer");
    assert_eq!(
        owner.client.patch(&path, json!({ "role": "x", "email": "y" })).await.invalid_fields(),
        ["email", "role"]
    );

    assert_eq!(owner.client.delete(&path).await.status, 200);
    assert_eq!(guest.get("/v1/portal/session").await.status, 401);
    assert_eq!(owner.client.delete(&path).await.code(), "user_not_found");
    assert_eq!(owner.client.get(INVITATIONS).await.body["data"], json!([]), "what they sent is withdrawn");
    let log_in = json!({ "email": "guest@shop.example", "password": "battery staple" });
    assert_eq!(portal.stranger().post("/v1/portal/session", log_in).await.status, 401);
    let sign_up = portal.stranger().post("/v1/portal/accounts", sign_up_body("guest@shop.example")).await;
    assert_eq!(sign_up.status, 201, "the e-mail is free again");
}

#[tokio::test]
async fn another_business_is_out_of_reach() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let mut stranger = portal.owner("owner@other.example").await;
    portal.member(&mut owner, "dev@shop.example", "developer").await;
    portal.invite(&mut owner, "guest@shop.example", "viewer").await;
    let user = owner.client.get(USERS).await.body["data"][1]["id"].as_str().unwrap().to_owned();
    let invitation = owner.client.get(INVITATIONS).await.body["data"][0]["id"].as_str().unwrap().to_owned();
    let session =
        owner.client.get("/v1/portal/sessions").await.body["data"][0]["id"].as_str().unwrap().to_owned();
    let line =
        owner.client.get("/v1/portal/audit-log").await.body["data"][0]["id"].as_str().unwrap().to_owned();

    let other = &mut stranger.client;
    assert_eq!(
        other.patch(&format!("{USERS}/{user}"), json!({ "role": "viewer" })).await.code(),
        "user_not_found"
    );
    assert_eq!(other.delete(&format!("{USERS}/{user}")).await.code(), "user_not_found");
    assert_eq!(other.delete(&format!("{INVITATIONS}/{invitation}")).await.code(), "invitation_not_found");
    assert_eq!(other.delete(&format!("/v1/portal/sessions/{session}")).await.code(), "session_not_found");
    for (path, after) in [
        (USERS, &user),
        (INVITATIONS, &invitation),
        ("/v1/portal/sessions", &session),
        ("/v1/portal/audit-log", &line),
    ] {
        assert_eq!(other.get(&format!("{path}?startingAfter={after}")).await.status, 400, "{path}");
        assert!(!other.get(path).await.body.to_string().contains("@shop.example"), "{path}");
    }
    assert_eq!(owner.client.get(USERS).await.body["data"][1]["role"], "developer");
}

/// Sign-up is free, and an invitation is a mail that the recipient did not request.
#[tokio::test]
async fn only_approved_businesses_invite_and_recipients_are_limited() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let guest = json!({ "email": "guest@other.example", "role": "viewer" });
    let refused = owner.client.post(INVITATIONS, guest.clone()).await;
    assert_eq!((refused.status, refused.code()), (403, "business_not_active"));
    let listed = owner.client.get(INVITATIONS).await;
    assert_eq!(listed.body["data"], json!([]));

    let mut second = portal.owner("second@shop.example").await;
    for number in 0..5 {
        let inviting = if number % 2 == 0 { &mut owner } else { &mut second };
        portal.invite(inviting, "guest@other.example", "viewer").await;
    }
    for inviting in [&mut owner, &mut second] {
        let refused = inviting.client.post(INVITATIONS, guest.clone()).await;
        assert_eq!((refused.status, refused.code()), (429, "too_many_invitations"));
    }
    portal.clock.advance(TimeDelta::hours(24));
    // Their sessions have ended.
    let body = json!({ "email": "owner@shop.example", "password": "correct horse" });
    assert_eq!(owner.client.post("/v1/portal/session", body).await.status, 200);
    portal.invite(&mut owner, "guest@other.example", "viewer").await;
}
