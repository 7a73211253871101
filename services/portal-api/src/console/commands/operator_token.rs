//! Named operator tokens: an administrator creates, rotates and disables them; programs authenticate with them.

use domain::OperatorTokenId;
use postgres::StoreError;

use crate::audit::commands::audit::write_operator_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::console::commands::staff::lock_administrator;
use crate::console::domain::{OperatorSecret, OperatorToken, TokenGrace};
use crate::console::store::operator_tokens;
use crate::domain::{OperatorActor, OperatorRole};
use crate::state::State;

/// Tokens that work.
const TOKENS_MAX: i64 = 100;

#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("the author is no longer an administrator")]
    NotAdministrator,
    #[error("there is no such token, or it is disabled")]
    Unknown,
    #[error("a working token already has this name")]
    NameTaken,
    #[error("there are already as many active tokens as allowed")]
    TooMany,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Who sends this secret, and with which role. `None` for an unknown, replaced or disabled one.
pub(crate) async fn authenticate(
    state: &State,
    secret: &OperatorSecret,
) -> Result<Option<(OperatorActor, OperatorRole)>, StoreError> {
    let now = state.unit.clock.now();
    let database = &state.unit.database;
    database
        .read(async |conn| {
            let found = operator_tokens::find_by_secret(conn, secret, now).await?;
            let Some((id, name, role)) = found else { return Ok(None) };
            operator_tokens::mark_used(conn, id, now).await?;
            Ok(Some((OperatorActor::Token { id, name }, role)))
        })
        .await
}

pub(crate) async fn create(
    state: &State,
    author: &Author,
    name: String,
    role: OperatorRole,
) -> Result<(OperatorToken, OperatorSecret), TokenError> {
    let (clock, entropy) = (&state.unit.clock, &state.unit.entropy);
    let secret = OperatorSecret::generate(entropy);
    let token = OperatorToken {
        id: OperatorTokenId::generate(clock, entropy),
        name,
        role,
        created_at: clock.now(),
        last_used_at: None,
        previous_until: None,
        disabled_at: None,
    };
    let created: Result<(), TokenError> = state
        .unit
        .database
        .transaction(async |conn| {
            if !lock_administrator(conn, author).await? {
                return Err(TokenError::NotAdministrator);
            }
            if operator_tokens::count(conn).await? >= TOKENS_MAX {
                return Err(TokenError::TooMany);
            }
            if !operator_tokens::insert(conn, &token, &secret).await? {
                return Err(TokenError::NameTaken);
            }
            let event =
                AuditEvent::new(Action::OperatorTokenCreated).on(target(&token)).with("role", role.as_str());
            Ok(write_operator_audit(conn, (clock, entropy), None, author, &event).await?)
        })
        .await;
    created?;
    tracing::info!(token_id = %token.id, %role, "operator token created");
    Ok((token, secret))
}

/// Replaces the secret.
pub(crate) async fn rotate(
    state: &State,
    author: &Author,
    id: OperatorTokenId,
    grace: TokenGrace,
) -> Result<(OperatorToken, OperatorSecret), TokenError> {
    let (clock, entropy) = (&state.unit.clock, &state.unit.entropy);
    let (secret, previous_until) = (OperatorSecret::generate(entropy), grace.until(clock.now()));
    let rotated: Result<OperatorToken, TokenError> = state
        .unit
        .database
        .transaction(async |conn| {
            if !lock_administrator(conn, author).await? {
                return Err(TokenError::NotAdministrator);
            }
            let token = operator_tokens::find_for_update(conn, id).await?.ok_or(TokenError::Unknown)?;
            operator_tokens::rotate(conn, id, &secret, previous_until).await?;
            let event = AuditEvent::new(Action::OperatorTokenRotated)
                .on(target(&token))
                .with("graceSeconds", grace.seconds());
            write_operator_audit(conn, (clock, entropy), None, author, &event).await?;
            Ok(OperatorToken { previous_until, ..token })
        })
        .await;
    let rotated = rotated?;
    tracing::info!(token_id = %id, "operator token rotated");
    Ok((rotated, secret))
}

/// The token ends at once.
pub(crate) async fn disable(state: &State, author: &Author, id: OperatorTokenId) -> Result<(), TokenError> {
    let (clock, entropy) = (&state.unit.clock, &state.unit.entropy);
    let disabled: Result<(), TokenError> = state
        .unit
        .database
        .transaction(async |conn| {
            if !lock_administrator(conn, author).await? {
                return Err(TokenError::NotAdministrator);
            }
            let token = operator_tokens::find_for_update(conn, id).await?.ok_or(TokenError::Unknown)?;
            operator_tokens::disable(conn, id, clock.now()).await?;
            let event = AuditEvent::new(Action::OperatorTokenDisabled).on(target(&token));
            Ok(write_operator_audit(conn, (clock, entropy), None, author, &event).await?)
        })
        .await;
    disabled?;
    tracing::info!(token_id = %id, "operator token disabled");
    Ok(())
}

fn target(token: &OperatorToken) -> Target {
    Target::new(TargetKind::OperatorToken, token.id).labelled(&token.name)
}
