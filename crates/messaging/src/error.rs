//! Errors of publishing.

/// Why the broker did not accept a message.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BrokerError {
    /// There is no connection, or it was lost. It is unknown whether the broker has the messages.
    #[error("the broker is unavailable: {0}")]
    Unavailable(String),
    /// The broker rejected a message, for example because a queue is full. It may have accepted others.
    #[error("the broker rejected a message")]
    Refused,
    /// No queue is bound to the routing keys of these messages (indexes into the published ones). The broker has the
    /// others.
    #[error("no queue takes {} of the messages", .0.len())]
    Unroutable(Vec<usize>),
}

impl From<lapin::Error> for BrokerError {
    fn from(error: lapin::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}
