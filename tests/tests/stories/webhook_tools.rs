//! The portal's webhook tools: secret rotation without a lost webhook, signature checks, sent webhooks, and recovery of
//! missed ones.

use demo::{ReceivedWebhook, eventually, sample_order};
use local_stack::Stack;
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::{Business, PATIENCE, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_business_manages_its_webhooks() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let business = Business::sign_up(&stack).await?;
    a_secret_rotation_loses_no_webhook(&business).await?;
    why_a_signature_does_not_match(&business).await?;
    missed_webhooks_are_recovered(&business).await?;
    sent_webhooks_are_shown_and_redelivered(&business).await?;
    stack.shut_down().await
}

fn of_endpoint(business: &Business, rest: &str) -> String {
    format!("/webhook-endpoints/{}{rest}", business.endpoint_id)
}

async fn first_webhook(business: &Business, reference: &str) -> anyhow::Result<ReceivedWebhook> {
    business.place(&sample_order(reference)).await?;
    Ok(business.webhooks_of(reference, 1).await?.remove(0))
}

async fn a_secret_rotation_loses_no_webhook(business: &Business) -> anyhow::Result<()> {
    let rotate = of_endpoint(business, "/secret/rotate");
    let rotated = business.portal.post(&rotate, &json!({ "graceSeconds": 3_600 })).await?.expect(200)?;
    let secret = text(&rotated, "secret")?;
    assert!(rotated["nextSecret"]["activatesAt"].is_string(), "{rotated}");
    let again = business.portal.post(&rotate, &json!({})).await?;
    assert_eq!((again.status.as_u16(), again.code()), (409, "webhook_secret_rotation_under_way"));
    // The inbox accepts only verified webhooks, and knows only the old secret.
    first_webhook(business, "while-rotating").await?;

    let activated = business.portal.post(&of_endpoint(business, "/secret/activate"), &json!({})).await?;
    let activated = activated.expect(200)?;
    assert!(activated["nextSecret"].is_null() && activated.get("secret").is_none(), "{activated}");
    business.inbox.set_secret(&secret)?;
    first_webhook(business, "after-rotating").await?;
    Ok(())
}

async fn why_a_signature_does_not_match(business: &Business) -> anyhow::Result<()> {
    let webhook = first_webhook(business, "to-verify").await?;
    // The check compares with the stored body.
    business.logged_delivery("to-verify").await?;
    let body = String::from_utf8(webhook.body.to_vec())?;
    let path = of_endpoint(business, "/verify-signature");
    let verify = async |body: &str| {
        let evidence = json!({
            "timestamp": webhook.headers["service-timestamp"],
            "signature": webhook.headers["service-signature"],
            "body": body,
        });
        business.portal.post(&path, &evidence).await?.expect(200)
    };
    let good = verify(&body).await?;
    assert_eq!((&good["matches"], &good["problems"]), (&json!(true), &json!([])));
    let changed = verify(&format!("{body}\n")).await?;
    assert_eq!(
        (&changed["matches"], &changed["problems"][0]["code"]),
        (&json!(false), &json!("trailing_newline"))
    );
    let parsed: Value = serde_json::from_str(&body)?;
    let written_anew = verify(&serde_json::to_string_pretty(&parsed)?).await?;
    assert_eq!(written_anew["problems"][0]["code"], "body_reserialised");
    Ok(())
}

async fn missed_webhooks_are_recovered(business: &Business) -> anyhow::Result<()> {
    let (portal, endpoint) = (&business.portal, of_endpoint(business, ""));
    let change = async |body: Value| portal.call(Method::PATCH, &endpoint, Some(&body)).await?.expect(200);
    let since = change(json!({ "status": "paused" })).await?["createdAt"].clone();
    business.place(&sample_order("missed")).await?;
    let log = of_endpoint(business, "/deliveries?orderReference=missed");
    let has_status = async |status: &str| {
        eventually("the status of the delivery", PATIENCE, || async {
            let found = portal.get(&log).await?;
            Ok((found["data"][0]["status"] == status).then_some(()))
        })
        .await
    };
    has_status("pending").await?;
    change(json!({ "events": ["order.delivered"], "status": "active" })).await?;
    has_status("discarded").await?;
    change(json!({ "events": ["order.created", "order.delivered"] })).await?;

    let recover = of_endpoint(business, "/recover");
    let job = portal.post(&recover, &json!({ "since": since })).await?.expect(202)?;
    assert_eq!(job["total"], 1, "{job}");
    let path = of_endpoint(business, &format!("/recoveries/{}", text(&job, "id")?));
    eventually("the job to end", PATIENCE, || async {
        Ok((portal.get(&path).await?["status"] == "completed").then_some(()))
    })
    .await?;
    business.webhooks_of("missed", 1).await?;
    has_status("succeeded").await?;
    assert_eq!(portal.get(&path).await?["done"], 1);
    let over = portal.post(&format!("{path}/cancel"), &json!({})).await?;
    assert_eq!((over.status.as_u16(), over.code()), (409, "webhook_recovery_completed"));
    let list = portal.get(&of_endpoint(business, "/recoveries")).await?;
    assert_eq!(list["data"][0]["id"], job["id"]);
    Ok(())
}

async fn sent_webhooks_are_shown_and_redelivered(business: &Business) -> anyhow::Result<()> {
    let portal = &business.portal;
    let found = portal.get(&of_endpoint(business, "/deliveries?orderReference=missed&mode=test")).await?;
    let delivery = format!("/webhook-deliveries/{}", text(&found["data"][0], "id")?);
    let webhook = business.webhooks_of("missed", 1).await?.remove(0);
    let shown = portal.get(&delivery).await?;
    let attempt = &shown["attemptLog"][0];
    assert_eq!((&attempt["method"], &attempt["url"]), (&json!("POST"), &json!(business.inbox.url())));
    assert_eq!(attempt["requestHeaders"]["service-signature"], webhook.headers["service-signature"]);
    assert_eq!(shown["requestBody"].as_str().map(str::as_bytes), Some(&webhook.body[..]));

    let again = portal.post(&format!("{delivery}/redeliver"), &json!({})).await?.expect(202)?;
    assert_eq!(again["redelivery"], "queued");
    eventually("the redelivery", PATIENCE, || async {
        let webhook = business.webhooks_of("missed", 1).await?.remove(0);
        Ok((webhook.times_received == 2).then_some(()))
    })
    .await
}
