//! A person who belongs to two businesses, and the calls about it.

use serde_json::{Value, json};

use crate::authenticator::SESSION;
use crate::client::{Answer, Client};
use crate::portal::{Owner, Portal};

pub(crate) const SWITCH: &str = "/v1/portal/session/business";
pub(crate) const JOIN: &str = "/v1/portal/memberships";
pub(crate) const BUSINESSES: &str = "/v1/portal/businesses";
pub(crate) const USERS: &str = "/v1/portal/users";
pub(crate) const ASHA: &str = "asha@shop.example";

/// Asha signed up as the owner of one business, whose second owner is Boss, and joined the business of Ravi.
pub(crate) struct Two {
    /// In a session of Ravi's business.
    pub(crate) asha: Client,
    /// Where Asha's account is.
    pub(crate) home: String,
    pub(crate) boss: Client,
    pub(crate) ravi: Owner,
    /// Asha's users at home and at Ravi's.
    pub(crate) users: [String; 2],
}

impl Two {
    pub(crate) async fn start(portal: &Portal, role: &str) -> Self {
        let mut home = portal.owner(ASHA).await;
        let boss = portal.member(&mut home, "boss@shop.example", "owner").await;
        let mut ravi = portal.owner("ravi@other.example").await;
        let token = portal.invite(&mut ravi, ASHA, role).await;
        let at_home = user_of(&mut home.client).await;
        let joined = join(&mut home.client, &token).await;
        assert_eq!((joined.status, &joined.body["role"]), (201, &json!(role)), "{joined:?}");
        let users = [at_home, joined.body["userId"].as_str().unwrap().to_owned()];
        Self { asha: home.client, home: home.business, boss, ravi, users }
    }

    /// Another browser of Asha, in the business that was used last.
    pub(crate) async fn log_in(&self, portal: &Portal) -> Client {
        let mut client = portal.stranger();
        let opened = client.post(SESSION, right(ASHA)).await;
        assert_eq!(opened.status, 200, "{opened:?}");
        client
    }
}

pub(crate) fn right(email: &str) -> Value {
    json!({ "email": email, "password": "correct horse" })
}

pub(crate) async fn user_of(client: &mut Client) -> String {
    client.get(SESSION).await.body["userId"].as_str().unwrap().to_owned()
}

pub(crate) async fn business_of(client: &mut Client) -> String {
    client.get(SESSION).await.body["businessId"].as_str().unwrap_or_default().to_owned()
}

pub(crate) async fn join(client: &mut Client, token: &str) -> Answer {
    client.post(JOIN, json!({ "token": token })).await
}

pub(crate) async fn switch(client: &mut Client, business: &str) -> Answer {
    client.post(SWITCH, json!({ "businessId": business })).await
}

/// Switches, which must succeed.
pub(crate) async fn go_to(portal: &Portal, client: &mut Client, business: &str) {
    // Uses of businesses must not share their time.
    portal.clock.advance(chrono::TimeDelta::milliseconds(1));
    let switched = switch(client, business).await;
    assert_eq!((switched.status, &switched.body["businessId"]), (200, &json!(business)), "{switched:?}");
}

/// The actions in the log of the session's business, newest first.
pub(crate) async fn actions(client: &mut Client) -> Vec<String> {
    let log = client.get("/v1/portal/audit-log").await;
    let entries = log.body["data"].as_array().unwrap_or_else(|| panic!("{log:?}"));
    entries.iter().map(|entry| entry["action"].as_str().unwrap().to_owned()).collect()
}
