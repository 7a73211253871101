//! Persons of several businesses, one of which requires single sign-on.

use serde_json::json;

use crate::authenticator::SESSION;
use crate::business_sso::Scene;
use crate::two_businesses::{business_of, join, right, switch};

const RAVI: &str = "ravi@other.example";

#[tokio::test]
async fn a_password_opens_the_other_businesses_of_the_person_only() {
    let mut scene = Scene::new().await;
    let shop = scene.owner.business.clone();
    let mut ravi = scene.portal.owner(RAVI).await;
    let token = scene.portal.invite(&mut scene.owner, RAVI, "viewer").await;
    assert_eq!(join(&mut ravi.client, &token).await.status, 201);
    assert_eq!(business_of(&mut ravi.client).await, shop);
    scene.put(&json!({ "required": true })).await;
    assert_eq!(ravi.client.get(SESSION).await.status, 401, "its session has ended");

    let opened = ravi.client.post(SESSION, right(RAVI)).await;
    assert_eq!((opened.status, &opened.body["businessId"]), (200, &json!(ravi.business)), "{opened:?}");
    let refused = switch(&mut ravi.client, &shop).await;
    assert_eq!((refused.status, refused.code()), (403, "single_sign_on_required"), "{refused:?}");
    let url = refused.body["logInUrl"].as_str().unwrap_or_default();
    assert!(url.ends_with(&format!("/log-in/{shop}")), "{refused:?}");
    assert_eq!(business_of(&mut ravi.client).await, ravi.business, "the session has not ended");

    let mut nina = scene.portal.owner("nina@other.example").await;
    let token = scene.portal.invite(&mut scene.owner, "nina@other.example", "developer").await;
    let refused = join(&mut nina.client, &token).await;
    assert_eq!((refused.status, refused.code()), (403, "single_sign_on_required"), "{refused:?}");
    let token = scene.portal.invite(&mut scene.owner, "nina@other.example", "owner").await;
    assert_eq!(join(&mut nina.client, &token).await.status, 201, "owners keep the password");
}

#[tokio::test]
async fn a_session_of_a_provider_neither_shows_nor_enters_the_other_businesses() {
    let mut scene = Scene::new().await;
    let mut ravi = scene.portal.owner(RAVI).await;
    let token = scene.portal.invite(&mut scene.owner, RAVI, "viewer").await;
    assert_eq!(join(&mut ravi.client, &token).await.status, 201);
    let mut browser = scene.portal.stranger();
    let opened = scene.log_in(&mut browser, &json!({ "email": RAVI, "groups": ["all"] })).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    let session = browser.get(SESSION).await.body;
    assert_eq!(session["businessId"], json!(scene.owner.business));
    assert_eq!(session["memberships"].as_array().unwrap().len(), 1, "{session}");
    let refused = switch(&mut browser, &ravi.business).await;
    assert_eq!((refused.status, refused.code()), (403, "single_sign_on_session"), "{refused:?}");
    assert_eq!(business_of(&mut browser).await, scene.owner.business);
}
