//! Named operator tokens, stored by the digest of their secret.

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::OperatorTokenId;
use identity::stored;
use postgres::StoreError;

use crate::console::domain::{OperatorSecret, OperatorToken};
use crate::domain::OperatorRole;
use crate::store::schema::operator_tokens;
use diesel::prelude::*;

/// `last_used_at` is written in steps of at least this length, so that most requests write nothing.
const USED_STEP: TimeDelta = TimeDelta::minutes(1);

#[derive(Queryable, Selectable)]
#[diesel(table_name = operator_tokens)]
struct TokenRow {
    id: String,
    name: String,
    role: String,
    created_at: DateTime<Utc>,
    last_used_at: Option<DateTime<Utc>>,
    previous_until: Option<DateTime<Utc>>,
    disabled_at: Option<DateTime<Utc>>,
}

/// False if a working token already has this name. The transaction remains usable.
pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    token: &OperatorToken,
    secret: &OperatorSecret,
) -> Result<bool, StoreError> {
    let inserted = diesel::insert_into(operator_tokens::table)
        .values((
            operator_tokens::id.eq(token.id.to_string()),
            operator_tokens::name.eq(&token.name),
            operator_tokens::name_key.eq(token.name.to_lowercase()),
            operator_tokens::role.eq(token.role.as_str()),
            operator_tokens::secret_hash.eq(secret.digest().to_vec()),
            operator_tokens::created_at.eq(token.created_at),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    Ok(inserted == 1)
}

/// Newest first. Reads one more than `limit` to show that more follow. `None` if `after` is not among them.
pub(crate) async fn list(
    conn: &mut AsyncPgConnection,
    limit: usize,
    after: Option<OperatorTokenId>,
) -> Result<Option<Vec<OperatorToken>>, StoreError> {
    let mut query = operator_tokens::table
        .order(operator_tokens::id.desc())
        .limit(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
        .select(TokenRow::as_select())
        .into_boxed();
    if let Some(after) = after {
        let known = operator_tokens::table.find(after.to_string());
        if !diesel::select(diesel::dsl::exists(known)).get_result::<bool>(conn).await? {
            return Ok(None);
        }
        query = query.filter(operator_tokens::id.lt(after.to_string()));
    }
    let rows: Vec<TokenRow> = query.load(conn).await?;
    rows.into_iter().map(OperatorToken::try_from).collect::<Result<_, _>>().map(Some)
}

/// How many tokens work.
pub(crate) async fn count(conn: &mut AsyncPgConnection) -> Result<i64, StoreError> {
    Ok(operator_tokens::table.filter(operator_tokens::disabled_at.is_null()).count().get_result(conn).await?)
}

/// Locks a working token until the transaction ends.
pub(crate) async fn find_for_update(
    conn: &mut AsyncPgConnection,
    id: OperatorTokenId,
) -> Result<Option<OperatorToken>, StoreError> {
    let row = operator_tokens::table
        .find(id.to_string())
        .filter(operator_tokens::disabled_at.is_null())
        .select(TokenRow::as_select())
        .for_no_key_update()
        .first(conn)
        .await
        .optional()?;
    row.map(OperatorToken::try_from).transpose()
}

/// The token of a secret, unless it is disabled or the secret was replaced.
pub(crate) async fn find_by_secret(
    conn: &mut AsyncPgConnection,
    secret: &OperatorSecret,
    now: DateTime<Utc>,
) -> Result<Option<(OperatorTokenId, String, OperatorRole)>, StoreError> {
    let digest = secret.digest().to_vec();
    let is_current = operator_tokens::secret_hash.eq(digest.clone());
    let is_previous = operator_tokens::previous_hash.eq(digest).and(operator_tokens::previous_until.gt(now));
    let row: Option<(String, String, String)> = operator_tokens::table
        .filter(operator_tokens::disabled_at.is_null())
        .filter(is_current.or(is_previous))
        .select((operator_tokens::id, operator_tokens::name, operator_tokens::role))
        .first(conn)
        .await
        .optional()?;
    row.map(|(id, name, role)| {
        Ok((stored("operator_tokens.id", &id)?, name, stored("operator_tokens.role", &role)?))
    })
    .transpose()
}

/// Replaces the secret. The previous one works until `previous_until`, the one before it no longer.
pub(crate) async fn rotate(
    conn: &mut AsyncPgConnection,
    id: OperatorTokenId,
    secret: &OperatorSecret,
    previous_until: Option<DateTime<Utc>>,
) -> Result<(), StoreError> {
    let previous: Vec<u8> =
        operator_tokens::table.find(id.to_string()).select(operator_tokens::secret_hash).first(conn).await?;
    diesel::update(operator_tokens::table.find(id.to_string()))
        .set((
            operator_tokens::secret_hash.eq(secret.digest().to_vec()),
            operator_tokens::previous_hash.eq(previous_until.map(|_| previous)),
            operator_tokens::previous_until.eq(previous_until),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn disable(
    conn: &mut AsyncPgConnection,
    id: OperatorTokenId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    diesel::update(operator_tokens::table.find(id.to_string()))
        .set(operator_tokens::disabled_at.eq(now))
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn mark_used(
    conn: &mut AsyncPgConnection,
    id: OperatorTokenId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let stale = operator_tokens::table.find(id.to_string()).filter(
        operator_tokens::last_used_at.is_null().or(operator_tokens::last_used_at.lt(now - USED_STEP)),
    );
    diesel::update(stale).set(operator_tokens::last_used_at.eq(now)).execute(conn).await?;
    Ok(())
}

impl TryFrom<TokenRow> for OperatorToken {
    type Error = StoreError;

    fn try_from(row: TokenRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored("operator_tokens.id", &row.id)?,
            name: row.name,
            role: stored("operator_tokens.role", &row.role)?,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
            previous_until: row.previous_until,
            disabled_at: row.disabled_at,
        })
    }
}
