//! Debits through the ledger of wallet's internal endpoint, compared with pgbench taking the same fees from plain
//! tables.

use std::sync::Arc;

use demo::clients::Api;
use domain::{BusinessId, Clock, Entropy, OrderId, Paise};
use local_stack::{Service, Stack, say};
use reqwest::Method;
use serde_json::json;
use waybill_tests::figure::{Section, Target as Aim};

use crate::compare::{CLIENTS_MOST, Comparison, warm_up};
use crate::load::{Expected, Request, Target};
use crate::pgbench::{self, Baseline, Script};
use crate::tally::{self, POSTED, Tally};

const FEE_PAISE: i64 = 4_900;

pub(crate) async fn run(stack: &Stack) -> anyhow::Result<Section> {
    let mut figures = Vec::new();
    for (name, wallets, ratio) in [("one wallet", 1, 5.0), ("1,000 wallets", 1_000, 1.0)] {
        say(&format!("Filling {name}"));
        let target = &target(stack, fund(stack, wallets).await?)?;
        warm_up(stack, target).await?;
        let baseline = &baseline(stack, wallets).await?;
        for (clients, aim) in [(1, None), (CLIENTS_MOST, Some(Aim::AtLeast(ratio)))] {
            let posted = Tally::begin(stack, Service::Wallet, POSTED).await?;
            let comparison = Comparison { stack, baseline, target, unit: "debit", name, clients };
            let check = async |calls| {
                posted.has_grown_by(calls).await?;
                tally::ledger_is_consistent(stack).await
            };
            figures.extend(comparison.run(aim, check).await?);
        }
    }
    Ok(Section::new("Debits", figures))
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
