//! The attempts that run. Each returns its lease if it was given up.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::JoinSet;

use crate::store::Lease;

/// None once the service stops.
pub(super) struct Tasks(Mutex<Option<JoinSet<Option<Lease>>>>);

impl Tasks {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Some(JoinSet::new())))
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_none()
    }

    /// Starts a task for the item. Returns the item if the service stops.
    pub(super) fn start<T, F>(&self, item: T, task: impl FnOnce(T) -> F) -> Option<T>
    where
        F: Future<Output = Option<Lease>> + Send + 'static,
    {
        let mut tasks = self.lock();
        let Some(tasks) = &mut *tasks else { return Some(item) };
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task(item));
        None
    }

    /// The running tasks. No other task starts from now on.
    pub(super) fn close(&self) -> JoinSet<Option<Lease>> {
        self.lock().take().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Option<JoinSet<Option<Lease>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nothing_starts_once_the_service_stops() {
        let (tasks, (sender, mut ended)) = (Tasks::new(), tokio::sync::mpsc::channel(2));
        let start = |number: u8| {
            let sender = sender.clone();
            tasks.start(number, |number| async move {
                sender.send(number).await.unwrap_or_default();
                None
            })
        };
        assert_eq!((start(1), tasks.is_closed()), (None, false));
        let mut running = tasks.close();
        assert_eq!((start(2), tasks.is_closed()), (Some(2), true), "the caller keeps it");
        assert!(running.join_next().await.is_some_and(|ended| ended.is_ok()));
        assert_eq!((ended.try_recv().ok(), ended.try_recv().ok(), running.len()), (Some(1), None, 0));
    }
}
