//! A program kept running: started again when it dies, signalled, stopped, and gone when its owner is gone.
//!
//! Each has one thread that starts it and waits for it. The kernel ties a child's life to the thread that started it,
//! and this thread lives as long as the child; a test's or an executor's thread may end before.

#[cfg(test)]
mod tests;

use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::launch::Launch;

/// How long a program that died stays down, the first time and at most.
const BACKOFF_FIRST: Duration = Duration::from_millis(200);
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// A program that ran this long is trusted again.
const TRUSTED_AFTER: Duration = Duration::from_secs(30);
/// What a program gets to end by its parting signal when its owner is dropped.
const LAST_GRACE: Duration = Duration::from_secs(5);

/// What happens to supervised programs.
#[derive(Clone, Debug)]
pub enum Notice {
    /// It runs, with this process id.
    Started { name: String, pid: u32 },
    /// It died though it was wanted, and is started again after a moment.
    Died { name: String, how: String },
    /// It could not be started.
    Failed { name: String, why: String },
}

/// Told of every [`Notice`], from the threads of the programs.
pub type Listener = Arc<dyn Fn(&Notice) + Send + Sync>;

/// Its state as others see it.
#[derive(Clone, Debug, Default)]
struct Status {
    pid: Option<u32>,
    /// How it ended last, and how often it did unasked.
    last_end: Option<String>,
    deaths: u32,
}

/// How a program is stopped in good order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Farewell {
    pub(crate) signal: Signal,
    pub(crate) grace: Duration,
    /// What stops it at once without leaving a mess; the same as the launch's parting signal.
    pub(crate) at_once: Signal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Up,
    Down,
    Never,
}

struct Control {
    wanted: Wanted,
    handle: Option<OwnedFd>,
}

struct Shared {
    name: String,
    launch: Launch,
    listener: Listener,
    control: Mutex<Control>,
    wake: Condvar,
    status: watch::Sender<Status>,
}

/// A supervised program. Dropping it ends the program.
pub(crate) struct Supervised {
    shared: Arc<Shared>,
    farewell: Farewell,
    thread: Option<JoinHandle<()>>,
}

impl Supervised {
    /// Starts the program.
    pub(crate) fn start(
        name: &str,
        launch: Launch,
        farewell: Farewell,
        listener: Listener,
    ) -> anyhow::Result<Self> {
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            launch,
            listener,
            control: Mutex::new(Control { wanted: Wanted::Up, handle: None }),
            wake: Condvar::new(),
            status: watch::Sender::new(Status::default()),
        });
        let supervision = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name(format!("supervise {name}"))
            .spawn(move || supervision.supervise())
            .context("starting a supervising thread")?;
        Ok(Self { shared, farewell, thread: Some(thread) })
    }

    /// The process id while it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.shared.status.borrow().pid
    }

    /// Sends a signal to the process that runs now.
    pub(crate) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let control = self.shared.control();
        let Some(handle) = &control.handle else {
            bail!("{} is not running", self.shared.name);
        };
        pidfd_send_signal(handle, signal).with_context(|| format!("signalling {}", self.shared.name))
    }

    /// SIGKILL, and the supervisor starts it again. Answers when that process is gone.
    pub(crate) async fn kill(&self) -> anyhow::Result<()> {
        self.end_by(Signal::KILL).await
    }

    /// As [`Supervised::kill`], by the signal that leaves no mess.
    pub(crate) async fn stop_at_once(&self) -> anyhow::Result<()> {
        self.end_by(self.farewell.at_once).await
    }

    async fn end_by(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = self.pid();
        self.signal(signal)?;
        self.gone(pid, Duration::from_secs(10)).await
    }

    /// Stops it in good order, by force when it takes too long; it stays down until [`Supervised::bring_up`].
    pub(crate) async fn stop(&self) -> anyhow::Result<()> {
        let pid = self.want(Wanted::Down);
        if pid.is_none() {
            return Ok(());
        }
        // One that is paused must first be woken, or it would not hear.
        self.signal_if_running(self.farewell.signal);
        self.signal_if_running(Signal::CONT);
        if self.gone(pid, self.farewell.grace).await.is_err() {
            self.signal_if_running(Signal::KILL);
            self.gone(pid, Duration::from_secs(10)).await?;
        }
        Ok(())
    }

    /// SIGKILL; it stays down until [`Supervised::bring_up`].
    pub(crate) async fn kill_and_keep_down(&self) -> anyhow::Result<()> {
        let pid = self.want(Wanted::Down);
        self.signal_if_running(Signal::KILL);
        self.gone(pid, Duration::from_secs(10)).await
    }

    /// Starts it again after a stop.
    pub(crate) fn bring_up(&self) {
        self.want(Wanted::Up);
    }

    /// Asks until the program answers. One that dies meanwhile is hopeless: its first start is not retried.
    pub(crate) async fn first_ready(
        &self,
        limit: Duration,
        is_ready: impl AsyncFn() -> bool,
    ) -> anyhow::Result<()> {
        let ready_or_dead =
            crate::wait::until("ready", limit, async || self.deaths() > 0 || is_ready().await).await;
        let status = self.shared.status.borrow().clone();
        if ready_or_dead.is_ok() && status.deaths == 0 {
            return Ok(());
        }
        let how = status.last_end.unwrap_or_else(|| format!("was not ready within {} s", limit.as_secs()));
        bail!("{} {how}; {}", self.shared.name, self.shared.launch.log_tail())
    }

    /// Asks until the program answers, over as many restarts as it takes.
    pub(crate) async fn ready(
        &self,
        limit: Duration,
        is_ready: impl AsyncFn() -> bool,
    ) -> anyhow::Result<()> {
        let waited = crate::wait::until(&format!("{} ready", self.shared.name), limit, is_ready).await;
        waited.with_context(|| self.shared.launch.log_tail())
    }

    fn deaths(&self) -> u32 {
        self.shared.status.borrow().deaths
    }

    /// Sets what is wanted, and answers which process runs at that moment.
    fn want(&self, wanted: Wanted) -> Option<u32> {
        let mut control = self.shared.control();
        control.wanted = wanted;
        self.shared.wake.notify_all();
        self.pid()
    }

    fn signal_if_running(&self, signal: Signal) {
        if let Some(handle) = &self.shared.control().handle {
            // It may be dead already, which is what the caller is after.
            let _gone = pidfd_send_signal(handle, signal);
        }
    }

    async fn gone(&self, pid: Option<u32>, limit: Duration) -> anyhow::Result<()> {
        let Some(pid) = pid else { return Ok(()) };
        let mut status = self.shared.status.subscribe();
        let gone = timeout(limit, status.wait_for(|status| status.pid != Some(pid))).await;
        match gone {
            Ok(seen) => seen.map(drop).context("the supervising thread is gone"),
            Err(_elapsed) => bail!("{} did not end within {} s", self.shared.name, limit.as_secs()),
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.want(Wanted::Never);
        self.signal_if_running(self.farewell.at_once);
        self.signal_if_running(Signal::CONT);
        let end = Instant::now() + LAST_GRACE;
        while self.pid().is_some() && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
        self.signal_if_running(Signal::KILL);
        if let Some(thread) = self.thread.take() {
            // A supervising thread that panicked has no program left to end.
            let _panicked = thread.join();
        }
    }
}

impl Shared {
    fn control(&self) -> MutexGuard<'_, Control> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread: start, wait for the end, start again.
    fn supervise(&self) {
        let mut backoff = BACKOFF_FIRST;
        while self.wait_until_wanted() {
            let started = Instant::now();
            let end = match self.launch() {
                Ok(Some(child)) => self.wait_for_end(child),
                Ok(None) => continue,
                Err(error) => {
                    let why = format!("{error:#}");
                    (self.listener)(&Notice::Failed { name: self.name.clone(), why: why.clone() });
                    format!("could not be started: {why}")
                }
            };
            if self.record_end(end) {
                backoff = if started.elapsed() > TRUSTED_AFTER { BACKOFF_FIRST } else { backoff };
                self.pause(backoff);
                backoff = (backoff * 2).min(BACKOFF_MAX);
            } else {
                backoff = BACKOFF_FIRST;
            }
        }
    }

    /// Answers whether to go on at all.
    fn wait_until_wanted(&self) -> bool {
        let control = self.control();
        let down = |control: &mut Control| control.wanted == Wanted::Down;
        let control = self.wake.wait_while(control, down).unwrap_or_else(PoisonError::into_inner);
        control.wanted == Wanted::Up
    }

    /// Starts the program, unless it is no longer wanted. The lock is held, so that whoever stops it finds its handle.
    fn launch(&self) -> anyhow::Result<Option<Child>> {
        let mut control = self.control();
        if control.wanted != Wanted::Up {
            return Ok(None);
        }
        let mut child = self.launch.logged_command()?.spawn().context("starting setpriv (of util-linux)")?;
        match pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) {
            Ok(handle) => control.handle = Some(handle),
            Err(error) => {
                child.kill()?;
                child.wait()?;
                return Err(error).context("opening a handle to the process");
            }
        }
        let pid = child.id();
        self.status.send_modify(|status| status.pid = Some(pid));
        drop(control);
        (self.listener)(&Notice::Started { name: self.name.clone(), pid });
        Ok(Some(child))
    }

    fn wait_for_end(&self, mut child: Child) -> String {
        let end = child.wait();
        self.control().handle = None;
        match end {
            Ok(status) => describe(status),
            Err(error) => format!("was lost: {error}"),
        }
    }

    /// Publishes the end, and answers whether nobody had asked for it.
    fn record_end(&self, how: String) -> bool {
        let unasked = self.control().wanted == Wanted::Up;
        self.status.send_modify(|status| {
            status.pid = None;
            status.deaths += u32::from(unasked);
            status.last_end = Some(how.clone());
        });
        if unasked {
            (self.listener)(&Notice::Died { name: self.name.clone(), how });
        }
        unasked
    }

    /// Stays down for a moment, less when someone changes what is wanted.
    fn pause(&self, moment: Duration) {
        let control = self.control();
        let up = |control: &mut Control| control.wanted == Wanted::Up;
        drop(self.wake.wait_timeout_while(control, moment, up));
    }
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => format!("ended: {status}"),
    }
}
