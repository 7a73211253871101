//! The options of a key: its creator, its end, its scopes, and its IP allow-list.

use actix_web::http::StatusCode;
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use domain::{KeyRestrictions, KeyScope, Mode, UserId};
use internal_api::PageQuery;
use internal_api::keys::CreatedApiKey;
use serde_json::{Value, json};
use test_kit::{invalid_fields, refusal};

use crate::harness::Harness;

fn text(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

impl Harness {
    fn user(&self) -> UserId {
        UserId::generate(&self.clock, &self.entropy)
    }

    /// A key with these options.
    async fn create_with(&self, mode: Mode, options: Value) -> CreatedApiKey {
        let mut body = json!({"mode": mode, "name": "shop"});
        body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        self.keys.create(self.business, None, &body).await.unwrap()
    }

    /// `POST` of a body to a path of the internal listener.
    async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        let url = self.internal.join(path).unwrap();
        let token = self.settings.internal.token.expose();
        let answer = test_kit::client().post(url).bearer_auth(token).json(body).send().await.unwrap();
        (answer.status().as_u16().try_into().unwrap(), answer.json().await.unwrap())
    }
}

#[tokio::test]
async fn options_are_stored_shown_and_told_to_those_who_enforce_them() {
    let harness = Harness::start().await;
    let end = harness.clock.now() + TimeDelta::days(30);
    for mode in [Mode::Test, Mode::Live] {
        let options = json!({
            "expiresAt": text(end), "scopes": ["events:read", "orders:read", "events:read"],
            "ipAllowList": ["203.0.113.9/24", "203.0.113.0/24", "2001:DB8::1"],
        });
        let created = harness.create_with(mode, options).await;
        assert_eq!(created.view.expires_at, Some(end));
        assert_eq!(created.view.scopes, Some(vec![KeyScope::ReadOrders, KeyScope::ReadEvents]));
        let list = created.view.ip_allow_list.clone().unwrap();
        assert_eq!(list.to_texts(), ["203.0.113.0/24", "2001:db8::1/128"]);
        assert_eq!(created.view.in_grace_period, Some(false));
        assert_eq!(harness.view(&created).await, created.view);

        let verified = harness.verdict(&created.key).await.unwrap();
        assert_eq!(verified.expires_at, Some(end));
        let restrictions = KeyRestrictions { scopes: created.view.scopes.clone(), ip_allow_list: Some(list) };
        assert_eq!(verified.restrictions, restrictions);
    }
    let plain = harness.create(Mode::Test).await;
    assert!(harness.verdict(&plain.key).await.unwrap().restrictions.are_none());
    let written = serde_json::to_value(&plain.view).unwrap();
    for absent in ["createdBy", "scopes", "ipAllowList"] {
        assert_eq!(written.get(absent), None, "{absent}");
    }
}

#[tokio::test]
async fn the_creator_is_the_callers_word_and_not_part_of_the_body() {
    let harness = Harness::start().await;
    let user = harness.user();
    for body in [
        json!({"mode": "test", "name": "shop"}),
        json!({"mode": "test", "name": "shop", "scopes": ["orders:read"]}),
    ] {
        let created = harness.keys.create(harness.business, Some(user), &body).await.unwrap();
        assert_eq!(created.view.created_by, Some(user));
        let successor = harness.rotate(&created, 900).await;
        assert_eq!(successor.view.created_by, Some(user), "nobody is named");
        let (id, rotator) = (successor.view.id.to_string(), harness.user());
        let body = json!({"graceSeconds": 900});
        let theirs = harness.keys.rotate(harness.business, &id, Some(rotator), &body).await.unwrap();
        assert_eq!(theirs.view.created_by, Some(rotator));
        assert_eq!(harness.view(&created).await.created_by, Some(user));
    }
    harness
        .keys
        .create(harness.business, Some(harness.user()), &json!({"mode": "live", "name": "x"}))
        .await
        .unwrap();
    harness.create(Mode::Test).await;
    let page = PageQuery { limit: 3, starting_after: None };
    let of_user = harness.keys.list_of(harness.business, user, &page).await.unwrap();
    assert!(of_user.has_more && of_user.data.iter().all(|key| key.created_by == Some(user)));
    let page = PageQuery { limit: 3, starting_after: Some(of_user.data[2].id.to_string()) };
    assert_eq!(harness.keys.list_of(harness.business, user, &page).await.unwrap().data.len(), 1);
    let stranger =
        harness.keys.list_of(harness.new_business(), user, &PageQuery { limit: 3, starting_after: None });
    assert!(stranger.await.unwrap().data.is_empty());

    let forged = json!({"mode": "test", "name": "shop", "createdBy": user});
    let refused = refusal(harness.keys.create(harness.business, None, &forged).await);
    assert_eq!((refused.status, invalid_fields(&refused)), (400, vec!["createdBy"]));
    let path = format!("internal/businesses/{}/api-keys?createdBy=someone", harness.business);
    let (status, body) = harness.post(&path, &json!({"mode": "test", "name": "shop"})).await;
    assert_eq!((status.as_u16(), &body["errors"][0]["field"]), (400, &json!("createdBy")));
}

#[tokio::test]
async fn every_bad_option_is_named() {
    let harness = Harness::start().await;
    let now = harness.clock.now();
    let networks = |count: u8| (0..count).map(|at| format!("10.0.{at}.0/24")).collect::<Vec<_>>();
    let (past, far) = (now - TimeDelta::seconds(1), now + TimeDelta::days(3_661));
    let ends =
        ["", " ", "tomorrow", "2026-02-30T00:00:00Z", "2027-01-01", "2027-01-01T00:00:00", "1798761600"];
    let ends = ends.into_iter().map(str::to_owned).chain([text(past), text(now), text(far)]);
    let ends = ends.map(Value::from).chain([json!(1_798_761_600), json!({}), json!(true)]);
    let key = harness.create(Mode::Test).await.view.id.to_string();
    for end in ends {
        let body = json!({"mode": "live", "name": "shop", "expiresAt": end});
        let refused = refusal(harness.keys.create(harness.business, None, &body).await);
        assert_eq!((refused.status, refused.code.as_str()), (422, "invalid_request"), "{body}");
        assert_eq!(invalid_fields(&refused), ["expiresAt"], "{body}");
        let body = json!({"graceSeconds": 900, "expiresAt": end});
        let refused = refusal(harness.keys.rotate(harness.business, &key, None, &body).await);
        assert_eq!((refused.status, invalid_fields(&refused)), (422, vec!["expiresAt"]), "{body}");
    }
    let cases: [(Value, u16, &[&str]); 16] = [
        (json!({"scopes": []}), 422, &["scopes"]),
        (json!({"scopes": ""}), 422, &["scopes"]),
        (json!({"scopes": "orders:read"}), 422, &["scopes"]),
        (json!({"scopes": ["orders:read", "orders", 7]}), 422, &["scopes[1]", "scopes[2]"]),
        (json!({"scopes": [null]}), 422, &["scopes[0]"]),
        (json!({"ipAllowList": []}), 422, &["ipAllowList"]),
        (json!({"ipAllowList": ""}), 422, &["ipAllowList"]),
        (json!({"ipAllowList": {"a": 1}}), 422, &["ipAllowList"]),
        (json!({"ipAllowList": networks(21)}), 422, &["ipAllowList"]),
        (
            json!({"ipAllowList": ["", "10.0.0.0/33", "::/129"]}),
            422,
            &["ipAllowList[0]", "ipAllowList[1]", "ipAllowList[2]"],
        ),
        (json!({"ipAllowList": ["shop.example", "10.0.0.1:80"]}), 422, &["ipAllowList[0]", "ipAllowList[1]"]),
        (
            json!({"expiresAt": "", "scopes": [], "ipAllowList": [7]}),
            422,
            &["expiresAt", "scopes", "ipAllowList[0]"],
        ),
        // The request itself is malformed too.
        (json!({"mode": "prod", "expiresAt": ""}), 400, &["mode", "expiresAt"]),
        (json!({"scope": ["orders:read"]}), 400, &["scope"]),
        (json!({"ipAllowlist": ["10.0.0.0/8"], "scopes": []}), 400, &["ipAllowlist", "scopes"]),
        (json!({"keyHash": "x"}), 400, &["keyHash"]),
    ];
    for (options, status, fields) in cases {
        let mut body = json!({"mode": "live", "name": "shop"});
        body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let refused = refusal(harness.keys.create(harness.business, None, &body).await);
        assert_eq!((refused.status, refused.code.as_str()), (status, "invalid_request"), "{body}");
        assert_eq!(invalid_fields(&refused), fields, "{body}");
    }
    let unknown = json!({"graceSeconds": 0, "scopes": ["orders:read"]});
    let refused = refusal(harness.keys.rotate(harness.business, &key, None, &unknown).await);
    assert_eq!((refused.status, invalid_fields(&refused)), (400, vec!["scopes"]));
    assert_eq!(harness.list().await.len(), 1, "nothing was created");

    let absent = json!({"expiresAt": null, "scopes": null, "ipAllowList": null});
    let plain = harness.create_with(Mode::Test, absent).await;
    assert_eq!((plain.view.expires_at, plain.view.scopes), (None, None));
    let most = json!({"ipAllowList": networks(20), "expiresAt": text(now + TimeDelta::seconds(1))});
    let most = harness.create_with(Mode::Test, most).await;
    assert_eq!(most.view.ip_allow_list.unwrap().to_texts().len(), 20);
    let everywhere = harness.create_with(Mode::Test, json!({"ipAllowList": ["0.0.0.0/0"]})).await;
    assert_eq!(everywhere.view.ip_allow_list.unwrap().to_texts(), ["0.0.0.0/0"]);
}

#[tokio::test]
async fn a_key_ends_at_its_second_and_is_announced() {
    let mut harness = Harness::connected().await;
    let end = harness.clock.now() + TimeDelta::hours(2);
    // Fractions are dropped, and offsets are converted.
    let written =
        (end + TimeDelta::milliseconds(999)).with_timezone(&chrono::FixedOffset::east_opt(19_800).unwrap());
    let key = harness.create_with(Mode::Live, json!({"expiresAt": written.to_rfc3339()})).await;
    assert_eq!(key.view.expires_at, Some(end));
    let step = TimeDelta::microseconds(1);
    harness.advance(TimeDelta::hours(2) - step);
    assert!(harness.verdict(&key.key).await.is_some());
    harness.advance(step);
    let expired = harness.keys.verify(&key.key).await.unwrap();
    assert_eq!((expired.key, expired.expired), (None, true));
    harness.expire_now();
    assert_eq!(harness.next_revoked().await, key.view.id);
    assert_eq!(harness.view(&key).await.revoked_at, Some(end));
    assert!(harness.keys.verify(&key.key).await.unwrap().expired, "also once it is revoked by that");
    assert_eq!(harness.revoke(&key).await.revoked_at, Some(end));
    let outcome = harness
        .keys
        .rotate(harness.business, &key.view.id.to_string(), None, &json!({"graceSeconds": 0}))
        .await;
    assert_eq!(refusal(outcome).code, "api_key_revoked");

    let revoked =
        harness.create_with(Mode::Live, json!({"expiresAt": text(end + TimeDelta::hours(1))})).await;
    harness.revoke(&revoked).await;
    harness.advance(TimeDelta::hours(2));
    assert!(!harness.keys.verify(&revoked.key).await.unwrap().expired, "it was revoked before its end");
}

#[tokio::test]
async fn a_successor_keeps_the_options_and_the_grace_ends_with_the_key() {
    let harness = Harness::start().await;
    let now = harness.clock.now();
    let end = now + TimeDelta::minutes(30);
    let options = json!({"expiresAt": text(end), "scopes": ["orders:write"], "ipAllowList": ["10.0.0.0/8"]});
    let old = harness.create_with(Mode::Test, options).await;
    let id = old.view.id.to_string();
    let new = harness.rotate(&old, 3_600).await;
    assert_eq!(
        (new.view.expires_at, &new.view.scopes, &new.view.ip_allow_list),
        (Some(end), &old.view.scopes, &old.view.ip_allow_list)
    );
    let rotated = harness.view(&old).await;
    assert_eq!((rotated.expires_at, rotated.in_grace_period), (Some(end), Some(true)), "not an hour");
    let again = harness.keys.rotate(harness.business, &id, None, &json!({"graceSeconds": 900})).await;
    assert_eq!(refusal(again).code, "api_key_already_rotated");

    let later = now + TimeDelta::days(1);
    let body = json!({"graceSeconds": 900, "expiresAt": text(later)});
    let newest = harness.keys.rotate(harness.business, &new.view.id.to_string(), None, &body).await.unwrap();
    assert_eq!(newest.view.expires_at, Some(later));
    assert_eq!(newest.view.scopes, old.view.scopes);
    assert_eq!(
        harness.view(&new).await.expires_at,
        Some(now + TimeDelta::minutes(15)),
        "the grace is earlier"
    );
    let restrictions = harness.verdict(&newest.key).await.unwrap().restrictions;
    assert_eq!(restrictions.scopes, old.view.scopes);
    assert_eq!(restrictions.ip_allow_list, old.view.ip_allow_list);

    // A key without an end can get one.
    let endless = harness.create(Mode::Test).await;
    let body = json!({"graceSeconds": 0, "expiresAt": text(later)});
    let ending =
        harness.keys.rotate(harness.business, &endless.view.id.to_string(), None, &body).await.unwrap();
    assert_eq!(ending.view.expires_at, Some(later));
    harness.rotate(&ending, 900).await;
    assert_eq!(harness.view(&endless).await.in_grace_period, Some(false), "it is revoked");
}
