//! The services without load: memory when idle, and the time until they are ready. Compared with the broker that they
//! need.

use std::time::Duration;

use anyhow::Context;
use local_stack::{Part, Service, Stack, say};
use tokio::time::Instant;
use waybill_tests::figure::{Figure, Section, Target, Unit};

use crate::cpu::Memory;

/// The initial work of a fresh process is over by then.
const REST: Duration = Duration::from_secs(10);
const RESIDENT_MOST: f64 = 0.75;
const READY_MOST: f64 = 0.15;

pub(crate) async fn run(stack: &Stack) -> anyhow::Result<Section> {
    let mut starts = Vec::new();
    for service in Service::ALL {
        starts.push((service.name(), start(stack, service.into()).await?));
    }
    tokio::time::sleep(REST).await;
    let [resident, anonymous] = memory(stack)?;
    // Last, because the services work to connect again.
    let broker = start(stack, Part::RabbitMq).await?;
    let slowest = starts.iter().map(|(_, seconds)| *seconds).fold(0.0, f64::max);
    let ready = Figure::new("from its start to ready, the slowest service", slowest, Unit::Seconds)
        .compared_with("RabbitMQ", broker)
        .target(Target::AtMost(READY_MOST))
        .note(parts(&starts, 2));
    Ok(Section::new("Footprint", [resident, anonymous, ready]))
}

/// Restarts the part. Returns the seconds from the start of its process to its readiness.
async fn start(stack: &Stack, part: Part) -> anyhow::Result<f64> {
    say(&format!("Restarting {}", part.name()));
    stack.stop(part).await?;
    let begun = Instant::now();
    stack.bring_up(part).await?;
    Ok(begun.elapsed().as_secs_f64())
}

/// The services' resident memory, and the part of it that is not of files.
fn memory(stack: &Stack) -> anyhow::Result<[Figure; 2]> {
    let memory =
        |part: Part| Memory::of(stack.pid(part).with_context(|| format!("{} does not run", part.name()))?);
    let broker = memory(Part::RabbitMq)?;
    let services = Service::ALL
        .into_iter()
        .map(|service| Ok((service.name(), memory(service.into())?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let figure = |what: &str, of: fn(&Memory) -> f64| {
        let each: Vec<_> = services.iter().map(|(name, memory)| (*name, of(memory))).collect();
        let sum = each.iter().map(|(_, megabytes)| megabytes).sum();
        Figure::new(format!("{what} of the five services, idle"), sum, Unit::Megabytes)
            .compared_with("RabbitMQ", of(&broker))
            .note(parts(&each, 1))
    };
    Ok([
        figure("resident memory", |memory| memory.resident).target(Target::AtMost(RESIDENT_MOST)),
        figure("of it anonymous memory", |memory| memory.anonymous),
    ])
}

fn parts(values: &[(&str, f64)], decimals: usize) -> String {
    let parts: Vec<_> = values.iter().map(|(name, value)| format!("{name} {value:.decimals$}")).collect();
    parts.join(", ")
}
