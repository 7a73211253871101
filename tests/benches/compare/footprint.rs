//! The services without load: memory when idle, and the time until they are ready.

use std::time::Duration;

use anyhow::Context;
use local_stack::{Part, Service, Stack, say};
use tokio::time::Instant;
use waybill_tests::figure::{Figure, Section, Target, Unit};

use crate::cpu;

/// The initial work of a fresh process is over by then.
const REST: Duration = Duration::from_secs(10);
const READY_MOST: f64 = 1.0;
/// Of the five together.
const RESIDENT_MOST: f64 = 100.0;

pub(crate) async fn run() -> anyhow::Result<Section> {
    let stack = crate::start_stack().await?;
    let mut figures = Vec::new();
    for service in Service::ALL {
        say(&format!("Restarting {}", service.name()));
        figures.push(ready(&stack, service).await?);
    }
    tokio::time::sleep(REST).await;
    figures.push(memory("idle", &stack)?.target(Target::AtMost(RESIDENT_MOST)));
    stack.shut_down().await?;
    Ok(Section::new("Footprint", figures))
}

/// From the start of the process to its readiness. Compared with the same program printing its settings, which only
/// loads it.
async fn ready(stack: &Stack, service: Service) -> anyhow::Result<Figure> {
    stack.stop(service).await?;
    let begun = Instant::now();
    stack.bring_up(service).await?;
    let ready = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    stack.run(service, &["settings"]).await?;
    let bare = begun.elapsed().as_secs_f64();
    Ok(Figure::new(format!("{}: from its start to ready", service.name()), ready, Unit::Seconds)
        .compared_with("the program loaded, and ended", bare)
        .target(Target::AtMost(READY_MOST))
        .note("looked at every 40 ms"))
}

/// Each service's resident memory, and the sum.
pub(crate) fn memory(when: &str, stack: &Stack) -> anyhow::Result<Figure> {
    let resident =
        |part: Part| cpu::resident(stack.pid(part).with_context(|| format!("{} does not run", part.name()))?);
    let services = Service::ALL
        .into_iter()
        .map(|service| Ok((service.name(), resident(service.into())?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let sum = services.iter().map(|(_, megabytes)| megabytes).sum();
    let parts: Vec<_> = services.iter().map(|(name, megabytes)| format!("{name} {megabytes:.1}")).collect();
    let figure = Figure::new(format!("resident memory of the five services, {when}"), sum, Unit::Megabytes)
        .compared_with("RabbitMQ alone", resident(Part::RabbitMq)?)
        .note(parts.join(" + "));
    Ok(figure)
}
