//! A supervised program: restarted when it dies, and stopped when its owner is dropped.
//!
//! Each program has its own thread, which starts it and waits for it. The kernel kills a child when the thread that
//! started it ends, and a test's or an executor's thread may end earlier than the child.

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

/// The delay before a restart: the first and the longest.
const BACKOFF_FIRST: Duration = Duration::from_millis(200);
const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// After running this long, a program starts again with the first delay.
const BACKOFF_RESET_AFTER: Duration = Duration::from_secs(30);
/// The time for a program to end after its stop signal when its owner is dropped.
const DROP_GRACE: Duration = Duration::from_secs(5);

/// An event of a supervised program.
#[derive(Clone, Debug)]
pub enum Notice {
    /// It runs with this process id.
    Started { name: String, pid: u32 },
    /// It died unexpectedly and will be restarted.
    Died { name: String, how: String },
    /// It could not be started.
    Failed { name: String, why: String },
}

/// Receives every [`Notice`], on the programs' threads.
pub type Listener = Arc<dyn Fn(&Notice) + Send + Sync>;

/// The state of a program as other threads see it.
#[derive(Clone, Debug, Default)]
struct Status {
    pid: Option<u32>,
    /// How it ended last, and how often it died unexpectedly.
    last_end: Option<String>,
    deaths: u32,
}

/// How to stop a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StopProcedure {
    pub(crate) signal: Signal,
    pub(crate) grace: Duration,
    /// The signal that stops it at once and cleanly; the same as the launch's death signal.
    pub(crate) at_once: Signal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DesiredState {
    Up,
    Down,
    Never,
}

struct Control {
    wanted: DesiredState,
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

/// A supervised program. Dropping it stops the program.
pub(crate) struct Supervised {
    shared: Arc<Shared>,
    stop_procedure: StopProcedure,
    thread: Option<JoinHandle<()>>,
}

impl Supervised {
    /// Starts the program.
    pub(crate) fn start(
        name: &str,
        launch: Launch,
        stop_procedure: StopProcedure,
        listener: Listener,
    ) -> anyhow::Result<Self> {
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            launch,
            listener,
            control: Mutex::new(Control { wanted: DesiredState::Up, handle: None }),
            wake: Condvar::new(),
            status: watch::Sender::new(Status::default()),
        });
        let supervision = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name(format!("supervise {name}"))
            .spawn(move || supervision.supervise())
            .context("starting a supervising thread")?;
        Ok(Self { shared, stop_procedure, thread: Some(thread) })
    }

    /// The process id while it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.shared.status.borrow().pid
    }

    /// Sends a signal to the running process.
    pub(crate) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let control = self.shared.control();
        let Some(handle) = &control.handle else {
            bail!("{} is not running", self.shared.name);
        };
        pidfd_send_signal(handle, signal).with_context(|| format!("signalling {}", self.shared.name))
    }

    /// Sends SIGKILL and waits until the process is gone. The supervisor starts it again.
    pub(crate) async fn kill(&self) -> anyhow::Result<()> {
        self.end_by(Signal::KILL).await
    }

    /// As [`Supervised::kill`], with the signal that stops it cleanly.
    pub(crate) async fn stop_at_once(&self) -> anyhow::Result<()> {
        self.end_by(self.stop_procedure.at_once).await
    }

    async fn end_by(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = self.pid();
        self.signal(signal)?;
        self.gone(pid, Duration::from_secs(10)).await
    }

    /// Stops it gracefully, or by force after a timeout. It stays down until [`Supervised::bring_up`].
    pub(crate) async fn stop(&self) -> anyhow::Result<()> {
        let pid = self.want(DesiredState::Down);
        if pid.is_none() {
            return Ok(());
        }
        // A paused program handles the signal only after SIGCONT.
        self.signal_if_running(self.stop_procedure.signal);
        self.signal_if_running(Signal::CONT);
        if self.gone(pid, self.stop_procedure.grace).await.is_err() {
            self.signal_if_running(Signal::KILL);
            self.gone(pid, Duration::from_secs(10)).await?;
        }
        Ok(())
    }

    /// Sends SIGKILL. It stays down until [`Supervised::bring_up`].
    pub(crate) async fn kill_and_keep_down(&self) -> anyhow::Result<()> {
        let pid = self.want(DesiredState::Down);
        self.signal_if_running(Signal::KILL);
        self.gone(pid, Duration::from_secs(10)).await
    }

    /// Starts it again after a stop.
    pub(crate) fn bring_up(&self) {
        self.want(DesiredState::Up);
    }

    /// Polls until the program is ready. Fails if it dies meanwhile: the first start is not retried.
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

    /// Polls until the program is ready, across restarts.
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

    /// Sets the desired state and returns the process id at that moment.
    fn want(&self, wanted: DesiredState) -> Option<u32> {
        let mut control = self.shared.control();
        control.wanted = wanted;
        self.shared.wake.notify_all();
        self.pid()
    }

    fn signal_if_running(&self, signal: Signal) {
        if let Some(handle) = &self.shared.control().handle {
            // It may be dead already, which is the goal.
            let _gone = pidfd_send_signal(handle, signal);
        }
    }

    async fn gone(&self, pid: Option<u32>, limit: Duration) -> anyhow::Result<()> {
        let Some(pid) = pid else { return Ok(()) };
        let mut status = self.shared.status.subscribe();
        let gone = timeout(limit, status.wait_for(|status| status.pid != Some(pid))).await;
        match gone {
            Ok(seen) => seen.map(drop).context("the supervising thread has ended"),
            Err(_elapsed) => bail!("{} did not end within {} s", self.shared.name, limit.as_secs()),
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.want(DesiredState::Never);
        self.signal_if_running(self.stop_procedure.at_once);
        self.signal_if_running(Signal::CONT);
        let end = Instant::now() + DROP_GRACE;
        while self.pid().is_some() && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
        self.signal_if_running(Signal::KILL);
        if let Some(thread) = self.thread.take() {
            // If the supervising thread panicked, its program is dead.
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
                backoff = if started.elapsed() > BACKOFF_RESET_AFTER { BACKOFF_FIRST } else { backoff };
                self.pause(backoff);
                backoff = (backoff * 2).min(BACKOFF_MAX);
            } else {
                backoff = BACKOFF_FIRST;
            }
        }
    }

    /// Returns whether to continue.
    fn wait_until_wanted(&self) -> bool {
        let control = self.control();
        let down = |control: &mut Control| control.wanted == DesiredState::Down;
        let control = self.wake.wait_while(control, down).unwrap_or_else(PoisonError::into_inner);
        control.wanted == DesiredState::Up
    }

    /// Starts the program if it is still wanted. Holds the lock, so that a concurrent stop finds the process handle.
    fn launch(&self) -> anyhow::Result<Option<Child>> {
        let mut control = self.control();
        if control.wanted != DesiredState::Up {
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

    /// Publishes the end. Returns whether it was unexpected.
    fn record_end(&self, how: String) -> bool {
        let unasked = self.control().wanted == DesiredState::Up;
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

    /// Waits, but wakes up when the desired state changes.
    fn pause(&self, moment: Duration) {
        let control = self.control();
        let up = |control: &mut Control| control.wanted == DesiredState::Up;
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
