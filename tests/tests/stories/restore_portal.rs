//! One database other than order-api's and wallet's goes back to an earlier moment, and portal-api names the businesses
//! whose key, endpoint or wallet differs.

use std::collections::BTreeSet;

use local_stack::{Service, Stack};
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::restoring::{ALL, differences, dump, restore};
use waybill_tests::{Business, text, wait_until_quiet};

/// The changes between the two moments.
struct Later {
    made_key: String,
    revoked_key: String,
    replaced_key: String,
    replacing_key: String,
    made_endpoint: String,
    deleted_endpoint: String,
    /// A business that signed up and went live.
    newcomer: Business,
    newcomers_keys: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn portal_api_reports_the_differences_after_a_partial_restore() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(1_000_000).await?;
    let (revoked, replaced) = (key(&business).await?, key(&business).await?);
    let deleted = endpoint(&business, "deleted").await?;
    wait_until_quiet(&stack).await?;
    let earlier = dump(&stack, "earlier")?;
    let later = go_on(&stack, &business, (revoked, replaced), deleted).await?;
    wait_until_quiet(&stack).await?;
    let now = dump(&stack, "now")?;
    assert_eq!(differences(&stack, Service::PortalApi, 0).await?, BTreeSet::new());

    let newcomer = &later.newcomer.portal.business_id;
    let forgotten_keys = later.newcomers_keys.iter().map(|id| ("key_forgotten", id));
    let cases: [(Service, Vec<(&str, &String)>); 5] = [
        (
            Service::PortalApi,
            vec![
                ("business_unknown", newcomer),
                ("key_unexplained", &later.made_key),
                ("key_unexplained", &later.replacing_key),
                ("endpoint_unexplained", &later.made_endpoint),
                // The restored service has forgotten the deletion.
                ("endpoint_forgotten", &later.deleted_endpoint),
            ],
        ),
        (
            Service::KeyManagement,
            [
                ("key_forgotten", &later.made_key),
                ("key_forgotten", &later.replacing_key),
                ("key_works_again", &later.revoked_key),
                ("key_works_again", &later.replaced_key),
            ]
            .into_iter()
            .chain(forgotten_keys)
            .collect(),
        ),
        (
            Service::WebhookDispatcher,
            vec![
                ("endpoint_forgotten", &later.made_endpoint),
                ("endpoint_forgotten", &later.newcomer.endpoint_id),
                ("endpoint_back", &later.deleted_endpoint),
            ],
        ),
        (Service::Wallet, vec![("funding_forgotten", newcomer)]),
        (Service::OrderApi, vec![("test_order_forgotten", newcomer)]),
    ];
    for (service, wanted) in cases {
        restore(&stack, &earlier, &[service]).await?;
        let wanted: BTreeSet<String> = wanted.iter().map(|(check, id)| format!("{check} {id}")).collect();
        let named = differences(&stack, Service::PortalApi, 1).await?;
        assert_eq!(named, wanted, "only {service:?} was restored");
        restore(&stack, &now, &[service]).await?;
    }
    assert_eq!(differences(&stack, Service::PortalApi, 0).await?, BTreeSet::new());

    restore(&stack, &earlier, &ALL).await?;
    assert_eq!(
        differences(&stack, Service::PortalApi, 0).await?,
        BTreeSet::new(),
        "all were restored to the same moment"
    );
    an_unreachable_service_is_an_incomplete_check(&stack).await?;
    stack.shut_down().await
}

async fn go_on(
    stack: &Stack,
    business: &Business,
    (revoked_key, replaced_key): (String, String),
    deleted_endpoint: String,
) -> anyhow::Result<Later> {
    let portal = &business.portal;
    let made_key = key(business).await?;
    portal.post(&format!("/api-keys/{revoked_key}/revoke"), &json!({})).await?.expect(200)?;
    let rotation = json!({ "graceSeconds": 86_400 });
    let rotated = portal.post(&format!("/api-keys/{replaced_key}/rotate"), &rotation).await?.expect(200)?;
    let made_endpoint = endpoint(business, "made").await?;
    portal
        .call(Method::DELETE, &format!("/webhook-endpoints/{deleted_endpoint}"), None)
        .await?
        .expect(204)?;
    let mut newcomer = Business::sign_up(stack).await?;
    newcomer.go_live(1_000).await?;
    let keys = newcomer.portal.get("/api-keys").await?;
    let ids = keys["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    let newcomers_keys = ids.iter().map(|key| text(key, "id")).collect::<Result<Vec<_>, _>>()?;
    assert_eq!(newcomers_keys.len(), 2, "a test key and a live one");
    let replacing_key = text(&rotated, "id")?;
    Ok(Later {
        made_key,
        revoked_key,
        replaced_key,
        replacing_key,
        made_endpoint,
        deleted_endpoint,
        newcomer,
        newcomers_keys,
    })
}

async fn key(business: &Business) -> anyhow::Result<String> {
    let wanted = json!({ "mode": "test", "name": "one more" });
    text(&business.portal.post("/api-keys", &wanted).await?.expect(201)?, "id")
}

async fn endpoint(business: &Business, name: &str) -> anyhow::Result<String> {
    let wanted = json!({ "url": format!("{}?{name}", business.inbox.url()) });
    text(&business.portal.post("/webhook-endpoints", &wanted).await?.expect(201)?, "id")
}

async fn an_unreachable_service_is_an_incomplete_check(stack: &Stack) -> anyhow::Result<()> {
    stack.stop(Service::KeyManagement).await?;
    let output = stack.run(Service::PortalApi, &["reconcile", "--json"]).await?;
    let report: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!((output.status.code(), &report["complete"]), (Some(2), &json!(false)), "{report}");
    Ok(())
}
