//! Who sends a call about their own account, in either realm.

use chrono::{DateTime, Utc};
use diesel_async::AsyncPgConnection;
use domain::SessionId;
use identity::SessionToken;
use identity::passkeys::{CeremonyKey, CeremonyPurpose};
use identity::sessions::SessionHolder;
use postgres::StoreError;

use crate::account::commands::attempt_limits::Caller;
use crate::account::commands::factor_code::Holder;
use crate::audit::commands::audit::{write_audit, write_operator_audit};
use crate::audit::domain::{AuditEvent, Author};
use crate::domain::UserKey;
use crate::state::State;

/// The session that sends the call.
pub(crate) struct OwnSession {
    pub(crate) id: SessionId,
    pub(crate) holder: SessionHolder,
    /// The membership of a user.
    pub(crate) user: Option<UserKey>,
    pub(crate) author: Author,
}

impl OwnSession {
    /// Writes an entry to the log of the session's business, or to the operator's log.
    pub(crate) async fn write_entry(
        &self,
        conn: &mut AsyncPgConnection,
        state: &State,
        event: &AuditEvent,
    ) -> Result<(), StoreError> {
        match self.user {
            Some((business, _)) => write_audit(conn, state, business, &self.author, event).await,
            None => {
                let parts = (&state.unit.clock, &state.unit.entropy);
                write_operator_audit(conn, parts, None, &self.author, event).await
            }
        }
    }
}

/// The person of the session.
pub(crate) struct OwnAccount {
    pub(crate) session: OwnSession,
    pub(crate) holder: Holder,
    pub(crate) caller: Caller,
    /// Of the session's cookie.
    pub(crate) token: SessionToken,
    /// When the session ends.
    pub(crate) expires_at: DateTime<Utc>,
    pub(crate) authenticated_at: DateTime<Utc>,
    /// Whether the role requires a second factor.
    pub(crate) requires_factor: bool,
    /// Whether the address is verified, or needs no verification. Anybody can sign up with any address.
    pub(crate) has_proved_email: bool,
}

impl OwnAccount {
    pub(crate) fn author(&self) -> &Author {
        &self.session.author
    }

    /// The key of a passkey's challenge in this session.
    pub(crate) fn ceremony(&self, purpose: CeremonyPurpose) -> CeremonyKey {
        CeremonyKey::new(purpose, self.session.id.to_string())
    }
}
