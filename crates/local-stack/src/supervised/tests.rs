//! Supervision of shell scripts.

use std::fs;
use std::path::PathBuf;

use super::*;

/// The directory of a shell's log and marker files; removed at the end.
struct Trial {
    directory: PathBuf,
    notices: Arc<Mutex<Vec<Notice>>>,
}

impl Trial {
    fn new(name: &str) -> Self {
        let directory =
            std::env::temp_dir().join(format!("waybill-supervised-{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        Self { directory, notices: Arc::default() }
    }

    fn start(&self, script: &str) -> Supervised {
        let launch = Launch::new("sh", &self.directory.join("log")).argument("-c").argument(script);
        let stop_procedure =
            StopProcedure { signal: Signal::TERM, grace: Duration::from_secs(2), at_once: Signal::KILL };
        let notices = Arc::clone(&self.notices);
        let listener: Listener = Arc::new(move |notice| notices.lock().unwrap().push(notice.clone()));
        Supervised::start("trial", launch, stop_procedure, listener).unwrap()
    }

    fn deaths(&self) -> usize {
        self.notices.lock().unwrap().iter().filter(|notice| matches!(notice, Notice::Died { .. })).count()
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.directory).unwrap();
    }
}

const LIMIT: Duration = Duration::from_secs(20);

async fn running(program: &Supervised) -> u32 {
    program.ready(LIMIT, async || program.pid().is_some()).await.unwrap();
    program.pid().unwrap()
}

fn is_alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test]
async fn a_program_that_dies_is_restarted() {
    let trial = Trial::new("dies");
    let program = trial.start("sleep 600");
    let first = running(&program).await;
    program.kill().await.unwrap();
    let second = running(&program).await;
    assert_ne!(first, second);
    assert_eq!(trial.deaths(), 1);
    drop(program);
    assert!(!is_alive(second));
}

#[tokio::test]
async fn a_stopped_program_stays_down_until_it_is_brought_up() {
    let trial = Trial::new("stopped");
    let program = trial.start("sleep 600");
    let first = running(&program).await;
    program.stop().await.unwrap();
    assert!(!is_alive(first));
    assert!(program.signal(Signal::TERM).is_err());
    program.bring_up();
    running(&program).await;
    program.kill_and_keep_down().await.unwrap();
    assert_eq!(program.pid(), None);
    assert_eq!(trial.deaths(), 0);
}

#[tokio::test]
async fn a_program_that_is_paused_or_ignores_signals_is_stopped() {
    let trial = Trial::new("deaf");
    let paused = trial.start("sleep 600");
    let pid = running(&paused).await;
    paused.signal(Signal::STOP).unwrap();
    paused.stop().await.unwrap();
    assert!(!is_alive(pid));

    let trace = trial.directory.join("deaf");
    let deaf = trial.start(&format!("trap '' TERM; touch {}; while :; do sleep 1; done", trace.display()));
    deaf.ready(LIMIT, async || trace.exists()).await.unwrap();
    let pid = running(&deaf).await;
    deaf.stop().await.unwrap();
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn a_failed_first_start_reports_its_reason() {
    let trial = Trial::new("fails");
    let program = trial.start("echo the disk is on fire; exit 3");
    let error = program.first_ready(LIMIT, async || false).await.unwrap_err().to_string();
    assert!(error.contains("trial ended with exit code 3"), "{error}");
    assert!(error.contains("the disk is on fire"), "{error}");
}

#[tokio::test]
async fn a_program_that_keeps_dying_is_restarted_with_growing_delays() {
    let trial = Trial::new("seldom");
    let started = Instant::now();
    let program = trial.start("exit 1");
    program.ready(LIMIT, async || trial.deaths() >= 3).await.unwrap();
    assert!(started.elapsed() >= BACKOFF_FIRST * 3, "after {:?}", started.elapsed());
}
