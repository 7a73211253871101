//! The sample order that the service and pgbench place repeatedly.

use std::sync::Arc;

use anyhow::Context;
use local_stack::{Service, Stack};

use crate::load::{Expected, Request, Target};
use crate::pgbench;

/// Orders with a key; each has its own reference.
pub(crate) fn target(origin: &str, key: &str) -> anyhow::Result<Arc<Target>> {
    let mut body = demo::sample_order("");
    body.as_object_mut().context("an object")?.remove("orderReference");
    let details = body.to_string().trim_start_matches('{').to_owned();
    let key = key.to_owned();
    Target::new(origin, Expected { status: 201, text: "\"created\"" }, move |reference| Request {
        call: "POST /v1/integration/orders".into(),
        headers: format!("Authorization: Bearer {key}\r\nIdempotency-Key: {reference}\r\n"),
        body: format!("{{\"orderReference\":\"{reference}\",{details}"),
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
