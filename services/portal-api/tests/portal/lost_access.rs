//! Persons of the staff who can no longer log in: what waits in their name, and whether they count as administrators.

use diesel_async::SimpleAsyncConnection;
use serde_json::{Value, json};

use crate::client::Client;
use crate::identity_provider::{IdentityProvider, Key, START, Visit, come_back, log_in};
use crate::office::{ON, approve, step};
use crate::portal::Portal;
use crate::staff::{STAFF, person};

const BUSINESSES: &str = "/v1/operator/businesses";

struct Scene {
    portal: Portal,
    provider: IdentityProvider,
    key: Key,
    business: String,
}

impl Scene {
    async fn new() -> Self {
        let key = Key::new("key-1", 1);
        let provider = IdentityProvider::start(&key);
        let portal = Portal::with_provider(&provider, &ON[1..]).await;
        let business = portal.owner("owner@shop.example").await.business;
        Self { portal, provider, key, business }
    }

    async fn log_in(&self, browser: &mut Client, groups: &[&str]) -> (u16, String) {
        let claims = json!({ "groups": groups });
        let answer = log_in(&self.portal, (&self.provider, &self.key), browser, &claims).await;
        (answer.status, answer.code().to_owned())
    }

    async fn request(&self, by: &mut Client, what: &str, body: Value) -> String {
        let answer = by.post(&format!("{BUSINESSES}/{}{what}", self.business), body).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        answer.body["id"].as_str().unwrap().to_owned()
    }

    fn wallet_call(&self) -> String {
        format!("POST /wallet/internal/wallets/{}/credits", self.business)
    }

    /// The row of the person in the list.
    async fn listed(&self, email: &str) -> Value {
        let staff = self.portal.operator().get(STAFF).await.body["data"].clone();
        staff.as_array().unwrap().iter().find(|one| one["email"] == email).unwrap().clone()
    }
}

fn no_role() -> (u16, String) {
    (403, "sso_no_role".to_owned())
}

#[tokio::test]
async fn requests_of_a_person_whose_groups_lost_their_role_are_not_executed() {
    let scene = Scene::new().await;
    let (mut asha, mut elsewhere) = (scene.portal.stranger(), scene.portal.stranger());
    assert_eq!(scene.log_in(&mut asha, &["ops"]).await.0, 200);
    let (mut ravi, _) = person(&scene.portal, "ravi@carrier.example", "administrator").await;
    let credit = json!({ "amountPaise": 700, "reference": "invoice-7" });
    let of_asha = scene.request(&mut asha, "/wallet/credits", credit).await;
    let link = scene.request(&mut ravi, "/password-resets", json!({ "email": "owner@shop.example" })).await;
    assert_eq!(approve(&mut asha, &link).await.body["state"], "approved");
    assert_eq!(scene.log_in(&mut elsewhere, &["nothing"]).await, no_role());

    let refused = approve(&mut ravi, &of_asha).await;
    assert_eq!((refused.status, refused.code()), (409, "requester_inactive"), "{refused:?}");
    assert!(scene.portal.peers.asked(&scene.wallet_call()).is_empty());
    let refused = ravi.press(&step(&link, "reset-link")).await;
    assert_eq!((refused.status, refused.code()), (409, "approver_inactive"), "{refused:?}");
    assert_eq!(scene.listed("asha@operator.example").await["status"], "inactive");

    // The next log-in with a group returns both.
    assert_eq!(scene.log_in(&mut elsewhere, &["ops"]).await.0, 200);
    assert_eq!(scene.listed("asha@operator.example").await["status"], "active");
    assert_eq!(ravi.press(&step(&link, "reset-link")).await.status, 201);
}

#[tokio::test]
async fn only_persons_who_can_log_in_count_as_administrators() {
    let scene = Scene::new().await;
    let (mut asha, mut binu) = (scene.portal.stranger(), scene.portal.stranger());
    assert_eq!(scene.log_in(&mut asha, &["ops"]).await.0, 200);
    let (_, ravis) = person(&scene.portal, "ravi@carrier.example", "administrator").await;
    let ravi = format!("{STAFF}/{ravis}");
    assert_eq!(scene.log_in(&mut binu, &["nothing"]).await, no_role());
    let refused = scene.portal.operator().delete(&ravi).await;
    assert_eq!((refused.status, refused.code()), (409, "last_administrator"), "{refused:?}");
    assert_eq!(scene.log_in(&mut binu, &["ops"]).await.0, 200);
    assert_eq!(scene.portal.operator().delete(&ravi).await.status, 204);
}

/// Of another issuer, or of one that is turned off.
#[tokio::test]
async fn an_identity_at_another_provider_is_no_way_in() {
    let scene = Scene::new().await;
    let mut asha = scene.portal.stranger();
    assert_eq!(scene.log_in(&mut asha, &["ops"]).await.0, 200);
    let (_, ravis) = person(&scene.portal, "ravi@carrier.example", "administrator").await;
    let moved = "UPDATE identities SET issuer = 'https://id.example'";
    scene.portal.connect().await.batch_execute(moved).await.unwrap();
    let refused = scene.portal.operator().delete(&format!("{STAFF}/{ravis}")).await;
    assert_eq!((refused.status, refused.code()), (409, "last_administrator"), "{refused:?}");
    assert_eq!(scene.listed("asha@operator.example").await["status"], "inactive");
}

/// The password of a linked account is refused, so it is no way in. Without single sign-on it is one again.
#[tokio::test]
async fn a_refused_password_is_no_way_in() {
    let scene = Scene::new().await;
    let (mut asha, ashas) = person(&scene.portal, "asha@carrier.example", "administrator").await;
    let visit = Visit::of(&asha.post(START, json!({ "purpose": "link" })).await);
    scene.provider.issue(&scene.key.sign(&scene.provider.claims(&scene.portal, &visit, &json!({}))));
    assert_eq!(come_back(&mut asha, &visit).await.status, 204);
    let (_, ravis) = person(&scene.portal, "ravi@carrier.example", "administrator").await;
    assert_eq!(scene.log_in(&mut scene.portal.stranger(), &["nothing"]).await, no_role());
    let ravi = format!("{STAFF}/{ravis}");
    assert_eq!(scene.portal.operator().delete(&ravi).await.code(), "last_administrator");
    let mut settings = scene.portal.settings.clone();
    settings.sso.issuer = None;
    let without = scene.portal.with_settings(settings);
    assert_eq!(without.operator().delete(&ravi).await.status, 204);
    let last = without.operator().delete(&format!("{STAFF}/{ashas}")).await;
    assert_eq!(last.code(), "last_administrator");
}

/// Where passwords are off, only identities count.
#[tokio::test]
async fn passwords_that_are_off_are_no_way_in() {
    let scene = Scene::new().await;
    person(&scene.portal, "ravi@carrier.example", "administrator").await;
    let mut asha = scene.portal.stranger();
    assert_eq!(scene.log_in(&mut asha, &["ops"]).await.0, 200);
    let asha = format!("{STAFF}/{}", scene.listed("asha@operator.example").await["id"].as_str().unwrap());
    let mut settings = scene.portal.settings.clone();
    settings.sso.password_log_in = false;
    let without = scene.portal.with_settings(settings);
    assert_eq!(without.operator().delete(&asha).await.code(), "last_administrator");
    assert_eq!(scene.portal.operator().delete(&asha).await.status, 204);
}
