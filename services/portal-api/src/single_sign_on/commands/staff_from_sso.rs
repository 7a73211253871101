//! The person of an identity: found, with the role that the provider's groups give now, or created.

use diesel_async::AsyncPgConnection;
use domain::StaffId;
use identity::single_sign_on::{SsoIdentity, SsoSubject, identities};
use identity::{Account, Realm, password_links, sessions};

use crate::audit::commands::audit::write_operator_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::console::commands::staff as staff_commands;
use crate::console::commands::staff::STAFF_MAX;
use crate::console::domain::{NewStaff, Staff};
use crate::domain::{OperatorActor, OperatorRole};
use crate::single_sign_on::commands::complete_staff::CompleteSsoError;
use crate::single_sign_on::commands::sso_proof::ProofError;
use crate::state::State;
use crate::store::staff;

pub(crate) enum SsoPerson {
    Active(Staff),
    /// No group gives a role. Open sessions of the person have ended, and the links that they created. Until a log-in with a
    /// role, the person neither counts as an administrator nor has permissions for approvals.
    WithoutRole,
}

pub(crate) async fn find_or_provision(
    conn: &mut AsyncPgConnection,
    state: &State,
    identity: &SsoIdentity,
    role: Option<OperatorRole>,
    author: impl Fn(OperatorActor) -> Author,
) -> Result<SsoPerson, CompleteSsoError> {
    staff::lock(conn).await?;
    let known = match identities::find_staff(conn, identity).await? {
        Some(id) => staff::find(conn, id).await?,
        None => None,
    };
    let Some(role) = role else {
        if let Some(person) = known {
            let author = author(OperatorActor::Person { id: person.id, email: person.email });
            lose_access(conn, state, identity, person.id, &author).await?;
        }
        return Ok(SsoPerson::WithoutRole);
    };
    let Some(person) = known else {
        return provision(conn, state, identity, role, author).await.map(SsoPerson::Active);
    };
    identities::set_role_lost(conn, identity, None).await?;
    if person.role == role {
        return Ok(SsoPerson::Active(person));
    }
    let author = author(OperatorActor::Person { id: person.id, email: person.email.clone() });
    let event = AuditEvent::new(Action::StaffRoleChanged).with("singleSignOn", identity.issuer.as_str());
    let changed = staff_commands::apply_role(conn, state, &author, event, person, role).await?;
    Ok(SsoPerson::Active(changed))
}

/// The caller has locked the staff.
pub(crate) async fn lose_access(
    conn: &mut AsyncPgConnection,
    state: &State,
    identity: &SsoIdentity,
    person: StaffId,
    author: &Author,
) -> Result<(), CompleteSsoError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    identities::set_role_lost(conn, identity, Some(parts.0.now())).await?;
    let ended = sessions::end_all(conn, person.into(), None, parts.0.now()).await?;
    for realm in [Realm::Staff, Realm::User] {
        password_links::remove_issued_by(conn, person, realm).await?;
    }
    if ended == 0 {
        return Ok(());
    }
    let event =
        AuditEvent::new(Action::SessionRevoked).with("singleSignOn", "no_role").with("sessions", ended);
    Ok(write_operator_audit(conn, parts, None, author, &event).await?)
}

async fn provision(
    conn: &mut AsyncPgConnection,
    state: &State,
    identity: &SsoIdentity,
    role: OperatorRole,
    author: impl Fn(OperatorActor) -> Author,
) -> Result<Staff, CompleteSsoError> {
    let (clock, entropy) = (&state.unit.clock, &state.unit.entropy);
    let email = identity.email.clone().ok_or(CompleteSsoError::NoEmail)?;
    if staff::count(conn).await? >= STAFF_MAX {
        return Err(CompleteSsoError::TooManyStaff);
    }
    let (id, now) = (StaffId::generate(clock, entropy), clock.now());
    let name = identity.name.clone().unwrap_or_else(|| email.as_str().to_owned());
    let new = NewStaff { name, email, role };
    if !staff::insert(conn, id, &new, now).await? {
        return Err(CompleteSsoError::AccountExists);
    }
    if !identities::insert(conn, SsoSubject::Staff, identity, Account::Staff(id), now).await? {
        return Err(CompleteSsoError::AlreadyLinked);
    }
    let event = AuditEvent::new(Action::StaffProvisioned)
        .on(Target::new(TargetKind::Staff, id).labelled(new.email.as_str()))
        .with("role", role.as_str())
        .with("issuer", identity.issuer.as_str());
    let author = author(OperatorActor::Person { id, email: new.email.as_str().to_owned() });
    write_operator_audit(conn, (clock, entropy), None, &author, &event).await?;
    tracing::info!(staff_id = %id, %role, "person of the staff created by single sign-on");
    Ok(staff::find(conn, id).await?.ok_or(ProofError::Ended)?)
}
