//! The encrypted secrets of endpoints.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId};
use postgres::{StoreError, statement};

use super::corrupt;
use super::schema::endpoints;
use crate::domain::{EncryptedSecret, EncryptedSecrets, StagedSecret};

#[derive(Queryable, QueryableByName, Selectable)]
#[diesel(table_name = endpoints)]
pub(super) struct SecretColumns {
    secret_ciphertext: Vec<u8>,
    secret_key_id: String,
    next_secret_ciphertext: Option<Vec<u8>>,
    next_secret_key_id: Option<String>,
    next_secret_from: Option<DateTime<Utc>>,
}

impl From<SecretColumns> for EncryptedSecrets {
    fn from(columns: SecretColumns) -> Self {
        let next =
            columns.next_secret_ciphertext.zip(columns.next_secret_key_id).zip(columns.next_secret_from);
        Self {
            current: EncryptedSecret { key_id: columns.secret_key_id, ciphertext: columns.secret_ciphertext },
            next: next.map(|((ciphertext, key_id), from)| StagedSecret {
                secret: EncryptedSecret { key_id, ciphertext },
                from,
            }),
        }
    }
}

/// The URL and the secrets of the endpoint.
pub(crate) async fn find_target(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: EndpointId,
) -> Result<Option<(String, EncryptedSecrets)>, StoreError> {
    let row: Option<(String, SecretColumns)> = endpoints::table
        .filter(endpoints::business_id.eq(business.to_string()))
        .filter(endpoints::id.eq(id.to_string()))
        .filter(endpoints::deleted_at.is_null())
        .select((endpoints::url, SecretColumns::as_select()))
        .first(conn)
        .await
        .optional()?;
    Ok(row.map(|(url, secrets)| (url, secrets.into())))
}

/// The endpoint's secrets, locked until the transaction ends.
pub(crate) async fn lock_secrets(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: EndpointId,
) -> Result<Option<EncryptedSecrets>, StoreError> {
    let row: Option<SecretColumns> = endpoints::table
        .filter(endpoints::business_id.eq(business.to_string()))
        .filter(endpoints::id.eq(id.to_string()))
        .filter(endpoints::deleted_at.is_null())
        .select(SecretColumns::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()?;
    Ok(row.map(EncryptedSecrets::from))
}

const WRITE: &str = "
    UPDATE endpoints
    SET secret_ciphertext = $3, secret_key_id = $4,
        next_secret_ciphertext = $5, next_secret_key_id = $6, next_secret_from = $7
    WHERE business_id = $1 AND id = $2";

/// The caller holds the endpoint's lock.
pub(crate) async fn write_secrets(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: EndpointId,
    secrets: &EncryptedSecrets,
) -> Result<(), StoreError> {
    let next = secrets.next.as_ref();
    let written = statement(WRITE)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(id.to_string())
        .bind::<Binary, _>(secrets.current.ciphertext.as_slice())
        .bind::<Text, _>(secrets.current.key_id.as_str())
        .bind::<Nullable<Binary>, _>(next.map(|next| next.secret.ciphertext.as_slice()))
        .bind::<Nullable<Text>, _>(next.map(|next| next.secret.key_id.as_str()))
        .bind::<Nullable<Timestamptz>, _>(next.map(|next| next.from))
        .execute(conn)
        .await?;
    if written == 1 { Ok(()) } else { Err(corrupt("a locked endpoint does not exist")) }
}

const PROMOTE: &str = "
    UPDATE endpoints
    SET secret_ciphertext = next_secret_ciphertext, secret_key_id = next_secret_key_id,
        next_secret_ciphertext = NULL, next_secret_key_id = NULL, next_secret_from = NULL
    FROM (
        SELECT id, business_id FROM endpoints WHERE next_secret_from <= $1
        ORDER BY next_secret_from LIMIT $2
        FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE endpoints.id = due.id AND endpoints.business_id = due.business_id";

/// Makes up to `limit` staged secrets whose time has come the current ones. Returns their number. Serves all
/// businesses.
pub(crate) async fn promote_staged_secrets(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<usize, StoreError> {
    Ok(statement(PROMOTE).bind::<Timestamptz, _>(now).bind::<BigInt, _>(limit).execute(conn).await?)
}

const COUNT_OTHER_KEYS: &str = "
    SELECT count(*) AS count FROM endpoints
    WHERE deleted_at IS NULL
      AND (secret_key_id <> ALL ($1) OR (next_secret_key_id IS NOT NULL AND next_secret_key_id <> ALL ($1)))";

#[derive(QueryableByName)]
struct CountRow {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// The number of endpoints with a secret that none of these keys decrypts. Serves all businesses. Scans all endpoints,
/// which are few.
pub(crate) async fn count_secrets_of_other_keys(
    conn: &mut AsyncPgConnection,
    key_ids: &[String],
) -> Result<i64, StoreError> {
    let row: CountRow = statement(COUNT_OTHER_KEYS).bind::<Array<Text>, _>(key_ids).get_result(conn).await?;
    Ok(row.count)
}

/// An endpoint with a secret that another key encrypted.
pub(crate) struct EndpointSecrets {
    pub business: BusinessId,
    pub endpoint: EndpointId,
    pub secrets: EncryptedSecrets,
}

/// Locks the next endpoints after `after` that have a secret encrypted with another key than this one. Includes deleted
/// endpoints: their secrets are still stored. Serves all businesses.
pub(crate) async fn lock_secrets_of_other_keys(
    conn: &mut AsyncPgConnection,
    key_id: &str,
    after: Option<EndpointId>,
    limit: i64,
) -> Result<Vec<EndpointSecrets>, StoreError> {
    let rows: Vec<(String, String, SecretColumns)> = endpoints::table
        .filter(endpoints::id.gt(after.map(|id| id.to_string()).unwrap_or_default()))
        .filter(endpoints::secret_key_id.ne(key_id).or(endpoints::next_secret_key_id.ne(key_id)))
        .select((endpoints::business_id, endpoints::id, SecretColumns::as_select()))
        .order(endpoints::id)
        .limit(limit)
        .for_update()
        .load(conn)
        .await?;
    rows.into_iter()
        .map(|(business, endpoint, secrets)| {
            Ok(EndpointSecrets {
                business: business.parse().map_err(corrupt)?,
                endpoint: endpoint.parse().map_err(corrupt)?,
                secrets: secrets.into(),
            })
        })
        .collect()
}
