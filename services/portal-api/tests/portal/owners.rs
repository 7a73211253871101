//! A demoted or removed owner keeps no access.

use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};

use crate::client::Client;
use crate::log_in_races::commit_when_awaited;
use crate::portal::{Owner, Portal};

const USERS: &str = "/v1/portal/users";
const INVITATIONS: &str = "/v1/portal/invitations";
/// As one that commits while a call of the same owner is under way; it withdraws nothing.
const DEMOTE: &str = "BEGIN; SELECT FROM businesses FOR NO KEY UPDATE;
    UPDATE memberships SET role = 'viewer'
        WHERE account_id = (SELECT id FROM accounts WHERE email_key = 'partner@shop.example')";

async fn two_owners(portal: &Portal) -> (Owner, Client) {
    let mut owner = portal.owner("owner@shop.example").await;
    let partner = portal.member(&mut owner, "partner@shop.example", "owner").await;
    (owner, partner)
}

async fn accept(portal: &Portal, token: &str) -> (u16, String) {
    let body = json!({ "token": token, "password": "battery staple" });
    let answer = portal.stranger().post("/v1/portal/invitations/accept", body).await;
    (answer.status, answer.code().to_owned())
}

fn invalid() -> (u16, String) {
    (422, "invitation_invalid".to_owned())
}

#[tokio::test]
async fn an_owner_who_is_demoted_meanwhile_neither_invites_nor_gives_roles() {
    let portal = Portal::start().await;
    let (mut owner, partner) = two_owners(&portal).await;
    portal.member(&mut owner, "dev@shop.example", "developer").await;
    let dev = owner.client.get(USERS).await.body["data"][2]["id"].as_str().unwrap().to_owned();
    let mut demoting = portal.connect().await;
    demoting.batch_execute(DEMOTE).await.unwrap();

    let (mut inviting, mut promoting, mut removing) = (partner.clone(), partner.clone(), partner);
    let path = format!("{USERS}/{dev}");
    let (invited, promoted, removed, ()) = tokio::join!(
        inviting.post(INVITATIONS, json!({ "email": "back.door@shop.example", "role": "owner" })),
        promoting.patch(&path, json!({ "role": "owner" })),
        removing.delete(&path),
        commit_when_awaited(&portal, &mut demoting, 3)
    );
    for refused in [invited, promoted, removed] {
        assert_eq!((refused.status, refused.code()), (403, "role_insufficient"), "{refused:?}");
    }
    assert_eq!(owner.client.get(INVITATIONS).await.body["data"], json!([]));
    assert_eq!(owner.client.get(USERS).await.body["data"][2]["role"], "developer");
}

#[tokio::test]
async fn the_invitations_of_an_owner_who_is_demoted_are_withdrawn() {
    let portal = Portal::start().await;
    let (mut owner, partner) = two_owners(&portal).await;
    let mut partner = Owner { client: partner, business: owner.business.clone() };
    let kept = portal.invite(&mut owner, "kept@shop.example", "viewer").await;
    let withdrawn = portal.invite(&mut partner, "back.door@shop.example", "owner").await;
    let id = owner.client.get(USERS).await.body["data"][1]["id"].as_str().unwrap().to_owned();
    let demoted = owner.client.patch(&format!("{USERS}/{id}"), json!({ "role": "developer" })).await;
    assert_eq!(demoted.status, 200, "{demoted:?}");

    assert_eq!(accept(&portal, &withdrawn).await, invalid());
    let open = owner.client.get(INVITATIONS).await.body["data"].clone();
    let emails: Vec<&Value> = open.as_array().unwrap().iter().map(|open| &open["email"]).collect();
    assert_eq!(emails, [&json!("kept@shop.example")]);
    assert_eq!(accept(&portal, &kept).await.0, 201);
}

#[tokio::test]
async fn an_invitation_of_a_demoted_owner_is_invalid() {
    let portal = Portal::start().await;
    let (owner, partner) = two_owners(&portal).await;
    let mut partner = Owner { client: partner, business: owner.business };
    let token = portal.invite(&mut partner, "back.door@shop.example", "owner").await;
    let mut demoting = portal.connect().await;
    demoting.batch_execute(DEMOTE).await.unwrap();
    demoting.batch_execute("COMMIT").await.unwrap();
    assert_eq!(accept(&portal, &token).await, invalid());
}
