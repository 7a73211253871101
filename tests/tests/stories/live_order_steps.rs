//! A crash between any two steps of a live order (SPECIFICATION §10: intent, debit, finalise) is recovered within
//! seconds of the restart, with one debit or none, and the client's retry gets the outcome.

use demo::clients::Reply;
use demo::eventually;
use local_stack::{Service, Stack};
use serde_json::Value;
use waybill_tests::{Business, Gate, PATIENCE, smallest_order, wait_until_quiet};

const FEE: i64 = 4_900;

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_between_any_two_steps_is_recovered() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(1_000_000).await?;

    order_api_dies_before_the_debit(&stack, &business).await?;
    the_wallet_dies_during_the_debit(&stack, &business).await?;
    order_api_dies_after_the_debit(&stack, &business).await?;
    the_client_disconnects_during_the_debit(&stack, &business).await?;
    concurrent_equal_requests_are_one_order(&stack, &business).await?;
    wait_until_quiet(&stack).await?;
    stack.shut_down().await
}

/// Sends the order in the background, without waiting for the response.
fn send(
    business: &Business,
    reference: &str,
) -> anyhow::Result<tokio::task::JoinHandle<anyhow::Result<Reply>>> {
    let live = business.live()?;
    let (key, body) = (format!("key-{reference}"), smallest_order(reference));
    Ok(tokio::spawn(async move { live.create(&key, &body).await }))
}

/// Retries the same request until it is answered, as SPECIFICATION §3.3 describes.
async fn retry(business: &Business, reference: &str) -> anyhow::Result<Value> {
    eventually("the retry to be answered", PATIENCE, || async {
        match send(business, reference)?.await? {
            Ok(reply) if reply.status == 201 => Ok(Some(reply.body)),
            Ok(reply) if reply.status.is_server_error() => Ok(None),
            Ok(reply) if reply.body["code"] == "idempotency_in_progress" => Ok(None),
            Ok(reply) => anyhow::bail!("{}: {}", reply.status, reply.text),
            Err(_) => Ok(None),
        }
    })
    .await
}

async fn order_row(stack: &Stack, reference: &str, column: &str) -> anyhow::Result<String> {
    let sql = format!("SELECT {column} FROM orders WHERE order_reference = '{reference}' AND mode = 'live'");
    Ok(stack.query(Service::OrderApi, &sql).await?.trim().to_owned())
}

async fn wait_for_placement(stack: &Stack, reference: &str, placement: &str) -> anyhow::Result<()> {
    eventually(&format!("{reference} to be {placement}"), PATIENCE, || async {
        Ok((order_row(stack, reference, "placement").await? == placement).then_some(()))
    })
    .await
}

/// Outcomes of an order's debits, by attempt.
async fn debits(stack: &Stack, reference: &str) -> anyhow::Result<String> {
    let order = order_row(stack, reference, "id").await?;
    let sql =
        format!("SELECT string_agg(outcome, ' ' ORDER BY attempt) FROM debits WHERE order_id = '{order}'");
    Ok(stack.query(Service::Wallet, &sql).await?.trim().to_owned())
}

async fn order_api_dies_before_the_debit(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let before = business.balance().await?;
    stack.kill_and_keep_down(Service::Wallet).await?;
    let asking = send(business, "step-1")?;
    wait_for_placement(stack, "step-1", "pending_payment").await?;
    stack.kill(Service::OrderApi).await?;
    assert!(asking.await?.is_err(), "no response arrived");
    stack.bring_up(Service::Wallet).await?;
    stack.wait_ready().await?;

    wait_for_placement(stack, "step-1", "released").await?;
    assert_eq!(debits(stack, "step-1").await?, "voided");
    assert_eq!(business.balance().await?, before);
    retry(business, "step-1").await?;
    assert_eq!(debits(stack, "step-1").await?, "voided posted");
    assert_eq!(business.balance().await?, before - FEE);
    Ok(())
}

async fn the_wallet_dies_during_the_debit(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let before = business.balance().await?;
    let gate = Gate::close(stack.database_url(Service::Wallet), "debits", "INSERT", "TRUE").await;
    let asking = send(business, "step-2")?;
    gate.reached().await;
    stack.kill(Service::Wallet).await?;
    gate.open().await;
    stack.wait_ready().await?;
    // Either the first request outlived the crash, or its response asked for a retry.
    let reply = asking.await??;
    assert!(reply.status == 201 || reply.status == 503, "{}", reply.text);
    retry(business, "step-2").await?;
    assert!(debits(stack, "step-2").await?.ends_with("posted"));
    assert_eq!(business.balance().await?, before - FEE, "taken once");
    Ok(())
}

async fn order_api_dies_after_the_debit(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let before = business.balance().await?;
    let gate =
        Gate::close(stack.database_url(Service::OrderApi), "orders", "UPDATE", "NEW.placement = 'placed'")
            .await;
    let asking = send(business, "step-3")?;
    gate.reached().await;
    assert_eq!(debits(stack, "step-3").await?, "posted");
    stack.kill(Service::OrderApi).await?;
    assert!(asking.await?.is_err(), "no response arrived");
    gate.open().await;
    stack.wait_ready().await?;

    wait_for_placement(stack, "step-3", "placed").await?;
    assert_eq!(debits(stack, "step-3").await?, "posted");
    assert_eq!(business.balance().await?, before - FEE, "taken once");
    let replayed = retry(business, "step-3").await?;
    assert_eq!(replayed["id"], order_row(stack, "step-3", "id").await?);
    Ok(())
}

async fn the_client_disconnects_during_the_debit(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let before = business.balance().await?;
    let gate = Gate::close(stack.database_url(Service::Wallet), "debits", "INSERT", "TRUE").await;
    let asking = send(business, "step-4")?;
    gate.reached().await;
    asking.abort();
    assert!(asking.await.is_err(), "the client is gone");
    gate.open().await;
    wait_for_placement(stack, "step-4", "placed").await?;
    assert_eq!(business.balance().await?, before - FEE);
    Ok(())
}

async fn concurrent_equal_requests_are_one_order(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let before = business.balance().await?;
    let sent: Vec<_> = (0..50).map(|_| send(business, "step-5")).collect::<Result<_, _>>()?;
    let mut answers = Vec::new();
    for asking in sent {
        let reply = asking.await??;
        assert_eq!(reply.status, 201, "{}", reply.text);
        answers.push(reply.text);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "byte-identical");
    assert_eq!(debits(stack, "step-5").await?, "posted");
    assert_eq!(business.balance().await?, before - FEE, "one debit");
    Ok(())
}
