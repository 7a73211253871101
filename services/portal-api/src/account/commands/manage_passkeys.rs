//! A person adds passkeys to their own account, and removes them. The authenticator app and the recovery codes stay.

use domain::PasskeyId;
use identity::passkeys::{self, Attestation, CeremonyKey, Passkey, VerifiedPasskey};
use identity::second_factors::FactorError;
use serde_json::Value;

use crate::account::commands::factor_code::{Holder, mail_holder};
use crate::audit::commands::audit::write_entry;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::mail::FactorNews;
use crate::state::State;

/// A passkey as the browser sends it.
pub(crate) struct Addition {
    pub(crate) name: String,
    pub(crate) attestation: Attestation,
}

/// The options for the browser. Nothing changes until [`add`].
pub(crate) async fn start(state: &State, holder: &Holder, key: CeremonyKey) -> Result<Value, FactorError> {
    let of = (holder.account, holder.email.as_str());
    state.unit.database.transaction(async |conn| state.factors.begin_passkey(conn, of, key).await).await
}

/// Uses up the challenge, checks the answer of the authenticator, and adds the passkey.
pub(crate) async fn add(
    state: &State,
    holder: &Holder,
    addition: &Addition,
    key: CeremonyKey,
    author: &Author,
) -> Result<Passkey, FactorError> {
    let (account, name) = (holder.account, addition.name.as_str());
    let database = &state.unit.database;
    let attestation = &addition.attestation;
    let verified: Result<VerifiedPasskey, FactorError> =
        database.read(async |conn| state.factors.verify_passkey(conn, account, attestation, key).await).await;
    let verified = verified?;
    let added: Result<Passkey, FactorError> = database
        .transaction(async |conn| {
            let added = state.factors.add_passkey(conn, account, (name, &verified)).await?;
            let event = AuditEvent::new(Action::PasskeyAdded).on(target(added.id, name));
            write_entry(conn, state, account, author, &event).await?;
            mail_holder(conn, state, holder, FactorNews::PasskeyAdded).await?;
            Ok(added)
        })
        .await;
    let added = added?;
    state.mailbox.wake_sender();
    tracing::info!(account_id = %account, passkey_id = %added.id, "passkey added");
    Ok(added)
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
