//! Faults of a running stack, and their moments.

use std::time::Duration;

use demo::eventually;
use domain::Entropy;
use local_stack::{Link, Part, Service, Stack};
use tokio::time::sleep;

use super::steps::{Step, deleted_in_memory, published_not_deleted, sent_not_stored};
use super::wire::{Go, Wires};

const RESTART_MAX: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Harm {
    /// SIGKILL.
    Kill(Part),
    /// PostgreSQL's `immediate` shutdown.
    StopAtOnce(Part),
    /// SIGSTOP, and SIGCONT after this time.
    Pause(Part, Duration),
    /// Closes the connections of the link, one of them at the current message.
    Cut(Link),
    /// Drops all data for this time without closing connections, as if the other end lost its power.
    Silence(Link, Duration),
    Slow(Link, Duration),
}

/// A fault and its moment: a step, or a time after the start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    At(Step, Harm),
    After(Duration, Harm),
}

/// The outcome of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) kills: u64,
    /// Whether the workload reached its step.
    pub(crate) met: bool,
}

const PARTS: [Part; 7] = [
    Part::Service(Service::OrderApi),
    Part::Service(Service::Wallet),
    Part::Service(Service::KeyManagement),
    Part::Service(Service::PortalApi),
    Part::Service(Service::WebhookDispatcher),
    Part::RabbitMq,
    Part::Postgres,
];

/// The links that carry orders and money.
const LINKS: [Link; 10] = [
    Link { from: Service::OrderApi, to: Part::Postgres },
    Link { from: Service::OrderApi, to: Part::RabbitMq },
    Link { from: Service::OrderApi, to: Part::Service(Service::Wallet) },
    Link { from: Service::OrderApi, to: Part::Service(Service::KeyManagement) },
    Link { from: Service::OrderApi, to: Part::Service(Service::PortalApi) },
    Link { from: Service::Wallet, to: Part::Postgres },
    Link { from: Service::Wallet, to: Part::RabbitMq },
    Link { from: Service::WebhookDispatcher, to: Part::Postgres },
    Link { from: Service::WebhookDispatcher, to: Part::RabbitMq },
    Link { from: Service::PortalApi, to: Part::Service(Service::Wallet) },
];

impl Harm {
    /// A fault that fits a step: of either end of its link, of another server, or of the link. Mostly kills.
    pub(crate) fn at(step: &Step, chance: &Entropy) -> Self {
        let Link { from, to } = step.link;
        match chance.below(20) {
            0..=9 => Self::Kill(from.into()),
            10 | 11 => Self::kill_server(to, chance),
            12 => {
                Self::kill_server(if to == Part::Postgres { Part::RabbitMq } else { Part::Postgres }, chance)
            }
            13 => Self::Pause(from.into(), some_seconds(chance)),
            14 => Self::Pause(to, some_seconds(chance)),
            15..=17 => Self::Cut(step.link),
            _ => Self::Silence(step.link, some_seconds(chance)),
        }
    }

    pub(crate) fn anywhere(chance: &Entropy) -> Self {
        let part = pick(&PARTS, chance);
        let link = pick(&LINKS, chance);
        match chance.below(20) {
            0..=13 => Self::kill_server(part, chance),
            14 => Self::Pause(part, some_seconds(chance)),
            15 | 16 => Self::Cut(link),
            17 => Self::Silence(link, some_seconds(chance)),
            _ => Self::Slow(link, Duration::from_millis(u64::from(20 + chance.below(300)))),
        }
    }

    fn kill_server(part: Part, chance: &Entropy) -> Self {
        match part {
            Part::Postgres if chance.below(2) == 0 => Self::StopAtOnce(part),
            part => Self::Kill(part),
        }
    }
}

/// The loss of each part while an event or a webhook has left, and that is not stored or not on the disk.
pub(crate) fn crashes_before_storing() -> Vec<Fault> {
    let mut faults = Vec::new();
    for step in [published_not_deleted(), sent_not_stored()] {
        let parts = [step.link.from.into(), Part::Postgres, Part::RabbitMq];
        faults.extend(parts.map(|part| Fault::At(step, Harm::Kill(part))));
    }
    faults.push(Fault::At(deleted_in_memory(), Harm::Kill(Part::Postgres)));
    faults
}

fn pick<T: Copy>(among: &[T], chance: &Entropy) -> T {
    let count = u32::try_from(among.len()).unwrap_or(u32::MAX);
    among[chance.below(count) as usize]
}

fn some_seconds(chance: &Entropy) -> Duration {
    Duration::from_millis(u64::from(500 + chance.below(2_500)))
}

/// Injects a fault at its moment, or not at all if its step is not reached within `patience`.
pub(crate) async fn inflict(
    stack: &Stack,
    wires: &Wires,
    (fault, patience): (Fault, Duration),
    chance: &Entropy,
) -> anyhow::Result<Done> {
    match fault {
        Fault::After(wait, harm) => {
            sleep(wait).await;
            Ok(Done { kills: apply(stack, wires, harm).await?, met: true })
        }
        Fault::At(step, harm) => {
            let arm = wires.on(step.link)?.arm(step.moment, step.instant);
            let Some(go) = arm.met(patience).await else { return Ok(Done::default()) };
            let kills = apply(stack, wires, harm).await?;
            // A held message may still arrive after its sender has ended, or be lost.
            let word = if chance.below(2) == 0 { Go::On } else { Go::Cut };
            // The receiver is gone if the connection has ended.
            let _ended = go.send(word);
            Ok(Done { kills, met: true })
        }
    }
}

async fn apply(stack: &Stack, wires: &Wires, harm: Harm) -> anyhow::Result<u64> {
    match harm {
        Harm::Kill(part) => {
            is_up(stack, part).await?;
            stack.kill(part).await?;
            return Ok(1);
        }
        Harm::StopAtOnce(part) => {
            is_up(stack, part).await?;
            stack.stop_at_once(part).await?;
            return Ok(1);
        }
        Harm::Pause(part, time) => {
            is_up(stack, part).await?;
            stack.pause(part)?;
            sleep(time).await;
            stack.resume(part)?;
        }
        Harm::Cut(link) => wires.on(link)?.cut(),
        Harm::Silence(link, time) => {
            wires.on(link)?.fall_silent();
            sleep(time).await;
            wires.on(link)?.heal();
        }
        Harm::Slow(link, delay) => wires.on(link)?.slow_down(delay),
    }
    Ok(0)
}

/// A part that an earlier fault ended restarts soon.
async fn is_up(stack: &Stack, part: Part) -> anyhow::Result<()> {
    eventually("a part to restart", RESTART_MAX, || async { Ok(stack.pid(part).map(drop)) }).await
}
