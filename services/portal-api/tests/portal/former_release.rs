//! The previous release next to this one. It knows the roles owner, developer and viewer, and reads and writes `role` alone.

use diesel::sql_types::Text;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use serde_json::json;

use crate::mail_folder::MailFolder;
use crate::portal::{Owner, Portal};

#[derive(diesel::QueryableByName)]
struct Role {
    #[diesel(sql_type = Text)]
    role: String,
}

/// The role as the previous release reads it.
async fn former_role(portal: &Portal, table: &str, email: &str) -> String {
    let query = format!("SELECT role FROM {table} WHERE email_key = '{email}'");
    let role: Role = diesel::sql_query(query).get_result(&mut portal.connect().await).await.unwrap();
    role.role
}

/// The previous release changes the role of a user.
async fn former_change(portal: &Portal, email: &str, role: &str) {
    let change = format!("UPDATE users SET role = '{role}' WHERE email_key = '{email}'");
    portal.connect().await.batch_execute(&change).await.unwrap();
}

/// The role as this release reads it.
async fn present_role(owner: &mut Owner, email: &str) -> String {
    let users = owner.client.get("/v1/portal/users").await.body["data"].clone();
    let user = users.as_array().unwrap().iter().find(|user| user["email"] == email).unwrap().clone();
    user["role"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_previous_release_sees_viewers_in_place_of_the_new_roles() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    for (role, former) in [
        ("finance", "viewer"),
        ("support", "viewer"),
        ("viewer", "viewer"),
        ("developer", "developer"),
        ("owner", "owner"),
    ] {
        let email = format!("{role}@team.example");
        let invited = portal.invite(&mut owner, &email, role).await;
        assert_eq!(former_role(&portal, "invitations", &email).await, former, "{role}");
        let body = json!({ "token": invited, "password": "battery staple" });
        let joined = portal.stranger().post("/v1/portal/invitations/accept", body).await;
        assert_eq!((joined.status, &joined.body["role"]), (201, &json!(role)));
        assert_eq!(former_role(&portal, "users", &email).await, former, "{role}");
    }
}

#[tokio::test]
async fn a_role_that_the_previous_release_sets_is_the_role_and_the_former_one_does_not_return() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    let (mut client, email) =
        (portal.member(&mut owner, "asha@shop.example", "support").await, "asha@shop.example");
    former_change(&portal, email, "viewer").await;
    assert_eq!(present_role(&mut owner, email).await, "support", "nothing was changed");
    former_change(&portal, email, "developer").await;
    assert_eq!(present_role(&mut owner, email).await, "developer");
    assert_eq!(client.get("/v1/portal/session").await.body["role"], "developer");
    former_change(&portal, email, "viewer").await;
    assert_eq!(present_role(&mut owner, email).await, "viewer");
    let session = client.get("/v1/portal/session").await.body;
    assert!(!session["permissions"].as_array().unwrap().contains(&json!("read_customers")), "{session}");
}

#[tokio::test]
async fn this_release_changes_both_columns() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.member(&mut owner, "asha@shop.example", "viewer").await;
    let id = owner.client.get("/v1/portal/users").await.body["data"][1]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/portal/users/{id}");
    for (role, former) in [
        ("support", "viewer"),
        ("finance", "viewer"),
        ("developer", "developer"),
        ("finance", "viewer"),
        ("viewer", "viewer"),
        ("support", "viewer"),
        ("owner", "owner"),
        ("viewer", "viewer"),
    ] {
        let changed = owner.client.patch(&path, json!({ "role": role })).await;
        assert_eq!((changed.status, &changed.body["role"]), (200, &json!(role)), "{changed:?}");
        assert_eq!(present_role(&mut owner, "asha@shop.example").await, role);
        assert_eq!(former_role(&portal, "users", "asha@shop.example").await, former, "{role}");
    }
}

/// The previous release copies `role` of the invitation.
#[tokio::test]
async fn an_invitation_that_the_previous_release_accepts_makes_a_viewer() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.invite(&mut owner, "asha@shop.example", "finance").await;
    let accept = "INSERT INTO users (id, business_id, email, email_key, password_hash, role, created_at)
        SELECT 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV', business_id, email, email_key, 'x', role, created_at FROM invitations";
    portal.connect().await.batch_execute(accept).await.unwrap();
    assert_eq!(present_role(&mut owner, "asha@shop.example").await, "viewer");
}

#[tokio::test]
async fn no_exact_role_extends_another_role() {
    let portal = Portal::start().await;
    let mut owner = portal.owner("owner@shop.example").await;
    portal.invite(&mut owner, "asha@shop.example", "viewer").await;
    for (table, role, exact) in [
        ("users", "owner", "'support'"),
        ("users", "developer", "'finance'"),
        ("users", "viewer", "'owner'"),
        ("users", "viewer", "''"),
        ("invitations", "owner", "'support'"),
        ("invitations", "viewer", "'developer'"),
    ] {
        let write = format!("UPDATE {table} SET role = '{role}', exact_role = {exact}");
        let refused = portal.connect().await.batch_execute(&write).await;
        assert!(refused.is_err(), "{write}");
    }
}

const UP: &str = include_str!("../../migrations/2026-11-26-000750_verified_email/up.sql");
const DOWN: &str = include_str!("../../migrations/2026-11-26-000750_verified_email/down.sql");
const MEMBERSHIPS_DOWN: &str = include_str!("../../migrations/2026-11-26-000770_memberships/down.sql");

/// The previous release signs a business up: it knows none of the new columns.
fn former_sign_up(number: u8) -> String {
    format!(
        "INSERT INTO businesses (id, name, status, live_access, subscription_state, created_at, updated_at)
            VALUES ('biz_{number}', 'Shop', 'inactive', false, 'required', now(), now());
        INSERT INTO users (id, business_id, email, email_key, password_hash, role, created_at)
            VALUES ('usr_{number}', 'biz_{number}', '{number}@shop.example', '{number}@shop.example', 'x', 'owner', now());"
    )
}

#[derive(diesel::QueryableByName)]
struct Verified {
    #[diesel(sql_type = diesel::sql_types::Bool)]
    verified: bool,
}

#[tokio::test]
async fn accounts_are_verified_if_they_exist_at_the_upgrade_and_it_can_be_undone() {
    let database = test_kit::database_of(test_kit::Service::PortalApi).await;
    let mut conn = AsyncPgConnection::establish(database.url.expose()).await.unwrap();
    // A later migration uses the columns.
    conn.batch_execute(MEMBERSHIPS_DOWN).await.unwrap();
    conn.batch_execute(DOWN).await.unwrap();
    conn.batch_execute(&former_sign_up(1)).await.unwrap();
    conn.batch_execute(UP).await.unwrap();
    conn.batch_execute(&former_sign_up(2)).await.unwrap();
    let read = "SELECT email_verified_at IS NOT NULL AS verified FROM users ORDER BY id";
    let users: Vec<Verified> = diesel::sql_query(read).load(&mut conn).await.unwrap();
    assert_eq!(users.iter().map(|user| user.verified).collect::<Vec<_>>(), [true, false]);
    conn.batch_execute(DOWN).await.unwrap();
    conn.batch_execute(&former_sign_up(3)).await.unwrap();
}

/// The previous release also shows the link to the inviter.
#[tokio::test]
async fn an_invitation_of_the_previous_release_verifies_nothing() {
    let folder = MailFolder::new();
    let portal = Portal::with_mails(&folder).await;
    let mut owner = portal.owner("owner@shop.example").await;
    let token = portal.invite(&mut owner, "asha@shop.example", "viewer").await;
    portal.connect().await.batch_execute("UPDATE invitations SET mailed = DEFAULT").await.unwrap();
    let body = json!({ "token": token, "password": "battery staple" });
    let joined = portal.stranger().post("/v1/portal/invitations/accept", body).await;
    assert_eq!((joined.status, &joined.body["emailVerified"]), (201, &json!(false)), "{joined:?}");
}
