//! The secrets of endpoints, sealed as they are, and where those that they sign for lead.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::schema::endpoints;
use crate::secrets::{Sealed, SealedSecrets, Staged};

type Present = (Vec<u8>, String);
type Next = (Option<Vec<u8>>, Option<String>, Option<DateTime<Utc>>);

/// The columns of a [`Present`] and a [`Next`].
macro_rules! secret_columns {
    () => {
        (
            (endpoints::secret_ciphertext, endpoints::secret_key_id),
            (endpoints::next_secret_ciphertext, endpoints::next_secret_key_id, endpoints::next_secret_from),
        )
    };
}

fn sealed_secrets(
    (ciphertext, key_id): Present,
    (next_ciphertext, next_key_id, from): Next,
) -> SealedSecrets {
    let next = next_ciphertext.zip(next_key_id).zip(from);
    SealedSecrets {
        present: Sealed { key_id, ciphertext },
        next: next.map(|((ciphertext, key_id), from)| Staged { secret: Sealed { key_id, ciphertext }, from }),
    }
}

/// The same columns in a statement by hand.
#[derive(QueryableByName)]
pub(super) struct SecretColumns {
    #[diesel(sql_type = Binary)]
    secret_ciphertext: Vec<u8>,
    #[diesel(sql_type = Text)]
    secret_key_id: String,
    #[diesel(sql_type = Nullable<Binary>)]
    next_secret_ciphertext: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<Text>)]
    next_secret_key_id: Option<String>,
    #[diesel(sql_type = Nullable<Timestamptz>)]
    next_secret_from: Option<DateTime<Utc>>,
}

impl From<SecretColumns> for SealedSecrets {
    fn from(columns: SecretColumns) -> Self {
        sealed_secrets(
            (columns.secret_ciphertext, columns.secret_key_id),
            (columns.next_secret_ciphertext, columns.next_secret_key_id, columns.next_secret_from),
        )
    }
}

/// Where a test of the endpoint goes, and the secrets that sign it.
pub(crate) async fn find_target(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: EndpointId,
) -> Result<Option<(String, SealedSecrets)>, StoreError> {
    let row: Option<(String, (Present, Next))> = endpoints::table
        .filter(endpoints::business_id.eq(business.to_string()))
        .filter(endpoints::id.eq(id.to_string()))
        .filter(endpoints::deleted_at.is_null())
        .select((endpoints::url, secret_columns!()))
        .first(conn)
        .await
        .optional()?;
    Ok(row.map(|(url, (present, next))| (url, sealed_secrets(present, next))))
}

/// The endpoint's secrets, locked until the transaction ends.
pub(crate) async fn lock_secrets(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: EndpointId,
) -> Result<Option<SealedSecrets>, StoreError> {
    let row: Option<(Present, Next)> = endpoints::table
        .filter(endpoints::business_id.eq(business.to_string()))
        .filter(endpoints::id.eq(id.to_string()))
        .filter(endpoints::deleted_at.is_null())
        .select(secret_columns!())
        .for_update()
        .first(conn)
        .await
        .optional()?;
    Ok(row.map(|(present, next)| sealed_secrets(present, next)))
}

const WRITE: &str = "
    UPDATE endpoints
    SET secret_ciphertext = $3, secret_key_id = $4,
        next_secret_ciphertext = $5, next_secret_key_id = $6, next_secret_from = $7
    WHERE business_id = $1 AND id = $2";

/// Wants the endpoint's lock.
pub(crate) async fn write_secrets(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: EndpointId,
    secrets: &SealedSecrets,
) -> Result<(), StoreError> {
    let next = secrets.next.as_ref();
    let written = statement(WRITE)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(id.to_string())
        .bind::<Binary, _>(secrets.present.ciphertext.as_slice())
        .bind::<Text, _>(secrets.present.key_id.as_str())
        .bind::<Nullable<Binary>, _>(next.map(|next| next.secret.ciphertext.as_slice()))
        .bind::<Nullable<Text>, _>(next.map(|next| next.secret.key_id.as_str()))
        .bind::<Nullable<Timestamptz>, _>(next.map(|next| next.from))
        .execute(conn)
        .await?;
    if written == 1 { Ok(()) } else { Err(corrupt("a locked endpoint is gone")) }
}

const FOLD: &str = "
    UPDATE endpoints
    SET secret_ciphertext = next_secret_ciphertext, secret_key_id = next_secret_key_id,
        next_secret_ciphertext = NULL, next_secret_key_id = NULL, next_secret_from = NULL
    FROM (
        SELECT id, business_id FROM endpoints WHERE next_secret_from <= $1
        ORDER BY next_secret_from LIMIT $2
        FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE endpoints.id = due.id AND endpoints.business_id = due.business_id";

/// Puts up to `limit` secrets whose time has come into their place; tells how many. Serves all businesses.
pub(crate) async fn fold_secrets(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<usize, StoreError> {
    Ok(statement(FOLD).bind::<Timestamptz, _>(now).bind::<BigInt, _>(limit).execute(conn).await?)
}

const COUNT_OTHERWISE: &str = "
    SELECT count(*) AS count FROM endpoints
    WHERE deleted_at IS NULL
      AND (secret_key_id <> ALL ($1) OR (next_secret_key_id IS NOT NULL AND next_secret_key_id <> ALL ($1)))";

#[derive(QueryableByName)]
struct CountRow {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// How many endpoints have a secret that none of these keys opens. Serves all businesses; reads all endpoints, of which
/// there are a few per business.
pub(crate) async fn count_sealed_otherwise(
    conn: &mut AsyncPgConnection,
    key_ids: &[String],
) -> Result<i64, StoreError> {
    let row: CountRow = statement(COUNT_OTHERWISE).bind::<Array<Text>, _>(key_ids).get_result(conn).await?;
    Ok(row.count)
}

/// An endpoint whose secrets are to be sealed with another key.
pub(crate) struct SealedRow {
    pub business: BusinessId,
    pub endpoint: EndpointId,
    pub secrets: SealedSecrets,
}

/// The next endpoints, behind `after`, that have a secret which another key than this one seals, locked until the
/// transaction ends. Those that were deleted too: they stand in the database. Serves all businesses.
pub(crate) async fn lock_sealed_otherwise(
    conn: &mut AsyncPgConnection,
    key_id: &str,
    after: Option<EndpointId>,
    limit: i64,
) -> Result<Vec<SealedRow>, StoreError> {
    let rows: Vec<(String, String, (Present, Next))> = endpoints::table
        .filter(endpoints::id.gt(after.map(|id| id.to_string()).unwrap_or_default()))
        .filter(endpoints::secret_key_id.ne(key_id).or(endpoints::next_secret_key_id.ne(key_id)))
        .select((endpoints::business_id, endpoints::id, secret_columns!()))
        .order(endpoints::id)
        .limit(limit)
        .for_update()
        .load(conn)
        .await?;
    rows.into_iter()
        .map(|(business, endpoint, (present, next))| {
            Ok(SealedRow {
                business: business.parse().map_err(corrupt)?,
                endpoint: endpoint.parse().map_err(corrupt)?,
                secrets: sealed_secrets(present, next),
            })
        })
        .collect()
}
