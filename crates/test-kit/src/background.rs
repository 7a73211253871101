//! Work on a thread of its own.

use std::future::Future;
use std::thread;

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, LocalSet};

/// Starts a service on one thread of its own. Returns what `start` returns for the test, and the end of its future.
/// Aborting that task ends all work of the service before the task itself, and so does the end of the test.
pub fn in_background<T, F>(start: impl FnOnce() -> (T, F) + Send + 'static) -> (T, JoinHandle<F::Output>)
where
    T: Send + 'static,
    F: Future<Output: Send + 'static>,
{
    let (started, starting) = std::sync::mpsc::channel();
    let (mut done, outcome) = oneshot::channel();
    let thread = thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            let (result, work) = start();
            started.send(result).expect("the test waits");
            tokio::select! {
                outcome = work => drop(done.send(outcome)),
                () = done.closed() => {}
            }
        });
        // A hanging name lookup must not delay the end of a test.
        runtime.shutdown_background();
    });
    let running = Background { outcome: Some(outcome), thread: Some(thread) };
    let result = starting.recv().expect("the work starts");
    (result, tokio::spawn(running.ended()))
}

struct Background<T> {
    outcome: Option<oneshot::Receiver<T>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl<T> Background<T> {
    async fn ended(mut self) -> T {
        let outcome = self.outcome.as_mut().expect("not dropped yet");
        outcome.await.expect("the work does not panic")
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        // First, because the thread waits for it.
        self.outcome = None;
        // A panic is the outcome of the task.
        let _ended = self.thread.take().map(thread::JoinHandle::join);
    }
}
