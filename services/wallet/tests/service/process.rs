//! The program itself: it migrates, serves, stops in good order, and may be killed at any moment.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use diesel_async::SimpleAsyncConnection;
use domain::OrderId;
use futures_util::future::join_all;
use internal_api::wallet::DebitOutcome::Posted;
use internal_api::wallet::WalletClient;
use serde_json::Value;
use url::Url;

use crate::books::assert_sound;
use crate::harness::{Harness, answer, client, request, until};

/// A running program, killed at the end of the test whatever happens.
struct Program {
    child: Child,
    wallet: WalletClient,
    /// What it still writes; held, so that it can.
    log: BufReader<ChildStdout>,
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already, as it should.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn command(harness: &Harness, argument: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wallet"));
    command
        .arg(argument)
        .env("WAYBILL_DATABASE__URL", harness.settings.database.url.expose())
        .env("WAYBILL_BROKER__URL", harness.settings.broker.url.expose())
        .env("WAYBILL_HTTP__INTERNAL", "127.0.0.1:0")
        .env("WAYBILL_HTTP__MANAGEMENT", "127.0.0.1:0")
        .stdout(Stdio::piped());
    command
}

/// A program that is ready.
async fn serve(harness: &Harness) -> Program {
    let mut child = command(harness, "serve").spawn().expect("the program starts");
    let mut log = BufReader::new(child.stdout.take().expect("its log"));
    let (internal, management) = (next_address(&mut log), next_address(&mut log));
    let wallet = client(&internal, &harness.settings.internal.token);
    let program = Program { child, wallet, log };
    let ready = management.join("health/ready").expect("a path");
    until("the program is ready", async || {
        reqwest::get(ready.clone()).await.is_ok_and(|answer| answer.status().is_success())
    })
    .await;
    program
}

/// The address in the next log line that tells of a listener.
fn next_address(log: &mut BufReader<ChildStdout>) -> Url {
    loop {
        let mut line = String::new();
        assert_ne!(log.read_line(&mut line).expect("a log line"), 0, "the program ended early");
        let line: Value = serde_json::from_str(&line).expect("log lines are JSON");
        if line["message"] == "listening" {
            let address = line["address"].as_str().expect("an address");
            return Url::parse(&format!("http://{address}/")).expect("a URL");
        }
    }
}

#[tokio::test]
async fn the_program_migrates_serves_and_stops_in_good_order() {
    let harness = Harness::start().await;
    assert!(command(&harness, "migrate").status().unwrap().success(), "migrating twice changes nothing");
    assert!(!command(&harness, "dance").status().unwrap().success());

    let mut program = serve(&harness).await;
    let (business, order) = (harness.funded(1_000).await, harness.order());
    assert_eq!(program.wallet.debit(order, 1, &request(business, 100)).await.unwrap(), answer(Posted, 900));
    let id = program.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert!(program.child.wait().unwrap().success());
    let mut rest = String::new();
    while program.log.read_line(&mut rest).unwrap() > 0 {}
    assert!(rest.contains("stopped"), "{rest}");
}

/// What was answered stays; what was not answered is settled by asking again, once.
#[tokio::test]
async fn a_kill_in_the_middle_takes_no_fee_twice_and_forgets_none() {
    let harness = Harness::start().await;
    let business = harness.funded(1_000_000).await;
    let program = serve(&harness).await;
    let request = request(business, 100);
    let orders: Vec<_> = (0..600).map(|_| harness.order()).collect();
    let (before, during) = orders.split_at(20);
    let debits = async |orders: &[OrderId]| {
        let debit = async |order| (order, program.wallet.debit(order, 1, &request).await);
        join_all(orders.iter().copied().map(debit)).await
    };
    let answered =
        debits(before).await.into_iter().map(|(order, outcome)| (order, outcome.expect("an answer")));
    let answered: Vec<_> = answered.collect();

    // The kill comes while the database holds up the rest.
    let mut holder = harness.connection().await;
    let hold = format!("BEGIN; SELECT FROM wallets WHERE business_id = '{business}' FOR UPDATE");
    holder.batch_execute(&hold).await.unwrap();
    let id = program.child.id().to_string();
    let kill = async {
        let waiting = "SELECT count(*) FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";
        until("a debit waits for the wallet", async || harness.number(waiting).await > 0).await;
        assert!(Command::new("kill").args(["-KILL", &id]).status().unwrap().success());
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
    assert_sound(&harness).await;
}
