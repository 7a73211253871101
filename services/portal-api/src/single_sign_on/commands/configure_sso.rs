//! An owner sets up single sign-on of the business, tests it, or turns it off.

use domain::BusinessId;
use identity::VaultError;
use identity::single_sign_on::{ProviderError, identities};
use postgres::StoreError;

use crate::audit::commands::audit::write_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::domain::BusinessStatus;
use crate::domain::Role;
use crate::single_sign_on::domain::{BusinessSso, CompanyDomain, SsoAccess, SsoProvider};
use crate::state::State;
use crate::store::{business_sso, businesses, email_confirmations, user_sessions, users};
use crate::team::commands::owners::is_still_owner;

/// What the owner has entered.
pub(crate) struct SsoInput {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    /// `None` keeps the present one.
    pub(crate) client_secret: Option<String>,
    pub(crate) scopes: String,
    pub(crate) groups_claim: String,
    pub(crate) access: SsoAccess,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigureSsoError {
    #[error("this installation does not offer it")]
    Unavailable,
    #[error("there is no secret for this provider yet")]
    SecretRequired,
    #[error("nothing is set up")]
    Off,
    #[error("the author is no longer an owner")]
    NotOwner,
    #[error("the business is not active")]
    NotActive,
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Another issuer or client ends what the former one has opened: sessions and identities. Requiring single sign-on ends the other sessions
/// of people who are no owners.
pub(crate) async fn put(
    state: &State,
    business: BusinessId,
    author: &Author,
    input: SsoInput,
) -> Result<BusinessSso, ConfigureSsoError> {
    if !state.business_sso.is_available() {
        return Err(ConfigureSsoError::Unavailable);
    }
    let now = state.unit.clock.now();
    let put: Result<(BusinessSso, usize), ConfigureSsoError> = state
        .unit
        .database
        .transaction(async |conn| {
            let found =
                businesses::find_for_update(conn, business).await?.ok_or(ConfigureSsoError::NotOwner)?;
            if !is_still_owner(conn, business, author).await? {
                return Err(ConfigureSsoError::NotOwner);
            }
            // As for invitations. Otherwise anybody could have providers called, and users created.
            if found.status != BusinessStatus::Active {
                return Err(ConfigureSsoError::NotActive);
            }
            let before = business_sso::find(conn, business).await?;
            let former = before.as_ref().map(|before| &before.provider);
            let provider = provider(state, business, &input, former)?;
            let is_other = former.is_some_and(|former| !former.is_same_client(&provider));
            let after = BusinessSso { provider, access: input.access.clone(), updated_at: now };
            business_sso::put(conn, business, &after).await?;
            users::lock_all(conn, business).await?;
            let mut ended = 0;
            if is_other {
                identities::remove_of_business(conn, business).await?;
                ended += user_sessions::end_single_sign_on(conn, business, None, now).await?;
            }
            if after.access.required {
                let others = user_sessions::end_passwords_but_of_owners(conn, business, now).await?;
                email_confirmations::remove_changes_in(conn, &others).await?;
                ended += others.len();
            }
            let event = changed(business, &after, input.client_secret.is_some()).with("sessions", ended);
            write_audit(conn, state, business, author, &event).await?;
            Ok((after, ended))
        })
        .await;
    let (sso, ended) = put?;
    tracing::info!(business_id = %business, required = sso.access.required, sessions = ended, "single sign-on set up");
    Ok(sso)
}

/// The stored secret is never sent to an issuer that it was not entered for.
fn provider(
    state: &State,
    business: BusinessId,
    input: &SsoInput,
    former: Option<&SsoProvider>,
) -> Result<SsoProvider, ConfigureSsoError> {
    let kept = former.filter(|former| former.issuer == input.issuer);
    let sealed_secret = match (&input.client_secret, kept) {
        (Some(secret), _) => state.business_sso.seal(business, secret, &state.unit.entropy)?,
        (None, Some(former)) => former.sealed_secret.clone(),
        (None, None) => return Err(ConfigureSsoError::SecretRequired),
    };
    Ok(SsoProvider {
        issuer: input.issuer.clone(),
        client_id: input.client_id.clone(),
        sealed_secret,
        scopes: input.scopes.clone(),
        groups_claim: input.groups_claim.clone(),
    })
}

fn changed(business: BusinessId, sso: &BusinessSso, is_new_secret: bool) -> AuditEvent {
    let roles: Vec<String> =
        sso.access.roles.iter().map(|(group, role)| format!("{group}: {role}")).collect();
    let domains: Vec<&str> = sso.access.allowed_domains.iter().map(CompanyDomain::as_str).collect();
    AuditEvent::new(Action::SingleSignOnChanged)
        .on(Target::new(TargetKind::Business, business))
        .with("issuer", sso.provider.issuer.as_str())
        .with("clientId", sso.provider.client_id.as_str())
        .with("newSecret", is_new_secret)
        .with("roles", roles)
        .with("defaultRole", sso.access.default_role.map(Role::as_str))
        .with("allowedDomains", domains)
        .with("required", sso.access.required)
}

/// Does nothing if nothing is set up. Also works while the installation does not offer single sign-on.
pub(crate) async fn remove(
    state: &State,
    business: BusinessId,
    author: &Author,
) -> Result<(), ConfigureSsoError> {
    let now = state.unit.clock.now();
    let removed: Result<bool, ConfigureSsoError> = state
        .unit
        .database
        .transaction(async |conn| {
            businesses::find_for_update(conn, business).await?.ok_or(ConfigureSsoError::NotOwner)?;
            if !is_still_owner(conn, business, author).await? {
                return Err(ConfigureSsoError::NotOwner);
            }
            if !business_sso::remove(conn, business).await? {
                return Ok(false);
            }
            users::lock_all(conn, business).await?;
            identities::remove_of_business(conn, business).await?;
            let ended = user_sessions::end_single_sign_on(conn, business, None, now).await?;
            let event = AuditEvent::new(Action::SingleSignOnRemoved)
                .on(Target::new(TargetKind::Business, business))
                .with("sessions", ended);
            write_audit(conn, state, business, author, &event).await?;
            Ok(true)
        })
        .await;
    if removed? {
        tracing::info!(business_id = %business, "single sign-on turned off");
    }
    Ok(())
}

/// Reads the metadata of the provider, and returns the claims that are missing. The inner error is for the owner.
pub(crate) async fn test(
    state: &State,
    business: BusinessId,
) -> Result<Result<Vec<&'static str>, ProviderError>, ConfigureSsoError> {
    if !state.business_sso.is_available() {
        return Err(ConfigureSsoError::Unavailable);
    }
    let database = &state.unit.database;
    let found: Result<Option<BusinessSso>, ConfigureSsoError> = database
        .read(async |conn| {
            if businesses::find(conn, business)
                .await?
                .is_none_or(|found| found.status != BusinessStatus::Active)
            {
                return Err(ConfigureSsoError::NotActive);
            }
            Ok(business_sso::find(conn, business).await?)
        })
        .await;
    let sso = found?.ok_or(ConfigureSsoError::Off)?;
    Ok(match state.business_sso.party(business, &sso.provider) {
        Ok(party) => party.check().await,
        Err(error) => Err(error),
    })
}
