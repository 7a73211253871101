//! Debits through the ledger of wallet's internal endpoint, compared with pgbench taking the same fees from plain
//! tables.

use std::sync::Arc;

use demo::clients::Api;
use domain::{BusinessId, Clock, Entropy, OrderId, Paise};
use local_stack::{Service, Stack, say};
use reqwest::Method;
use serde_json::json;
use waybill_tests::figure::{Section, Target as Aim};

use crate::compare::{Comparison, warm_up};
use crate::load::{Expected, Request, Target};
use crate::pgbench::{self, Baseline, Script};
use crate::report::Row;
use crate::tally::{self, POSTED, Tally};

const CLIENTS_MOST: usize = 64;
const CLIENTS: [usize; 3] = [1, 16, CLIENTS_MOST];
const MANY: u32 = 1_000;
const FEE_PAISE: i64 = 4_900;

pub(crate) async fn run() -> anyhow::Result<Section> {
    let stack = crate::start_stack().await?;
    let mut figures = Vec::new();
    for (name, wallets, ratio) in [("one wallet", 1, 5.0), ("1,000 wallets", MANY, 1.0)] {
        say(&format!("Filling {name}"));
        let target = target(&stack, fund(&stack, wallets).await?)?;
        warm_up(&stack, &target).await?;
        let baseline = baseline(&stack, wallets).await?;
        for clients in CLIENTS {
            let aim = (clients == CLIENTS_MOST).then_some(Aim::RatioAtLeast(ratio));
            let row = compare(&stack, &baseline, &target, name, clients).await?;
            figures.extend(row.figures("debit", aim));
        }
    }
    stack.shut_down().await?;
    Ok(Section::new("Debits", figures))
}

async fn compare(
    stack: &Stack,
    baseline: &Baseline,
    target: &Arc<Target>,
    name: &str,
    clients: usize,
) -> anyhow::Result<Row> {
    let posted = Tally::begin(stack, Service::Wallet, POSTED).await?;
    let comparison = Comparison { stack, baseline, target, name: name.to_owned(), clients };
    comparison
        .run(async |calls| {
            posted.has_grown_by(calls).await?;
            tally::ledger_is_consistent(stack).await
        })
        .await
}

/// Businesses whose wallets suffice for all debits of a run.
async fn fund(stack: &Stack, wallets: u32) -> anyhow::Result<Vec<BusinessId>> {
    let (clock, entropy) = (Clock::system(), Entropy::from_system()?);
    let wallet = Api::new(stack.internal_url(Service::Wallet))?;
    let credit = json!({ "amountPaise": Paise::REQUEST_MAX, "reference": "bench" });
    let mut businesses = Vec::new();
    for _ in 0..wallets {
        let business = BusinessId::generate(&clock, &entropy);
        let request = wallet.request(Method::POST, &format!("/internal/wallets/{business}/credits"));
        wallet.send(request.bearer_auth(stack.internal_token()).json(&credit)).await?.expect(200)?;
        businesses.push(business);
    }
    Ok(businesses)
}

/// Debits of new orders, each from a random wallet.
fn target(stack: &Stack, businesses: Vec<BusinessId>) -> anyhow::Result<Arc<Target>> {
    let (clock, entropy) = (Clock::system(), Entropy::from_system()?);
    let token = stack.internal_token();
    let count = u32::try_from(businesses.len())?;
    let expected = Expected { status: 200, text: "\"posted\"" };
    Target::new(&stack.internal_url(Service::Wallet), expected, move |_| {
        let business = businesses[entropy.below(count) as usize];
        Request {
            call: format!("PUT /internal/debits/{}/1", OrderId::generate(&clock, &entropy)),
            headers: format!("Authorization: Bearer {token}\r\n"),
            body: format!("{{\"businessId\":\"{business}\",\"amountPaise\":{FEE_PAISE}}}"),
        }
    })
}

/// A database next to the wallet's, with the same tables and as many wallets.
async fn baseline(stack: &Stack, wallets: u32) -> anyhow::Result<Baseline> {
    let name = format!("bench_debits_{wallets}");
    let url = stack.create_database(&name).await?;
    pgbench::copy_tables(stack, Service::Wallet, &url).await?;
    pgbench::drop_triggers(&url).await?;
    pgbench::fill_wallets(&url, "wallets", wallets).await?;
    let variables = [("wallets", u64::from(wallets))];
    Baseline::new(
        stack,
        &url,
        &Script { name: &name, sql: include_str!("baseline.sql"), variables: &variables },
    )
}
