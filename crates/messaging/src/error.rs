//! Errors of connecting and publishing.

use lapin::ErrorKind;

/// Why the broker did not accept a connection or a message.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BrokerError {
    /// The first attempt to connect has not ended.
    #[error("not connected to the broker yet")]
    Connecting,
    /// The broker refuses the user, the password or the virtual host.
    #[error("the broker refuses the connection: {0}")]
    Refused(String),
    /// There is no connection, or it was lost. It is unknown whether the broker has the messages.
    #[error("the broker is unavailable: {0}")]
    Unavailable(String),
    /// The broker did not take these messages (indexes into the published ones): no queue is bound to their routing keys,
    /// or a queue is full or has no quorum. The broker has the others. If several queues are bound to a routing key, some
    /// may have the message.
    #[error("the broker did not take {} of the messages", .0.len())]
    NotTaken(Vec<usize>),
}

impl BrokerError {
    /// Of an attempt to connect.
    pub(crate) fn of_attempt(error: &lapin::Error) -> Self {
        const ACCESS_REFUSED: u16 = 403;
        const NOT_ALLOWED: u16 = 530;
        match error.kind() {
            ErrorKind::ProtocolError(reason) if matches!(reason.get_id(), ACCESS_REFUSED | NOT_ALLOWED) => {
                Self::Refused(reason.get_message().to_string())
            }
            _ => Self::Unavailable(error.to_string()),
        }
    }

    /// Whether the broker is away, and not the URL wrong.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}

impl From<lapin::Error> for BrokerError {
    fn from(error: lapin::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}
