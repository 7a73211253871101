//! What a service says about the messages it handles.

use events::Envelope;

/// Why a message was not handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// Not now (the database is away): tried again in place, with growing pauses, for as long as it takes. Such a
    /// message is never dropped, and its tries do not count against the queue's delivery limit.
    Later(String),
    /// Not ever: to the dead letters. The reason is logged, so it must hold nothing personal.
    Never(String),
}

/// Handles the messages of one queue. The same message may come more than once.
pub trait Handler: Send + Sync + 'static {
    fn handle(&self, envelope: Envelope) -> impl Future<Output = Result<(), Rejection>> + Send;

    /// Called after each subscription, the first and those after a loss; what a queue [per
    /// instance](crate::Queue::per_instance) missed meanwhile is missed.
    fn connected(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}
