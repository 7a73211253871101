//! A campaign: rounds of work under faults on one stack, each followed by recovery and verification. All randomness
//! derives from the campaign's seed and the number of the round, so that a round can be repeated.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use domain::Entropy;
use local_stack::{Instance, Service, Stack, StackOptions};
use messaging::Broker;
use serde::{Deserialize, Serialize};
use settings::Secret;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::harm::{Done, Fault, Harm, crashes_before_storing, inflict};
use super::steps::{self, Step};
use super::verify::verify;
use super::wire::Wires;
use super::workload::{self, Kind, OrderStory, Scene, Tenant};

/// The number of steps with a fault per round.
const STEPS_PER_ROUND: u64 = 6;
/// The time limit for a random step. A workload that does not reach it has ended.
const STEP_MAX: Duration = Duration::from_secs(5);
/// The time limit for a step that must be reached, including the recovery from the fault before.
const STEP_MAX_CERTAIN: Duration = Duration::from_secs(60);
/// One round of each ten has the crashes of [`crashes_before_storing`], and the others have random faults.
const CYCLE: u64 = 10;
const CRASHES_AT: u64 = 1;
/// One round of each three has a single dispatcher, and the others have two.
const SINGLE_DISPATCHER: u64 = 3;
/// The time from the start of the work to the first fault.
const HEAD_START: Duration = Duration::from_millis(200);

/// A stack under faults, and its users.
pub struct Campaign {
    seed: u64,
    stack: Arc<Stack>,
    broker: Broker,
    wires: Wires,
    tenants: Vec<Arc<Tenant>>,
    steps: Vec<Step>,
    /// Connects without proxies, so a step is always one of the stack's own dispatcher.
    second_dispatcher: Mutex<Option<Instance>>,
}

/// The faults that were injected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundReport {
    pub rounds: u64,
    /// The number of processes that were killed or stopped at once.
    pub kills: u64,
    pub harms: u64,
    /// Steps that the workload did not reach in time.
    pub missed: u64,
    pub orders: u64,
    pub placed: u64,
    pub refused: u64,
    pub refunded: u64,
    /// How often each step was reached.
    pub steps: BTreeMap<String, u64>,
    /// How often each step was not reached.
    #[serde(default)]
    pub missed_steps: BTreeMap<String, u64>,
}

impl Campaign {
    /// Starts a stack with a proxy on every link, and businesses that may place live orders.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn start(seed: u64) -> anyhow::Result<Self> {
        let wires = Wires::default();
        let directory = Stack::test_directory()?;
        let options = StackOptions::with_own_test_servers(&directory).detour(wires.detour());
        let stack = Arc::new(Stack::start_for_test(options).await?);
        // Deletions from an outbox stay in memory for longer, until the next other commit.
        local_stack::query(&stack.admin_url()?, "ALTER SYSTEM SET wal_writer_delay = '10s'").await?;
        local_stack::query(&stack.admin_url()?, "SELECT pg_reload_conf()").await?;
        let broker = Broker::start(&settings::Broker::new(Secret::new(stack.broker_url())), "faults");
        let mut tenants = Vec::new();
        for kind in [Kind::Rich, Kind::Poor, Kind::Shaky] {
            tenants.push(Arc::new(Tenant::open(&stack, kind).await?));
        }
        let second_dispatcher = Mutex::default();
        Ok(Self { seed, stack, broker, wires, tenants, steps: steps::all(), second_dispatcher })
    }

    /// One round: work under faults, recovery, verification.
    ///
    /// # Errors
    /// When anything is inconsistent. The error contains what is needed to repeat the round.
    pub async fn round(&self, number: u64) -> anyhow::Result<RoundReport> {
        let chance = Entropy::seeded(self.seed.wrapping_mul(1_000_003).wrapping_add(number));
        self.run_dispatchers(number).await?;
        let faults = match number % CYCLE {
            CRASHES_AT => crashes_before_storing(),
            _ => self.draw(number, &chance),
        };
        let patience = if number % CYCLE == CRASHES_AT { STEP_MAX_CERTAIN } else { STEP_MAX };
        let describe = |what: &str| format!("{what}; seed {}, round {number}, {faults:#?}", self.seed);
        let scene =
            Scene { stack: Arc::clone(&self.stack), round: format!("r{number}"), chance: chance.clone() };
        let stop = CancellationToken::new();
        let harming = async {
            let done = self.harm(&faults, patience, &chance).await;
            self.wires.heal();
            stop.cancel();
            done
        };
        let (stories, done) = tokio::join!(workload::run(&scene, &self.tenants, &stop), harming);
        let done = done.with_context(|| describe("injecting a fault failed"))?;
        let mut stories = stories.with_context(|| describe("the workload failed"))?;
        ensure!(patience == STEP_MAX || done.iter().all(|done| done.met), describe("a step was not reached"));
        self.stack.wait_ready().await.with_context(|| describe("the stack did not recover"))?;
        let healed = Instant::now();
        verify(&self.stack, &self.broker, &self.tenants, &mut stories)
            .await
            .with_context(|| describe(&format!("{} ms after the recovery", healed.elapsed().as_millis())))?;
        Ok(RoundReport::of(&faults, &done, &stories))
    }

    /// Stops the stack gracefully.
    ///
    /// # Errors
    /// When something does not stop.
    pub async fn end(self) -> anyhow::Result<()> {
        drop(self.tenants);
        if let Some(second) = self.second_dispatcher.into_inner() {
            second.stop().await?;
        }
        self.broker.close().await;
        Arc::into_inner(self.stack).context("the stack is still in use")?.shut_down().await
    }

    /// Starts or stops the second dispatcher.
    async fn run_dispatchers(&self, number: u64) -> anyhow::Result<()> {
        let mut running = self.second_dispatcher.lock().await;
        let service = Service::WebhookDispatcher;
        match (number.is_multiple_of(SINGLE_DISPATCHER), running.take()) {
            (true, Some(second)) => second.stop().await?,
            (true, None) => {}
            (false, Some(second)) => *running = Some(second),
            (false, None) => {
                let mut second = self
                    .stack
                    .instance(service, "second-dispatcher")?
                    .variable("WAYBILL_DATABASE__URL", self.stack.database_url(service))
                    .variable("WAYBILL_BROKER__URL", self.stack.broker_url());
                second.start()?;
                second.ready().await?;
                *running = Some(second);
            }
        }
        Ok(())
    }

    /// The steps take turns; their faults are random.
    fn draw(&self, number: u64, chance: &Entropy) -> Vec<Fault> {
        let mut faults = Vec::new();
        for next in number * STEPS_PER_ROUND..(number + 1) * STEPS_PER_ROUND {
            let Some(step) =
                usize::try_from(next % self.steps.len() as u64).ok().and_then(|at| self.steps.get(at))
            else {
                continue;
            };
            faults.push(Fault::At(*step, Harm::at(step, chance)));
            let wait = Duration::from_millis(u64::from(chance.below(300)));
            faults.push(Fault::After(wait, Harm::anywhere(chance)));
        }
        faults
    }

    async fn harm(
        &self,
        faults: &[Fault],
        patience: Duration,
        chance: &Entropy,
    ) -> anyhow::Result<Vec<Done>> {
        sleep(HEAD_START).await;
        let mut done = Vec::with_capacity(faults.len());
        for fault in faults {
            done.push(inflict(&self.stack, &self.wires, (*fault, patience), chance).await?);
        }
        Ok(done)
    }
}

impl RoundReport {
    fn of(faults: &[Fault], done: &[Done], stories: &[Vec<OrderStory>]) -> Self {
        let mut report = Self { rounds: 1, ..Self::default() };
        for (fault, done) in faults.iter().zip(done) {
            report.kills += done.kills;
            report.harms += u64::from(done.met);
            report.missed += u64::from(!done.met);
            if let Fault::At(step, _) = fault {
                let steps = if done.met { &mut report.steps } else { &mut report.missed_steps };
                *steps.entry(step.label()).or_default() += 1;
            }
        }
        for story in stories.iter().flatten() {
            report.orders += 1;
            report.placed += u64::from(story.receipt.is_some());
            report.refused += u64::from(story.refused.is_some());
            report.refunded += u64::from(story.fate.gives_the_fee_back());
        }
        report
    }

    pub fn add(&mut self, other: &Self) {
        self.rounds += other.rounds;
        self.kills += other.kills;
        self.harms += other.harms;
        self.missed += other.missed;
        self.orders += other.orders;
        self.placed += other.placed;
        self.refused += other.refused;
        self.refunded += other.refunded;
        for (steps, others) in
            [(&mut self.steps, &other.steps), (&mut self.missed_steps, &other.missed_steps)]
        {
            for (step, times) in others {
                *steps.entry(step.clone()).or_default() += times;
            }
        }
    }
}

impl fmt::Display for RoundReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} rounds: {} kills among {} faults ({} steps not reached); {} orders, {} placed, {} refused, {} refunded",
            self.rounds,
            self.kills,
            self.harms,
            self.missed,
            self.orders,
            self.placed,
            self.refused,
            self.refunded
        )
    }
}
