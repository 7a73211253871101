//! An administrator invites a person to the staff, changes a role, issues a link, ends sessions, or removes a person. At least one
//! administrator who can log in always remains.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{Clock, Entropy, StaffId};
use identity::password_links::{self, Way};
use identity::{Account, LinkToken, Realm, sessions};
use postgres::{Database, StoreError};

use crate::audit::commands::audit::write_operator_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::console::domain::{NewStaff, Staff};
use crate::console::store::operator_tokens;
use crate::domain::{OperatorActor, OperatorPermission, OperatorRole};
use crate::mail::Mail;
use crate::state::State;
use crate::store::staff;

/// The first link of a person expires after this time.
const INVITATION_VALID_FOR: TimeDelta = TimeDelta::days(7);
/// A link for a person who has a password expires after this time.
const RESET_VALID_FOR: TimeDelta = TimeDelta::hours(1);
pub(crate) const STAFF_MAX: i64 = 200;

#[derive(Debug, thiserror::Error)]
pub(crate) enum StaffError {
    #[error("the author is no longer an administrator")]
    NotAdministrator,
    #[error("there is no such person")]
    Unknown,
    #[error("the e-mail address already has an account")]
    EmailTaken,
    #[error("the staff has the maximum number of persons")]
    TooMany,
    #[error("the person is the last administrator")]
    LastAdministrator,
    #[error("the account of the person is not linked")]
    NotLinked,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A link that sets a password.
pub(crate) struct IssuedLink {
    pub(crate) staff: Staff,
    pub(crate) token: LinkToken,
    pub(crate) expires_at: DateTime<Utc>,
}

/// Creates an account without a password, and the link that sets it. Needs no [`State`], because the command
/// `create-operator` calls it too.
pub(crate) async fn invite(
    database: &Database,
    (clock, entropy): (&Clock, &Entropy),
    author: &Author,
    new: NewStaff,
) -> Result<IssuedLink, StaffError> {
    let (id, now) = (StaffId::generate(clock, entropy), clock.now());
    let issued: Result<IssuedLink, StaffError> = database
        .transaction(async |conn| {
            lock(conn, author).await?;
            if staff::count(conn).await? >= STAFF_MAX {
                return Err(StaffError::TooMany);
            }
            if !staff::insert(conn, id, &new, now).await? {
                return Err(StaffError::EmailTaken);
            }
            let event = AuditEvent::new(Action::StaffInvited)
                .on(Target::new(TargetKind::Staff, id).labelled(new.email.as_str()))
                .with("role", new.role.as_str());
            write_operator_audit(conn, (clock, entropy), None, author, &event).await?;
            let invited = staff::find(conn, id).await?.ok_or(StaffError::Unknown)?;
            issue(conn, (now, entropy), author, invited).await
        })
        .await;
    let issued = issued?;
    tracing::info!(staff_id = %id, role = %issued.staff.role, "person invited to the staff");
    Ok(issued)
}

/// Creates a link for a person who has lost the password or the first link. The older link ends.
pub(crate) async fn issue_link(
    state: &State,
    author: &Author,
    id: StaffId,
) -> Result<IssuedLink, StaffError> {
    let (clock, entropy) = (&state.unit.clock, &state.unit.entropy);
    let issued: Result<IssuedLink, StaffError> = state
        .unit
        .database
        .transaction(async |conn| {
            lock(conn, author).await?;
            let found = staff::find(conn, id).await?.ok_or(StaffError::Unknown)?;
            let event = AuditEvent::new(Action::StaffLinkIssued).on(target(&found));
            write_operator_audit(conn, (clock, entropy), None, author, &event).await?;
            issue(conn, (clock.now(), entropy), author, found).await
        })
        .await;
    let issued = issued?;
    tracing::info!(staff_id = %id, "link for a person of the staff issued");
    Ok(issued)
}

async fn issue(
    conn: &mut AsyncPgConnection,
    (now, entropy): (DateTime<Utc>, &Entropy),
    author: &Author,
    of: Staff,
) -> Result<IssuedLink, StaffError> {
    let valid_for = if of.has_password { RESET_VALID_FOR } else { INVITATION_VALID_FOR };
    let (token, expires_at) = (LinkToken::generate(entropy), now + valid_for);
    let (link, times) = ((Account::Staff(of.id), Way::ByHand(author.staff())), (now, expires_at));
    password_links::insert(conn, link, &token, times, 1).await?;
    Ok(IssuedLink { staff: of, token, expires_at })
}

/// The role applies from the person's next call on. The open links of a former administrator end.
pub(crate) async fn change_role(
    state: &State,
    author: &Author,
    id: StaffId,
    role: OperatorRole,
) -> Result<Staff, StaffError> {
    let changed: Result<Staff, StaffError> = state
        .unit
        .database
        .transaction(async |conn| {
            lock(conn, author).await?;
            let before = staff::find(conn, id).await?.ok_or(StaffError::Unknown)?;
            if before.role == role {
                return Ok(before);
            }
            require_another_administrator(conn, state, &before).await?;
            let event = AuditEvent::new(Action::StaffRoleChanged);
            Ok(apply_role(conn, state, author, event, before, role).await?)
        })
        .await;
    let changed = changed?;
    state.mailbox.wake_sender();
    tracing::info!(staff_id = %id, %role, "role of a person of the staff changed");
    Ok(changed)
}

/// Within the caller's transaction, which has locked the staff. The person gets a mail.
pub(crate) async fn apply_role(
    conn: &mut AsyncPgConnection,
    state: &State,
    author: &Author,
    event: AuditEvent,
    before: Staff,
    role: OperatorRole,
) -> Result<Staff, StoreError> {
    staff::set_role(conn, before.id, role).await?;
    password_links::remove_issued_by(conn, before.id, Realm::Staff).await?;
    if !role.may(OperatorPermission::IssuePasswordResets) {
        password_links::remove_issued_by(conn, before.id, Realm::User).await?;
    }
    let now = state.unit.clock.now();
    let mail = Mail::StaffRoleChanged { from: before.role, to: role, at: now };
    state.mailbox.queue(conn, before.id, &before.email, &mail, now).await?;
    let event = event.on(target(&before)).with("from", before.role.as_str()).with("to", role.as_str());
    let parts = (&state.unit.clock, &state.unit.entropy);
    write_operator_audit(conn, parts, None, author, &event).await?;
    Ok(Staff { role, ..before })
}

/// Ends all sessions of the person, and returns how many.
pub(crate) async fn end_sessions(state: &State, author: &Author, id: StaffId) -> Result<usize, StaffError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let ended: Result<usize, StaffError> = state
        .unit
        .database
        .transaction(async |conn| {
            lock(conn, author).await?;
            let person = staff::find(conn, id).await?.ok_or(StaffError::Unknown)?;
            let ended = sessions::end_all(conn, id.into(), None, parts.0.now()).await?;
            if ended > 0 {
                let event =
                    AuditEvent::new(Action::SessionRevoked).on(target(&person)).with("sessions", ended);
                write_operator_audit(conn, parts, None, author, &event).await?;
            }
            Ok(ended)
        })
        .await;
    let ended = ended?;
    tracing::info!(staff_id = %id, sessions = ended, "sessions of a person of the staff ended");
    Ok(ended)
}

/// Ends the person's sessions and links, and the links that they created, also for users of businesses.
pub(crate) async fn remove(state: &State, author: &Author, id: StaffId) -> Result<(), StaffError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let removed: Result<(), StaffError> = state
        .unit
        .database
        .transaction(async |conn| {
            lock(conn, author).await?;
            let before = staff::find(conn, id).await?.ok_or(StaffError::Unknown)?;
            require_another_administrator(conn, state, &before).await?;
            staff::remove(conn, id).await?;
            let event =
                AuditEvent::new(Action::StaffRemoved).on(target(&before)).with("role", before.role.as_str());
            Ok(write_operator_audit(conn, parts, None, author, &event).await?)
        })
        .await;
    removed?;
    tracing::info!(staff_id = %id, "person removed from the staff");
    Ok(())
}

async fn lock(conn: &mut AsyncPgConnection, author: &Author) -> Result<(), StaffError> {
    lock_administrator(conn, author).await?.then_some(()).ok_or(StaffError::NotAdministrator)
}

/// Serializes changes of the staff, and repeats the guard's check: the author may have been demoted or removed since.
pub(crate) async fn lock_administrator(
    conn: &mut AsyncPgConnection,
    author: &Author,
) -> Result<bool, StoreError> {
    staff::lock(conn).await?;
    let Some(id) = author.staff() else { return Ok(true) };
    let present = staff::find(conn, id).await?;
    Ok(present.is_some_and(|author| author.role == OperatorRole::Administrator))
}

/// Whether the caller still has the permission, and a person could still log in to use it. Exact until the transaction ends if the staff is locked.
pub(crate) async fn still_may(
    conn: &mut AsyncPgConnection,
    state: &State,
    actor: &OperatorActor,
    permission: OperatorPermission,
) -> Result<bool, StoreError> {
    let role = match actor {
        OperatorActor::Person { id, .. } => {
            let found = staff::find(conn, *id).await?;
            let ways = state.staff_log_in_ways();
            found.filter(|person| person.can_log_in(ways)).map(|person| person.role)
        }
        OperatorActor::Token { id, .. } => {
            operator_tokens::find_for_update(conn, *id).await?.map(|token| token.role)
        }
        OperatorActor::Configuration => Some(OperatorRole::Administrator),
        OperatorActor::Command | OperatorActor::Unknown => None,
    };
    Ok(role.is_some_and(|role| actor.may(role, permission)))
}

/// Only administrators who can log in count.
pub(crate) async fn require_another_administrator(
    conn: &mut AsyncPgConnection,
    state: &State,
    leaving: &Staff,
) -> Result<(), StaffError> {
    let ways = state.staff_log_in_ways();
    if leaving.role != OperatorRole::Administrator || !leaving.can_log_in(ways) {
        return Ok(());
    }
    let administrators = staff::administrators(conn).await?;
    let is_other = |one: &Staff| one.id != leaving.id && one.can_log_in(ways);
    if administrators.iter().any(is_other) { Ok(()) } else { Err(StaffError::LastAdministrator) }
}

pub(crate) fn target(staff: &Staff) -> Target {
    Target::new(TargetKind::Staff, staff.id).labelled(&staff.email)
}
