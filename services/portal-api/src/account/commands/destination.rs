//! Where a log-in with a password leads: to a business of the user, or to the console.

use diesel_async::AsyncPgConnection;
use domain::{SessionId, StaffId};
use identity::Account;
use identity::single_sign_on::identities;
use postgres::StoreError;

use crate::account::commands::visitor::Visitor;
use crate::audit::commands::audit::{write_audit, write_operator_audit};
use crate::audit::domain::{AuditEvent, Author, Target, TargetKind};
use crate::domain::{Membership, OperatorActor, UserKey};
use crate::single_sign_on::commands::sso_required::{self, SsoRequiredError};
use crate::state::State;

pub(crate) enum Destination {
    Business(Membership),
    Console(StaffId),
}

impl Destination {
    /// `None` if the provider of the staff decides about the person's access. Otherwise somebody who is removed or demoted there
    /// would keep the former access by the password.
    pub(crate) async fn of_password(
        conn: &mut AsyncPgConnection,
        state: &State,
        account: Account,
    ) -> Result<Option<Self>, SsoRequiredError> {
        match account {
            Account::User(id) => {
                Ok(Some(Self::Business(sso_required::latest_membership(conn, state, id).await?)))
            }
            Account::Staff(id) => Ok((!is_linked(conn, state, id).await?).then_some(Self::Console(id))),
        }
    }

    /// The membership of a user.
    pub(crate) fn user(&self) -> Option<UserKey> {
        match self {
            Self::Business(membership) => Some((membership.business, membership.user)),
            Self::Console(_) => None,
        }
    }

    /// The person with this address as the author.
    pub(crate) fn author(&self, email: &str, visitor: &Visitor) -> Author {
        match self {
            Self::Business(membership) => {
                let address = visitor.caller.address.clone();
                Author::user(membership.user, email, visitor.request).at(address)
            }
            Self::Console(id) => visitor.operator(OperatorActor::Person { id: *id, email: email.to_owned() }),
        }
    }

    /// Writes that the author has opened the session.
    pub(crate) async fn write_opened(
        &self,
        conn: &mut AsyncPgConnection,
        state: &State,
        author: &Author,
        event: AuditEvent,
        (session, is_new_browser): (SessionId, bool),
    ) -> Result<(), StoreError> {
        match self {
            Self::Business(membership) => {
                let event = event.on(Target::new(TargetKind::Session, session));
                write_audit(conn, state, membership.business, author, &event).await
            }
            Self::Console(_) => {
                let event = if is_new_browser { event.with("newBrowser", true) } else { event };
                let parts = (&state.unit.clock, &state.unit.entropy);
                write_operator_audit(conn, parts, None, author, &event).await
            }
        }
    }
}

/// Whether a password of the person proves anything.
pub(crate) async fn accepts_password(state: &State, person: StaffId) -> Result<bool, StoreError> {
    if !state.staff_log_in_ways().passwords {
        return Ok(false);
    }
    let database = &state.unit.database;
    let linked: Result<bool, StoreError> =
        database.read(async |conn| is_linked(conn, state, person).await).await;
    linked.map(|linked| !linked)
}

async fn is_linked(conn: &mut AsyncPgConnection, state: &State, person: StaffId) -> Result<bool, StoreError> {
    let Some(sso) = &state.single_sign_on else { return Ok(false) };
    identities::is_linked(conn, person, sso.issuer()).await
}
