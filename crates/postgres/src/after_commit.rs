//! Work that follows a commit, registered within the transaction.

use std::cell::RefCell;

type Action = Box<dyn FnOnce() + Send>;

tokio::task_local! {
    /// The actions of the transaction that the current task runs.
    static ACTIONS: RefCell<Vec<Action>>;
}

/// Runs the action after the commit of the caller's transaction, and never if it is rolled back or its outcome is
/// unknown. Outside of a transaction, where each statement commits itself, it runs at once.
pub fn after_commit(action: impl FnOnce() + Send + 'static) {
    let mut action = Some(action);
    let mut register = |actions: &RefCell<Vec<Action>>| {
        actions.borrow_mut().extend(action.take().map(|action| Box::new(action) as Action));
    };
    if ACTIONS.try_with(&mut register).is_err()
        && let Some(action) = action
    {
        action();
    }
}

/// Runs the work of a transaction. The caller runs the returned actions after the commit.
pub(crate) async fn collecting<R>(work: impl Future<Output = R>) -> (R, AfterCommit) {
    ACTIONS
        .scope(RefCell::default(), async {
            let result = work.await;
            (result, AfterCommit(ACTIONS.with(RefCell::take)))
        })
        .await
}

#[must_use]
pub(crate) struct AfterCommit(Vec<Action>);

impl AfterCommit {
    pub(crate) fn run(self) {
        self.0.into_iter().for_each(|action| action());
    }
}
