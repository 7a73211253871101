//! The user of an identity at the provider of a business: found, linked by a verified address, or created; with the role that the
//! provider's groups give now.

use diesel_async::AsyncPgConnection;
use domain::{AccountId, BusinessId, Email, UserId};
use identity::Account;
use identity::accounts::{LogInBy, NewAccount};
use identity::single_sign_on::{SsoIdentity, SsoSubject, identities};

use crate::account::commands::create_account;
use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::domain::{Role, User, UserAccount, UserKey, has_web_address};
use crate::mail::is_deliverable;
use crate::single_sign_on::commands::complete_business::BusinessSsoError;
use crate::single_sign_on::domain::BusinessSso;
use crate::single_sign_on::store::sso_users;
use crate::state::State;
use crate::store::{memberships, user_accounts, user_sessions, users};
use crate::team::commands::accept_invitation::USERS_MAX;
use crate::team::commands::change_user::{self, ChangeUserError};
use crate::team::commands::owners::mail_other_owners;

/// In characters.
const NAME_MAX: usize = 100;

pub(crate) enum SsoUser {
    Active(UserAccount, UserId),
    /// No group gives a role. The sessions that the provider has opened for the user have ended.
    WithoutRole,
}

/// Within the caller's transaction, which has locked the business.
pub(crate) async fn find_or_provision(
    conn: &mut AsyncPgConnection,
    state: &State,
    (business, sso, is_active): (BusinessId, &BusinessSso, bool),
    identity: &SsoIdentity,
    author: impl Fn(&User) -> Author,
) -> Result<SsoUser, BusinessSsoError> {
    let known = sso_users::find_user(conn, business, identity).await?;
    let Some(role) = sso.access.role_of(identity) else {
        if let Some(user) = known {
            lose_access(conn, state, (business, user), author).await?;
        }
        return Ok(SsoUser::WithoutRole);
    };
    let id = match known {
        Some(id) => id,
        None if !is_active => return Err(BusinessSsoError::NotActive),
        None if sso.access.is_open() => return Err(BusinessSsoError::OpenToAnyone),
        None => link_or_provision(conn, state, business, identity, role, &author).await?,
    };
    // Before the user's sessions.
    users::lock(conn, (business, id)).await?;
    let user = users::find(conn, business, id).await?.ok_or(BusinessSsoError::Gone)?;
    if user.role != role {
        let author = author(&user);
        let event = AuditEvent::new(Action::UserRoleChanged).with("singleSignOn", identity.issuer.as_str());
        let changed = change_user::apply_role(conn, state, (business, &author), event, user, role).await;
        changed.map_err(|error| match error {
            // With the role of an owner, the session would have rights that no group gives.
            ChangeUserError::LastOwner => BusinessSsoError::LastOwner,
            ChangeUserError::Store(error) => error.into(),
            ChangeUserError::NotOwner | ChangeUserError::Unknown => BusinessSsoError::Gone,
        })?;
    }
    let account = memberships::account_of(conn, (business, id)).await?.ok_or(BusinessSsoError::Gone)?;
    let account = user_accounts::of(conn, account).await?.ok_or(BusinessSsoError::Gone)?;
    Ok(SsoUser::Active(account, id))
}

/// Ends the sessions that the provider has opened for the user.
pub(crate) async fn lose_access(
    conn: &mut AsyncPgConnection,
    state: &State,
    (business, id): UserKey,
    author: impl Fn(&User) -> Author,
) -> Result<(), BusinessSsoError> {
    users::lock(conn, (business, id)).await?;
    let user = users::find(conn, business, id).await?.ok_or(BusinessSsoError::Gone)?;
    let now = state.unit.clock.now();
    let ended = user_sessions::end_single_sign_on(conn, business, Some(id), now).await?;
    if ended == 0 {
        return Ok(());
    }
    let event = AuditEvent::new(Action::SessionRevoked)
        .on(Target::new(TargetKind::User, id).labelled(&user.email))
        .with("singleSignOn", "no_role")
        .with("sessions", ended);
    Ok(write_audit(conn, state, business, &author(&user), &event).await?)
}

/// Links a user only by an address that both sides have verified. Otherwise a person who enters another user's address at the provider
/// would act as that user.
async fn link_or_provision(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    identity: &SsoIdentity,
    role: Role,
    author: &impl Fn(&User) -> Author,
) -> Result<UserId, BusinessSsoError> {
    let email = identity.email.as_ref().ok_or(BusinessSsoError::NoEmail)?;
    let found = if identity.email_verified {
        sso_users::find_linkable(conn, business, &identity.issuer, email).await?
    } else {
        None
    };
    let (id, action) = match found {
        Some(id) => (id, Action::UserIdentityLinked),
        None => (provision(conn, state, business, identity, email, role).await?, Action::UserProvisioned),
    };
    let account = memberships::account_of(conn, (business, id)).await?.ok_or(BusinessSsoError::Gone)?;
    let (provider, now) = (SsoSubject::Business(business), state.unit.clock.now());
    if !identities::insert(conn, provider, identity, Account::User(account), now).await? {
        return Err(BusinessSsoError::Gone);
    }
    let user = users::find(conn, business, id).await?.ok_or(BusinessSsoError::Gone)?;
    let event = AuditEvent::new(action)
        .on(Target::new(TargetKind::User, id).labelled(&user.email))
        .with("issuer", identity.issuer.as_str())
        .with("role", role.as_str());
    write_audit(conn, state, business, &author(&user), &event).await?;
    if action == Action::UserProvisioned && role == Role::Owner {
        mail_other_owners(conn, state, business, &user.email).await?;
    }
    Ok(id)
}

async fn provision(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    identity: &SsoIdentity,
    email: &Email,
    role: Role,
) -> Result<UserId, BusinessSsoError> {
    // A mail may go there, once the person asks for one.
    if !is_deliverable(email) {
        return Err(BusinessSsoError::NoEmail);
    }
    if users::count(conn, business).await? >= USERS_MAX {
        return Err(BusinessSsoError::TooManyUsers);
    }
    let name = name(identity);
    let account = NewAccount {
        id: AccountId::generate(&state.unit.clock, &state.unit.entropy),
        email,
        // The provider's word is not enough: mails go only where their recipient has confirmed the address.
        email_verified_at: None,
        name: name.as_deref(),
        log_in: LogInBy::ProviderOf(business),
        created_at: state.unit.clock.now(),
    };
    let created = create_account::with_membership(conn, state, &account, (business, role)).await?;
    let user = created.ok_or(BusinessSsoError::Gone)?.user;
    tracing::info!(business_id = %business, user_id = %user, %role, "user created by single sign-on");
    Ok(user)
}

/// As of names that people enter: nothing that disguises other text, or becomes a link in mails.
fn name(identity: &SsoIdentity) -> Option<String> {
    let turns = |c: &char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let name: String = identity.name.as_deref()?.chars().filter(|c| !turns(c)).take(NAME_MAX).collect();
    let name = name.trim();
    (!name.is_empty() && !has_web_address(name)).then(|| name.to_owned())
}
