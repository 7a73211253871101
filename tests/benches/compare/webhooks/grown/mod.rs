//! Ten million deliveries: frequent operations on a small table and on a large one, on the same stack. It takes more
//! than an hour and up to 20 GB below `target/`, which are freed at the end. An interrupted run can be continued. The
//! rounds on the small table come before the table grows.

mod fill;
mod measure;
mod progress;

use anyhow::ensure;
use domain::Mode;
use local_stack::{Service, Stack, StackOptions, say};
use reqwest::Method;
use serde_json::json;
use waybill_tests::figure::Unit;

use super::drain::Drained;
use super::{Bench, Endpoint, calibrate, drain, events::Source, hooks::Hooks};
use crate::table;
use demo::clients::Api;
use measure::Figures;
use progress::Progress;

const DELIVERIES: u64 = 10_000_000;
/// The size of the small table.
const DELIVERIES_SMALL: u64 = 100_000;
const BUSINESSES: usize = 50;
/// All of them subscribe to everything, so each event causes this many deliveries.
const ENDPOINTS_EACH: usize = 4;

/// `wanted` allows a trial with less, which is printed and not written to the page.
pub(crate) async fn run(wanted: Option<u64>, rounds: u32) -> anyhow::Result<()> {
    let wanted = wanted.unwrap_or(DELIVERIES);
    ensure!(
        wanted > DELIVERIES_SMALL,
        "choose more than {DELIVERIES_SMALL} deliveries, the size of the small table"
    );
    let directory = local_stack::local_stack_directory().with_file_name("bench-grown");
    say(&format!("Starting the stack in {}", directory.display()));
    let stack = Stack::start(StackOptions::new(&directory)).await?;
    let hooks = Hooks::start().await?;
    let source = Source::new(stack.broker_url())?;
    let dispatcher = Api::new(stack.internal_url(Service::WebhookDispatcher))?;
    let bench = Bench { stack, hooks, source, dispatcher, orders: None };

    let mut progress = Progress::load(&directory)?;
    let endpoints = endpoints(&bench, &mut progress).await?;
    fill::fill(&bench, &endpoints, DELIVERIES_SMALL).await?;
    while progress.small.len() < rounds as usize {
        progress.small.push(figures(&bench, &endpoints).await?);
        progress.save()?;
    }
    fill::fill(&bench, &endpoints, wanted).await?;
    let mut grown = Vec::new();
    for _ in 0..rounds {
        grown.push(figures(&bench, &endpoints).await?);
    }
    say(&format!("\nThe tables take: {}\n", fill::sizes(&bench).await?));
    let section = measure::compared(wanted, &grown, &progress.small);
    if wanted == DELIVERIES {
        table::write(&section, rounds)?
    } else {
        table::show(&section)
    }
    bench.stack.shut_down().await?;
    local_stack::forget(&directory)?;
    Ok(())
}

/// Created at the first run. The receiver's port differs in each run, so their URLs are updated.
async fn endpoints(bench: &Bench, progress: &mut Progress) -> anyhow::Result<Vec<Endpoint>> {
    if progress.endpoints.is_empty() {
        let mut endpoints = Vec::new();
        for number in 0..BUSINESSES * ENDPOINTS_EACH {
            let business = if number % ENDPOINTS_EACH == 0 {
                bench.new_business()
            } else {
                endpoints.last().map_or_else(|| bench.new_business(), |last: &Endpoint| last.business)
            };
            endpoints.push(bench.endpoint(business, Mode::Test, &format!("/grown/{number}")).await?);
        }
        progress.endpoints = endpoints;
        progress.save()?;
        return Ok(progress.endpoints.clone());
    }
    for Endpoint { business, id, path, .. } in &progress.endpoints {
        let call = format!("/internal/businesses/{business}/webhook-endpoints/{id}");
        let request =
            bench.dispatcher.request(Method::PATCH, &call).bearer_auth(bench.stack.internal_token());
        let url = format!("{}{path}", bench.hooks.origin());
        bench.dispatcher.send(request.json(&json!({ "url": url }))).await?.expect(200)?;
    }
    Ok(progress.endpoints.clone())
}

async fn figures(bench: &Bench, endpoints: &[Endpoint]) -> anyhow::Result<Figures> {
    let mut figures = Figures::default();
    measure::claims(bench, &mut figures).await?;
    let calibration = calibrate::calibrate(bench).await?;
    let own = drain::endpoints(bench, 1).await?;
    drain::warm_up(bench, &own).await?;
    for (name, waits) in [("from the broker", true), ("of accepted events", false)] {
        let Drained { row, per_second, cost, accepted_per_second } = if waits {
            drain::from_the_broker(bench, &own, (&calibration, drain::AIM_ONE)).await?
        } else {
            drain::from_paused_endpoints(bench, &own, (&calibration, drain::AIM_ONE)).await?
        };
        ensure!(!row.is_wrong(), "webhooks were lost, made up or out of order: {}", row.figures[0].line());
        figures.add(format!("drain {name}"), per_second, Unit::PerSecond);
        figures.add(format!("drain {name}: processor time"), cost, Unit::CpuSecondsPer1000);
        if let Some(accepted) = accepted_per_second {
            figures.add("acceptance", accepted, Unit::PerSecond);
        }
    }
    bench.delete(&own).await?;
    measure::calls(bench, endpoints, &mut figures).await?;
    Ok(figures)
}
