//! Creating keys.

use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use domain::Mode;
use futures_util::future::join_all;
use serde_json::{Value, json};
use test_kit::{invalid_fields, refusal};

use crate::harness::Harness;

#[tokio::test]
async fn a_new_key_works_and_is_shown_once() {
    let harness = Harness::start().await;
    for mode in [Mode::Test, Mode::Live] {
        let created = harness.create(mode).await;
        assert_eq!(created.view.prefix, format!("sk_{mode}_waybill_"));
        assert!(
            created.key.starts_with(&created.view.prefix) && created.key.ends_with(&created.view.last_four)
        );
        assert_eq!((created.view.name.as_str(), created.view.mode), ("shop", mode));
        assert_eq!(created.view.created_at, harness.clock.now());

        let good = harness.verdict(&created.key).await.unwrap();
        assert_eq!((good.key_id, good.business_id), (created.view.id, harness.business));
        assert_eq!((good.mode, good.expires_at), (mode, None));

        let listed = serde_json::to_string(&harness.list().await).unwrap();
        assert!(listed.contains(&created.view.last_four) && !listed.contains(&created.key));
    }
}

#[derive(diesel::QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    content: String,
}

#[tokio::test]
async fn the_database_never_holds_a_key() {
    let harness = Harness::start().await;
    let created = harness.create(Mode::Live).await;
    let successor = harness.rotate(&created, 0).await;
    let rows: Vec<Row> = diesel::sql_query(
        "SELECT api_keys::text AS content FROM api_keys
         UNION ALL SELECT outbox_messages::text FROM outbox_messages",
    )
    .load(&mut harness.connection().await)
    .await
    .unwrap();
    assert!(rows.len() >= 2);
    for secret in [created.key, successor.key] {
        let random = &secret["sk_live_waybill_".len()..secret.len() - 4];
        let hex: String = random.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert!(rows.iter().all(|row| !row.content.contains(random) && !row.content.contains(&hex)));
    }
}

#[tokio::test]
async fn every_fault_is_named_at_once() {
    let harness = Harness::start().await;
    let cases: [(Value, &[&str]); 7] = [
        (json!({}), &["mode", "name"]),
        (json!({"mode": null, "name": "  "}), &["mode", "name"]),
        (json!({"mode": "prod", "name": 7}), &["mode", "name"]),
        (json!({"mode": "test", "name": "x".repeat(81)}), &["name"]),
        (json!({"mode": "Live", "name": "shop"}), &["mode"]),
        (json!({"mode": "test", "name": "a\u{0}b"}), &["name"]),
        (json!(["test"]), &[""]),
    ];
    for (body, fields) in cases {
        let refused = refusal(harness.keys.create(harness.business, None, &body).await);
        assert_eq!((refused.status, refused.code.as_str()), (400, "invalid_request"), "{body}");
        assert_eq!(invalid_fields(&refused), fields, "{body}");
    }
    assert!(harness.list().await.is_empty());
}

#[tokio::test]
async fn names_are_counted_in_characters() {
    let harness = Harness::start().await;
    let name = "क".repeat(80);
    let created =
        harness.keys.create(harness.business, None, &json!({"mode": "test", "name": name})).await.unwrap();
    assert_eq!(created.view.name, name);
}

#[tokio::test]
async fn twenty_keys_of_a_mode_work_and_not_one_more() {
    let harness = Harness::start().await;
    let body = json!({"mode": "test", "name": "shop"});
    for _ in 0..18 {
        harness.create(Mode::Test).await;
    }
    // At once, but few: they wait for each other, and the service refuses who waits long.
    let outcomes = join_all((0..8).map(|_| harness.keys.create(harness.business, None, &body))).await;
    let (created, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!((created.len(), refused.len()), (2, 6));
    for outcome in refused {
        let refused = refusal(outcome);
        assert_eq!((refused.status, refused.code.as_str()), (409, "too_many_keys"));
    }
    // The limit is one mode's and one business's.
    harness.create(Mode::Live).await;
    harness
        .keys
        .create(harness.new_business(), None, &json!({"mode": "test", "name": "shop"}))
        .await
        .unwrap();
    // A key that works no longer makes room.
    harness.revoke(created[0].as_ref().unwrap()).await;
    harness.create(Mode::Test).await;
    assert_eq!(harness.list().await.len(), 22);
}
