//! A stopping service answers its current calls and loses nothing: rolling restarts under a steady stream of orders.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use local_stack::{Service, Stack};
use waybill_tests::{Business, smallest_order, wait_until_quiet};

const FEE: i64 = 4_900;
const CLIENTS: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn restarts_lose_no_answered_order() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(100_000_000).await?;
    let before = business.balance().await?;

    let enough = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| Ok(tokio::spawn(order_steadily(business.live()?, client, Arc::clone(&enough)))))
        .collect::<anyhow::Result<_>>()?;
    for service in [
        Service::OrderApi,
        Service::Wallet,
        Service::KeyManagement,
        Service::PortalApi,
        Service::WebhookDispatcher,
    ] {
        stack.restart(service).await?;
        stack.wait_ready().await?;
    }
    enough.store(true, Ordering::Relaxed);
    let mut references = Vec::new();
    for client in clients {
        references.extend(client.await??);
    }

    wait_until_quiet(&stack).await?;
    assert!(references.len() > CLIENTS, "orders were placed during the restarts");
    let placed = "SELECT count(*) FROM orders WHERE mode = 'live' AND placement = 'placed'";
    assert_eq!(stack.query(Service::OrderApi, placed).await?.trim(), references.len().to_string());
    let paid = FEE * i64::try_from(references.len())?;
    assert_eq!(business.balance().await?, before - paid, "each was paid once");
    for reference in references {
        business.webhooks_of(&reference, 1).await?;
    }
    stack.shut_down().await
}

/// Places orders one after another, each retried until its 201. Returns the references.
async fn order_steadily(
    live: demo::clients::Integration,
    client: usize,
    enough: Arc<AtomicBool>,
) -> anyhow::Result<Vec<String>> {
    let mut references = Vec::new();
    for number in 0.. {
        if enough.load(Ordering::Relaxed) {
            break;
        }
        let reference = format!("restart-{client}-{number}");
        let body = smallest_order(&reference);
        demo::eventually("an order", waybill_tests::PATIENCE, || async {
            match live.create(&format!("key-{reference}"), &body).await {
                Ok(reply) if reply.status == 201 => Ok(Some(())),
                Ok(reply) if reply.status == 503 => Ok(None),
                Ok(reply) => anyhow::bail!("{}: {}", reply.status, reply.text),
                // The listener is closed for a moment, so a connection may fail.
                Err(_) => Ok(None),
            }
        })
        .await?;
        references.push(reference);
    }
    Ok(references)
}
