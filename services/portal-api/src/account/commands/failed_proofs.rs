//! Entries about wrong passwords and codes that people enter in an open session. A thief of the session may have guessed.

use crate::account::commands::factor_code::Holder;
use crate::audit::commands::audit::try_write_entry;
use crate::audit::domain::{Action, AuditEvent, Author, Target};
use crate::state::State;

/// What somebody has entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailedProof {
    /// Of a confirmation of the session.
    Password,
    /// Of a confirmation of the session.
    Code,
    /// Of a confirmation of the session.
    Passkey,
    /// The current password of a change.
    CurrentPassword,
    /// The first code of an app that is set up.
    FirstCode,
}

impl FailedProof {
    fn event(self) -> AuditEvent {
        let event = AuditEvent::new(Action::ConfirmationFailed);
        match self {
            Self::Password => event.with("reason", "wrong_password"),
            Self::Code => event.with("reason", "wrong_code"),
            Self::Passkey => event.with("reason", "wrong_passkey"),
            Self::CurrentPassword => event.with("reason", "wrong_password").with("for", "password_change"),
            Self::FirstCode => event.with("reason", "wrong_code").with("for", "second_factor"),
        }
    }
}

/// The limit on attempts bounds the number of entries. A failure is only logged: the call is refused anyway.
pub(crate) async fn record(state: &State, holder: &Holder, author: &Author, failed: FailedProof) {
    let event = failed.event().on(Target::account(holder.account, &holder.email));
    try_write_entry(state, holder.account, author, &event).await;
}
