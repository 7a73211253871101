//! The interface between the consumer and a service's message handlers.

use events::Envelope;

/// Why a message was not handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// Temporary, for example because the database is unreachable: retried in place with growing pauses, for as long as
    /// it takes. The message is never dropped, and the retries do not count against the queue's delivery limit.
    Later(String),
    /// The cause is not known to be temporary or in the message, for example a missing right or a fault of this release:
    /// retried for up to 24 h. Meanwhile the message returns to the end of the queue each minute, so that it delays no
    /// other one. Then it goes to the dead letters. The reason is logged, so it must not contain personal data.
    Unexpected(String),
    /// Permanent: the message goes to the dead letters. The reason is logged, so it must not contain personal data.
    Never(String),
}

/// Handles the messages of one queue. A message may be delivered more than once.
pub trait Handler: Send + Sync + 'static {
    fn handle(&self, envelope: Envelope) -> impl Future<Output = Result<(), Rejection>> + Send;

    /// The same for a message that may have been handled before: the broker delivers it again, it was published again,
    /// or its handler asked for a retry.
    fn handle_again(&self, envelope: Envelope) -> impl Future<Output = Result<(), Rejection>> + Send {
        self.handle(envelope)
    }

    /// Called after each subscription, the first and those after a loss. A queue [per
    /// instance](crate::Queue::per_instance) misses the messages in between.
    fn connected(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}
