//! The program: it migrates, serves, stops cleanly, and survives a kill.

use std::process::Command;

use diesel_async::SimpleAsyncConnection;
use domain::OrderId;
use futures_util::future::join_all;
use internal_api::wallet::DebitOutcome::Posted;
use internal_api::wallet::WalletClient;
use test_kit::{Program, service_command, until};

use crate::harness::{Harness, answer, client, request};
use crate::invariants::assert_consistent;

fn command(harness: &Harness, argument: &str) -> Command {
    let settings = &harness.settings;
    service_command(env!("CARGO_BIN_EXE_wallet"), argument, &settings.database, &settings.broker)
}

/// A program that is ready, and its client.
pub(crate) async fn serve(harness: &Harness) -> (Program, WalletClient) {
    let program = Program::start(&mut command(harness, "serve"));
    let (internal, _) = program.serves().await;
    (program, client(&internal, &harness.settings.internal.token))
}

#[tokio::test]
async fn the_program_migrates_serves_and_stops_cleanly() {
    let harness = Harness::connected().await;
    assert!(command(&harness, "migrate").status().unwrap().success(), "migrating twice changes nothing");
    assert!(!command(&harness, "dance").status().unwrap().success());

    let (program, wallet) = serve(&harness).await;
    let (business, order) = (harness.funded(1_000).await, harness.order());
    assert_eq!(wallet.debit(order, 1, &request(business, 100)).await.unwrap(), answer(Posted, 900));
    let log = program.stop();
    assert!(log.contains("stopped"), "{log}");
}

/// Answered debits stay. Repeating unanswered debits takes each fee once.
#[tokio::test]
async fn a_kill_neither_repeats_nor_loses_a_fee() {
    let harness = Harness::connected().await;
    let business = harness.funded(1_000_000).await;
    let (mut program, wallet) = serve(&harness).await;
    let request = request(business, 100);
    let orders: Vec<_> = (0..600).map(|_| harness.order()).collect();
    let (before, during) = orders.split_at(20);
    let debits = async |orders: &[OrderId]| {
        let debit = async |order| (order, wallet.debit(order, 1, &request).await);
        join_all(orders.iter().copied().map(debit)).await
    };
    let answered =
        debits(before).await.into_iter().map(|(order, outcome)| (order, outcome.expect("an answer")));
    let answered: Vec<_> = answered.collect();

    // The kill happens while the database blocks the other debits.
    let mut holder = harness.connection().await;
    let hold = format!("BEGIN; SELECT FROM wallets WHERE business_id = '{business}' FOR UPDATE");
    holder.batch_execute(&hold).await.unwrap();
    let kill = async {
        let waiting = "SELECT count(*) FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";
        until("a debit waits for the wallet", async || harness.number(waiting).await > 0).await;
        program.kill();
    };
    let (unanswered, ()) = tokio::join!(debits(during), kill);
    assert!(unanswered.iter().all(|(_, outcome)| outcome.is_err()), "one was answered in spite of the lock");
    drop(holder);

    for (order, posted) in answered {
        assert_eq!(harness.wallet.debit(order, 1, &request).await.unwrap(), posted);
    }
    for order in &orders {
        assert_eq!(harness.wallet.debit(*order, 1, &request).await.unwrap().outcome, Posted);
    }
    assert_eq!(harness.balance(business).await, 1_000_000 - 600 * 100);
    assert_consistent(&harness).await;
}
