//! A person adds passkeys to their own account, and removes them. The authenticator app and the recovery codes stay.

use domain::PasskeyId;
use identity::passkeys::{
    self, Attestation, CEREMONY_LASTS, CeremonyKey, NewPasskey, PASSKEYS_MAX, Passkey, PasskeyError,
    VerifiedPasskey, passkey_ceremonies,
};
use identity::second_factors;
use serde_json::Value;

use crate::commands::audit::write_entry;
use crate::commands::factor_code::{FactorError, Holder, mail_holder};
use crate::commands::use_passkey::take;
use crate::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::mail::FactorNews;
use crate::state::State;

/// A passkey as the browser sends it.
pub(crate) struct Addition {
    pub(crate) name: String,
    pub(crate) attestation: Attestation,
}

/// The options for the browser. Nothing changes until [`add`].
pub(crate) async fn start(state: &State, holder: &Holder, key: CeremonyKey) -> Result<Value, FactorError> {
    let account = holder.account;
    let expires_at = state.unit.clock.now() + CEREMONY_LASTS;
    state
        .unit
        .database
        .transaction(async |conn| {
            state.passkeys.origin(account).ok_or(FactorError::PasskeysUnavailable)?;
            if !second_factors::lock(conn, account).await? {
                return Err(FactorError::NotEnrolled);
            }
            if passkeys::count(conn, account).await? >= PASSKEYS_MAX {
                return Err(FactorError::TooManyPasskeys);
            }
            let existing = passkeys::credentials(conn, account).await?;
            let started = state.passkeys.start_registration(account, &holder.email, existing)?;
            passkey_ceremonies::begin(conn, key, account, &started.state, expires_at).await?;
            Ok(started.options)
        })
        .await
}

/// Uses up the challenge, checks the answer of the authenticator, and adds the passkey.
pub(crate) async fn add(
    state: &State,
    holder: &Holder,
    addition: &Addition,
    key: CeremonyKey,
    author: &Author,
) -> Result<Passkey, FactorError> {
    let account = holder.account;
    let begun = take(state, account, key).await?;
    let verified = state.passkeys.finish_registration(account, &addition.attestation, begun);
    if let Err(PasskeyError::Refused(reason)) = &verified {
        tracing::info!(account_id = %account.id(), %reason, "new passkey refused");
    }
    let added = insert(state, holder, (&addition.name, &verified?), author).await?;
    state.mailbox.wake_sender();
    tracing::info!(account_id = %account.id(), passkey_id = %added.id, "passkey added");
    Ok(added)
}

async fn insert(
    state: &State,
    holder: &Holder,
    (name, verified): (&str, &VerifiedPasskey),
    author: &Author,
) -> Result<Passkey, FactorError> {
    let (account, now) = (holder.account, state.unit.clock.now());
    let id = PasskeyId::generate(&state.unit.clock, &state.unit.entropy);
    let new =
        NewPasskey { id, name, credential_id: &verified.credential_id, credential: &verified.credential };
    state
        .unit
        .database
        .transaction(async |conn| {
            // Locked, so that simultaneous calls respect the limit.
            if !second_factors::lock(conn, account).await? {
                return Err(FactorError::NotEnrolled);
            }
            if passkeys::count(conn, account).await? >= PASSKEYS_MAX {
                return Err(FactorError::TooManyPasskeys);
            }
            if !passkeys::insert(conn, account, &new, now).await? {
                return Err(FactorError::PasskeyExists);
            }
            let event = AuditEvent::new(Action::PasskeyAdded).on(target(id, name));
            write_entry(conn, state, account, author, &event).await?;
            mail_holder(conn, state, holder, FactorNews::PasskeyAdded).await?;
            Ok(Passkey { id, name: name.to_owned(), created_at: now, last_used_at: None })
        })
        .await
}

pub(crate) async fn remove(
    state: &State,
    holder: &Holder,
    id: PasskeyId,
    author: &Author,
) -> Result<(), FactorError> {
    let account = holder.account;
    let removed: Result<(), FactorError> = state
        .unit
        .database
        .transaction(async |conn| {
            let name = passkeys::remove(conn, account, id).await?.ok_or(FactorError::UnknownPasskey)?;
            let event = AuditEvent::new(Action::PasskeyRemoved).on(target(id, &name));
            write_entry(conn, state, account, author, &event).await?;
            Ok(mail_holder(conn, state, holder, FactorNews::PasskeyRemoved).await?)
        })
        .await;
    removed?;
    state.mailbox.wake_sender();
    tracing::info!(account_id = %account.id(), passkey_id = %id, "passkey removed");
    Ok(())
}

fn target(id: PasskeyId, name: &str) -> Target {
    Target::new(TargetKind::Passkey, id).labelled(name)
}
