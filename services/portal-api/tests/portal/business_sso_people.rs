//! Who becomes a user by single sign-on of a business, and an owner's word that two users are one person.

use serde_json::{Value, json};

use crate::authenticator::SESSION;
use crate::business_sso::{SETTINGS, Scene, USERS, changed, settings};
use crate::portal::Owner;

/// A public provider knows everybody.
#[tokio::test]
async fn settings_that_would_let_everybody_in_create_no_users() {
    let mut scene = Scene::new().await;
    let mut known = scene.portal.stranger();
    scene.log_in(&mut known, &json!({})).await;
    let body = changed(&settings(&scene.provider), &json!({ "groupRoles": [], "defaultRole": "viewer" }));
    let refused = scene.owner.client.put(SETTINGS, body).await;
    assert_eq!((refused.status, refused.invalid_fields()), (400, vec!["allowedDomains"]), "{refused:?}");
    let before = "UPDATE business_sso SET group_roles = '[]', default_role = 'viewer'";
    let mut conn = scene.portal.connect().await;
    diesel_async::SimpleAsyncConnection::batch_execute(&mut conn, before).await.unwrap();
    assert_eq!(scene.owner.client.get(SETTINGS).await.body["provider"]["openToAnyone"], true);
    let stranger = json!({ "sub": "person-2", "email": "stranger@shop.example" });
    let refused = scene.log_in(&mut scene.portal.stranger(), &stranger).await;
    assert_eq!((refused.status, refused.code()), (403, "sso_open_to_anyone"), "{refused:?}");
    assert_eq!(scene.entries("session.failed").await[0]["details"]["singleSignOn"], "open_to_anyone");
    assert_eq!(scene.log_in(&mut known, &json!({})).await.body["role"], "viewer", "users keep the access");
}

/// Entra ID does not say whether an address is verified.
#[tokio::test]
async fn an_owner_links_a_user_whom_the_provider_has_created_anew() {
    let mut scene = Scene::new().await;
    let mut asha = scene.portal.member(&mut scene.owner, "asha@shop.example", "viewer").await;
    let id = asha.get(SESSION).await.body["userId"].clone();
    let claims = json!({ "email_verified": null });
    let mut browser = scene.portal.stranger();
    let created = scene.log_in(&mut browser, &claims).await.body["userId"].clone();
    assert_ne!(created, id);
    let path = |user: &Value| format!("{USERS}/{}/link", user.as_str().unwrap());
    let link = async |owner: &mut Owner, from: &Value, to: &Value| {
        owner.client.post(&path(from), json!({ "userId": to })).await
    };
    let refused = link(&mut scene.owner, &id, &created).await;
    assert_eq!((refused.status, refused.code()), (409, "not_created_by_single_sign_on"), "{refused:?}");
    let mut stranger = scene.portal.owner("owner@other.example").await;
    assert_eq!(link(&mut stranger, &created, &id).await.status, 404);
    let linked = link(&mut scene.owner, &created, &id).await;
    assert_eq!((linked.status, &linked.body["id"]), (200, &id), "{linked:?}");
    assert_eq!(browser.get(SESSION).await.status, 401, "the created user is gone");
    let opened = scene.log_in(&mut browser, &claims).await;
    assert_eq!((&opened.body["userId"], &opened.body["role"]), (&id, &json!("developer")), "{opened:?}");
    let entry = scene.entries("user.identity_linked").await.remove(0);
    assert_eq!((&entry["target"]["id"], &entry["details"]["from"]), (&id, &json!("asha@shop.example")));
    assert_eq!(scene.entries("user.removed").await.len(), 1);

    let second = json!({ "sub": "person-2", "email_verified": null });
    let again = scene.log_in(&mut scene.portal.stranger(), &second).await.body["userId"].clone();
    let refused = link(&mut scene.owner, &again, &id).await;
    assert_eq!((refused.status, refused.code()), (409, "sso_already_linked"), "{refused:?}");
}
