//! Database errors, reduced to the caller's choice: retry later, or not.

use diesel::result::{DatabaseErrorKind, Error};

/// Why a database operation failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database is unreachable or overloaded, or it aborted the transaction. Unless [`Self::is_rolled_back`], a write may
    /// have taken effect.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// This process refused the work, because too much is waiting or it waited too long. It had no effect.
    #[error("{0}")]
    Busy(String),
    /// The database rejected the statement.
    #[error("the database rejected a statement: {0}")]
    Query(#[source] Error),
    /// This program would not have written the stored value.
    #[error("a stored value is invalid: {0}")]
    Corrupt(String),
}

impl StoreError {
    /// Whether the failure is temporary. Unless [`Self::is_rolled_back`], retry only what may be repeated.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Busy(_))
    }

    /// Whether the work certainly had no effect. After any other unavailable error, it may have had one.
    pub fn is_rolled_back(&self) -> bool {
        match self {
            Self::Unavailable(reason) => ROLLED_BACK.iter().any(|beginning| reason.starts_with(beginning)),
            Self::Busy(_) | Self::Query(_) | Self::Corrupt(_) => true,
        }
    }

    /// Whether the written data is the cause, so that a repetition fails in the same way. The cause of any other error that
    /// is not [temporary](Self::is_unavailable) may go away: a missing right, column or migration, a damaged disk, a fault
    /// of this release.
    pub fn is_caused_by_data(&self) -> bool {
        match self {
            Self::Query(Error::DatabaseError(kind, information)) => match kind {
                DatabaseErrorKind::UniqueViolation
                | DatabaseErrorKind::ForeignKeyViolation
                | DatabaseErrorKind::NotNullViolation
                | DatabaseErrorKind::CheckViolation
                | DatabaseErrorKind::RestrictViolation
                | DatabaseErrorKind::ExclusionViolation => true,
                // Other errors of class 23, as triggers raise them, also name a constraint.
                DatabaseErrorKind::Unknown => {
                    information.constraint_name().is_some() || is_of_data(information.message())
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The statement took longer than its limit.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Unavailable(reason) if reason.starts_with(TIMEOUT))
    }

    /// Two transactions waited for each other and this one was rolled back. It may be retried at once.
    pub fn is_deadlock(&self) -> bool {
        matches!(self, Self::Unavailable(reason) if reason.starts_with(DEADLOCK))
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        if is_unavailable(&error) { Self::Unavailable(error.to_string()) } else { Self::Query(error) }
    }
}

const DEADLOCK: &str = "deadlock detected";
const TIMEOUT: &str = "canceling statement due to statement timeout";
const CANCELLED: &str = "canceling statement due to";
/// 25006 read_only_sql_transaction
const READ_ONLY: &str = "cannot execute";
const ROLLED_BACK: &[&str] = &[DEADLOCK, CANCELLED, READ_ONLY];

/// Whether the error is a violation of the named unique constraint.
pub fn violates(error: &Error, constraint: &str) -> bool {
    match error {
        Error::DatabaseError(DatabaseErrorKind::UniqueViolation, information) => {
            information.constraint_name() == Some(constraint)
        }
        _ => false,
    }
}

/// Whether the server rejects writes, as a standby or a demoted primary does.
pub(crate) fn is_read_only(error: &Error) -> bool {
    matches!(error, Error::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _))
}

/// Whether the connection is lost, so that the result of the statement is unknown.
pub(crate) fn is_lost(error: &Error) -> bool {
    match error {
        Error::DatabaseError(kind, information) => {
            matches!(kind, DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand)
                || information.message().starts_with("terminating connection")
        }
        Error::BrokenTransactionManager | Error::RollbackErrorOnCommit { .. } => true,
        _ => false,
    }
}

fn is_unavailable(error: &Error) -> bool {
    match error {
        Error::DatabaseError(kind, information) => match kind {
            DatabaseErrorKind::ClosedConnection
            | DatabaseErrorKind::UnableToSendCommand
            | DatabaseErrorKind::SerializationFailure
            | DatabaseErrorKind::ReadOnlyTransaction => true,
            DatabaseErrorKind::Unknown => is_passing(information.message()),
            _ => false,
        },
        Error::BrokenTransactionManager => true,
        Error::RollbackErrorOnCommit { rollback_error, commit_error } => {
            is_unavailable(rollback_error) || is_unavailable(commit_error)
        }
        _ => false,
    }
}

/// Diesel keeps the server's message and drops its SQLSTATE, so temporary conditions are recognised by the start of their
/// messages. The services' roles get English messages (`lc_messages`); a service checks that when it starts.
fn is_passing(message: &str) -> bool {
    const PASSING: &[&str] = &[
        // 57014 query_canceled, 55P03 lock_not_available, 40P01 deadlock_detected
        CANCELLED,
        "could not obtain lock",
        DEADLOCK,
        // 57P01 admin_shutdown, 57P02 crash_shutdown, 57P05, 25P03, 25P04: the server ended the session
        "terminating connection",
        // 57P03 cannot_connect_now
        "the database system is",
        // 53300 too_many_connections
        "sorry, too many clients already",
        "too many connections for",
        "remaining connection slots are reserved",
        // 53100 disk_full, 53200 out_of_memory
        "could not extend file",
        "out of memory",
        "out of shared memory",
    ];
    PASSING.iter().any(|beginning| message.starts_with(beginning))
}

/// Errors of class 22 (data_exception) and 54 (program_limit_exceeded), as far as parameters of statements cause them.
fn is_of_data(message: &str) -> bool {
    const OF_DATA: &[&str] = &[
        "value too long for type",
        "invalid input syntax for type",
        "invalid input value for enum",
        "invalid byte sequence for encoding",
        "unsupported Unicode escape sequence",
        "malformed array literal",
        "division by zero",
        "numeric field overflow",
        "smallint out of range",
        "integer out of range",
        "bigint out of range",
        "timestamp out of range",
        "date out of range",
        "interval out of range",
        "date/time field value out of range",
        // Class 54
        "index row size",
        "index row requires",
        "row is too big",
        "array size exceeds",
        "string too long",
        "total size of jsonb",
        "number of jsonb",
    ];
    OF_DATA.iter().any(|beginning| message.starts_with(beginning))
        || (message.starts_with("value \"") && message.contains("is out of range for type"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kind: DatabaseErrorKind, message: &str) -> StoreError {
        Error::DatabaseError(kind, Box::new(message.to_owned())).into()
    }

    #[test]
    fn temporary_errors_are_unavailable() {
        for (kind, message) in [
            (DatabaseErrorKind::UnableToSendCommand, "connection closed"),
            (DatabaseErrorKind::SerializationFailure, "could not serialize access due to concurrent update"),
            (DatabaseErrorKind::ReadOnlyTransaction, "cannot execute INSERT in a read-only transaction"),
            (DatabaseErrorKind::Unknown, "terminating connection due to administrator command"),
            (DatabaseErrorKind::Unknown, "canceling statement due to lock timeout"),
            (DatabaseErrorKind::Unknown, "the database system is starting up"),
            (DatabaseErrorKind::Unknown, "sorry, too many clients already"),
            (DatabaseErrorKind::Unknown, "deadlock detected"),
        ] {
            let error = answer(kind, message);
            assert!(error.is_unavailable(), "{message}");
            assert_eq!(error.is_deadlock(), message == "deadlock detected", "{message}");
            assert!(!error.is_timeout(), "{message}");
            let is_known = ["deadlock detected", "canceling statement", "cannot execute"]
                .iter()
                .any(|beginning| message.starts_with(beginning));
            assert_eq!(error.is_rolled_back(), is_known, "{message}");
        }
        let refused = StoreError::Busy("too many writes are queued".to_owned());
        assert!(refused.is_unavailable() && refused.is_rolled_back());
    }

    #[test]
    fn permanent_errors_are_not_unavailable() {
        for (kind, message) in [
            (DatabaseErrorKind::UniqueViolation, "duplicate key value violates unique constraint"),
            (DatabaseErrorKind::CheckViolation, "new row violates check constraint"),
            (DatabaseErrorKind::Unknown, "relation \"orders\" does not exist"),
        ] {
            assert!(!answer(kind, message).is_unavailable(), "{message}");
        }
        assert!(!StoreError::from(Error::NotFound).is_unavailable());
    }
}
