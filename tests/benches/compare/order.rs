//! The sample order that the service and pgbench place repeatedly.

use std::sync::Arc;

use demo::clients::Portal;
use local_stack::{Service, Stack};
use serde_json::json;
use waybill_tests::{PASSWORD, text};

use crate::load::{Expected, Request, Target};
use crate::pgbench;

/// A new business with a Test key.
pub(crate) async fn sign_up(stack: &Stack, name: &str) -> anyhow::Result<(Portal, String)> {
    let email = format!("{name}@example.com");
    let portal = Portal::sign_up(&stack.portal_api(), name, &email, PASSWORD).await?;
    let key = portal.post("/api-keys", &json!({ "mode": "test", "name": name })).await?.expect(201)?;
    Ok((portal, text(&key, "key")?))
}

/// Orders with a key; each has its own reference.
pub(crate) fn target(stack: &Stack, key: &str) -> anyhow::Result<Arc<Target>> {
    const REFERENCE: &str = "{reference}";
    let (body, key) = (demo::sample_order(REFERENCE).to_string(), key.to_owned());
    let expected = Expected { status: 201, text: "\"created\"" };
    Target::new(&stack.order_api_origin(), expected, move |reference| Request {
        call: "POST /v1/integration/orders".into(),
        headers: format!("Authorization: Bearer {key}\r\nIdempotency-Key: {reference}\r\n"),
        body: body.replace(REFERENCE, reference),
    })
}

/// Inserts the values that order-api wrote for an order into a script: its details, its receipt, and, as the event, a
/// prefix of the details with the same length.
pub(crate) async fn fill_in(stack: &Stack, script: &str) -> anyhow::Result<String> {
    let mut filled = script.to_owned();
    for (name, value) in [
        ("{details}", "details::text"),
        ("{receipt}", "receipt::text"),
        ("{event}", "left(details::text, 640)"),
    ] {
        let value = format!("SELECT {value} FROM orders ORDER BY id LIMIT 1");
        filled = filled.replace(name, &pgbench::literal(stack, Service::OrderApi, &value).await?);
    }
    Ok(filled)
}
