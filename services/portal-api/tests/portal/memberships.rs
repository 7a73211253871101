//! One person in several businesses: joining, switching, creating.

use chrono::{DateTime, TimeDelta};
use serde_json::{Value, json};
use test_kit::until;

use crate::authenticator::{FACTOR, SESSION, enrol};
use crate::client::Client;
use crate::mail_folder::MailFolder;
use crate::portal::Portal;
use crate::two_businesses::{
    ASHA, BUSINESSES, JOIN, SWITCH, Two, USERS, actions, business_of, go_to, join, right, switch,
};

const LOOK_UP: &str = "/v1/portal/invitations/look-up";
const ACCEPT: &str = "/v1/portal/invitations/accept";
const INVITATIONS: &str = "/v1/portal/invitations";

#[tokio::test]
async fn an_invitation_to_an_address_with_an_account_is_joined_with_that_account() {
    let portal = Portal::start().await;
    let mut home = portal.owner(ASHA).await;
    let mut ravi = portal.owner("ravi@other.example").await;
    let token = portal.invite(&mut ravi, "Asha@Shop.example", "support").await;
    let mut browser = portal.stranger();
    let found = browser.post(LOOK_UP, json!({ "token": token })).await;
    assert_eq!((found.status, &found.body["hasAccount"]), (200, &json!(true)), "{found:?}");
    let accept = json!({ "token": token, "password": "battery staple" });
    assert_eq!(browser.post(ACCEPT, accept).await.code(), "email_taken");
    let refused = join(&mut browser, &token).await;
    assert_eq!((refused.status, refused.code()), (401, "not_logged_in"));

    assert_eq!(browser.post(SESSION, right(ASHA)).await.body["businessId"], home.business);
    let before = browser.cookie("portal_session");
    let joined = join(&mut browser, &token).await;
    assert_eq!((joined.status, &joined.body["businessId"]), (201, &json!(ravi.business)), "{joined:?}");
    assert_eq!((&joined.body["role"], &joined.body["email"]), (&json!("support"), &json!(ASHA)));
    assert_ne!(browser.cookie("portal_session"), before);
    let session = browser.get(SESSION).await.body;
    let listed: Vec<_> = session["memberships"].as_array().unwrap().iter().collect();
    assert_eq!(listed.len(), 2, "{session}");
    for (business, role) in [(&home.business, "owner"), (&ravi.business, "support")] {
        let one = listed.iter().find(|one| one["businessId"] == **business).unwrap();
        let status = if role == "owner" { "inactive" } else { "active" };
        assert_eq!(
            (&one["role"], &one["status"], &one["businessName"]),
            (&json!(role), &json!(status), &json!("Corner Shop"))
        );
    }
    assert_eq!(join(&mut browser, &token).await.code(), "invitation_invalid", "it is used up");
    let again = json!({ "email": ASHA, "role": "viewer" });
    assert_eq!(ravi.client.post(INVITATIONS, again).await.code(), "already_member");
    let users = ravi.client.get(USERS).await.body;
    assert_eq!((&users["data"][1]["email"], &users["data"][1]["role"]), (&json!(ASHA), &json!("support")));
    let (there, here) = (actions(&mut ravi.client).await, actions(&mut home.client).await);
    for (found, action) in [(&there, "user.joined"), (&there, "session.opened"), (&here, "session.closed")] {
        assert!(found.contains(&action.to_owned()), "{action}: {found:?}");
    }
    assert_eq!(home.client.get(SESSION).await.body["businessId"], home.business, "another browser stays");
}

#[tokio::test]
async fn a_log_in_opens_the_business_that_was_used_last() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "developer").await;
    let mut other = two.log_in(&portal).await;
    assert_eq!(business_of(&mut other).await, two.ravi.business);
    go_to(&portal, &mut two.asha, &two.home).await;
    assert_eq!(business_of(&mut other).await, two.ravi.business, "other browsers stay where they are");
    assert_eq!(business_of(&mut two.log_in(&portal).await).await, two.home);
    go_to(&portal, &mut other, &two.ravi.business).await;
    assert_eq!(business_of(&mut two.log_in(&portal).await).await, two.ravi.business);
}

fn time(value: &Value) -> DateTime<chrono::Utc> {
    value.as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_switch_is_no_log_in() {
    let portal = Portal::with_factors(&[("WAYBILL_MFA__RECENT_MINUTES", "15")]).await;
    let mut two = Two::start(&portal, "owner").await;
    let before = two.asha.get(SESSION).await.body;
    let (token, browser) = (two.asha.cookie("portal_session"), two.asha.cookie("portal_browser"));
    let mut thief = two.asha.clone();
    portal.clock.advance(TimeDelta::minutes(14));
    go_to(&portal, &mut two.asha, &two.home).await;
    assert_ne!(two.asha.cookie("portal_session"), token);
    assert_eq!(two.asha.cookie("portal_browser"), browser);
    let ended = switch(&mut thief, &two.home).await;
    assert_eq!((ended.status, ended.code()), (401, "not_logged_in"), "the former token opens nothing");
    let after = two.asha.get(SESSION).await.body;
    assert_eq!(after["createdAt"], before["createdAt"], "the longest age counts from the log-in");
    let invite = json!({ "email": "new@shop.example", "role": "viewer" });
    assert_eq!(
        two.asha.post(INVITATIONS, invite.clone()).await.status,
        201,
        "it authenticated 14 minutes ago"
    );
    portal.clock.advance(TimeDelta::minutes(1));
    go_to(&portal, &mut two.asha, &two.ravi.business).await;
    let refused = two.asha.post(INVITATIONS, invite).await;
    assert_eq!((refused.status, refused.code()), (403, "recent_authentication_required"));

    // A session in use ends at its longest age, however often it switches.
    let end = time(&before["createdAt"]) + TimeDelta::days(30);
    let (here, there) = (two.home.clone(), two.ravi.business.clone());
    for round in 0.. {
        if portal.clock.now() + TimeDelta::hours(11) >= end {
            break;
        }
        portal.clock.advance(TimeDelta::hours(11));
        go_to(&portal, &mut two.asha, if round % 2 == 0 { &here } else { &there }).await;
    }
    assert_eq!(time(&two.asha.get(SESSION).await.body["expiresAt"]), end);
    portal.clock.advance(end - portal.clock.now());
    assert_eq!(two.asha.get(SESSION).await.status, 401);
}

#[tokio::test]
async fn a_person_creates_further_businesses_up_to_twenty() {
    let portal = Portal::start().await;
    let mut asha = portal.owner(ASHA).await.client;
    let bad = asha.post(BUSINESSES, json!({ "businessName": "", "role": "owner" })).await;
    assert_eq!((bad.status, bad.invalid_fields()), (400, vec!["businessName", "role"]));
    for number in 2..=20 {
        let created = asha.post(BUSINESSES, json!({ "businessName": format!("Shop {number}") })).await;
        assert_eq!((created.status, &created.body["role"]), (201, &json!("owner")), "{created:?}");
        assert_eq!(created.body["businessName"], format!("Shop {number}"));
    }
    let mut entries = actions(&mut asha).await;
    entries.sort_unstable();
    assert_eq!(entries, ["account.created", "session.opened"]);
    let business = business_of(&mut asha).await;
    let seen = portal.operator().get(&format!("/v1/operator/businesses/{business}")).await.body;
    assert_eq!((&seen["status"], &seen["ownerEmail"]), (&json!("inactive"), &json!(ASHA)), "{seen}");
    let refused = asha.post(BUSINESSES, json!({ "businessName": "Shop 21" })).await;
    assert_eq!((refused.status, refused.code()), (409, "too_many_businesses"));
    let mut ravi = portal.owner("ravi@other.example").await;
    let token = portal.invite(&mut ravi, ASHA, "viewer").await;
    let refused = join(&mut asha, &token).await;
    assert_eq!((refused.status, refused.code()), (409, "too_many_businesses"));
    let session = asha.get(SESSION).await.body;
    assert_eq!(session["memberships"].as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn further_businesses_are_limited_as_sign_ups_are() {
    let portal = Portal::with(&[]).await;
    let mut asha = portal.owner(ASHA).await.client;
    for _ in 2..=20 {
        portal.newcomer(&format!("{}@shop.example", portal.clock.now().timestamp_millis())).await;
    }
    let refused = asha.post(BUSINESSES, json!({ "businessName": "Shop" })).await;
    assert_eq!((refused.status, refused.code()), (429, "too_many_sign_ups"));
}

#[tokio::test]
async fn a_mailed_invitation_verifies_the_address_of_the_account() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut home = portal.newcomer(ASHA).await;
    let mut ravi = portal.owner("ravi@other.example").await;
    let token = portal.invite(&mut ravi, ASHA, "owner").await;
    assert_eq!(home.client.get(SESSION).await.body["emailVerified"], false);
    let mut other = portal.stranger();
    other.post(SESSION, right(ASHA)).await;
    let joined = join(&mut home.client, &token).await;
    assert_eq!((joined.status, &joined.body["emailVerified"]), (201, &json!(true)), "{joined:?}");
    assert_eq!(other.get(SESSION).await.body["emailVerified"], true, "in all businesses");
    // The news of another owner go to the verified owners of the business, now also to Asha.
    portal.member(&mut ravi, "third@other.example", "owner").await;
    for (to, about) in [("ravi@other.example", ASHA), (ASHA, "third@other.example")] {
        until(&format!("{to} learns of {about}"), async || {
            folder.mails().iter().any(|mail| mail.to == to && mail.text.contains(about))
        })
        .await;
    }
}

/// The role decides in each business, also about the second factor.
#[tokio::test]
async fn a_role_that_requires_a_second_factor_requires_it_in_its_business_only() {
    let portal = Portal::with_factors(&[("WAYBILL_MFA__REQUIRED_FOR_USERS", "owner")]).await;
    let mut home = portal.owner(ASHA).await;
    let mut ravi = portal.owner("ravi@other.example").await;
    enrol(&portal, &mut ravi.client).await;
    let token = portal.invite(&mut ravi, ASHA, "viewer").await;
    let refused = join(&mut home.client, &token).await;
    assert_eq!((refused.status, refused.code()), (403, "mfa_enrolment_required"));
    let app = enrol(&portal, &mut home.client).await.app;
    assert_eq!(join(&mut home.client, &token).await.status, 201);
    portal.clock.advance(crate::authenticator::STEP);
    let confirmed = json!({ "password": "correct horse", "code": app.now(&portal.clock) });
    assert_eq!(home.client.post("/v1/portal/session/confirm", confirmed).await.status, 204);
    assert_eq!(home.client.delete(FACTOR).await.status, 204, "a viewer may");
    let status = "/v1/portal/status";
    assert_eq!(home.client.get(status).await.status, 200);
    let switched = switch(&mut home.client, &home.business).await;
    assert_eq!((switched.status, &switched.body["mfaEnrolmentRequired"]), (200, &json!(true)));
    assert_eq!(home.client.get(status).await.code(), "mfa_enrolment_required");
    go_to(&portal, &mut home.client, &ravi.business).await;
    assert_eq!(home.client.get(status).await.status, 200);
}

/// All tabs of a browser share the cookie. A page names the user whose data it shows.
#[tokio::test]
async fn a_page_of_the_former_business_does_nothing_in_the_present_one() {
    let portal = Portal::start().await;
    let mut two = Two::start(&portal, "owner").await;
    let tab = |user: &str, client: &Client| client.clone().with_header("expected-user", user);
    let mut former = tab(&two.users[0], &two.asha);
    for (method, path) in [
        ("GET", USERS),
        ("PUT", "/v1/portal/business"),
        ("POST", INVITATIONS),
        ("POST", JOIN),
        ("POST", SWITCH),
    ] {
        let refused = former.call(method, path).await;
        assert_eq!((refused.status, refused.code()), (409, "session_changed"), "{method} {path}");
    }
    assert_eq!(former.get(SESSION).await.status, 200, "it learns where it is");
    let renamed = json!({ "businessName": "Ravi and Asha" });
    assert_eq!(tab(&two.users[1], &two.asha).put("/v1/portal/business", renamed).await.status, 204);
    assert_eq!(two.ravi.client.get(SESSION).await.body["businessName"], "Ravi and Asha");
}
