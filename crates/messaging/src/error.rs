//! Errors of publishing.

/// Why the broker did not accept a message.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BrokerError {
    /// There is no connection, or it was lost. It is unknown whether the broker has the messages.
    #[error("the broker is unavailable: {0}")]
    Unavailable(String),
    /// The broker did not take these messages (indexes into the published ones): no queue is bound to their routing keys,
    /// or a queue is full or has no quorum. The broker has the others. If several queues are bound to a routing key, some
    /// may have the message.
    #[error("the broker did not take {} of the messages", .0.len())]
    NotTaken(Vec<usize>),
}

impl From<lapin::Error> for BrokerError {
    fn from(error: lapin::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}
