//! Rows of `api_keys`.

use chrono::{DateTime, Utc};
use diesel::prelude::{Insertable, Queryable, Selectable};
use postgres::StoreError;

use super::schema::api_keys;
use crate::domain::{Key, KeyHash};

#[derive(Queryable, Selectable)]
#[diesel(table_name = api_keys, check_for_backend(diesel::pg::Pg))]
pub(super) struct KeyRow {
    pub(super) id: String,
    business_id: String,
    mode: String,
    name: String,
    prefix: String,
    last_four: String,
    created_at: DateTime<Utc>,
    last_used_at: Option<DateTime<Utc>>,
    revoked_at: Option<DateTime<Utc>>,
    expires_at: Option<DateTime<Utc>>,
    rotated_from: Option<String>,
}

impl TryFrom<KeyRow> for Key {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.parse().map_err(corrupt)?,
            business_id: row.business_id.parse().map_err(corrupt)?,
            mode: row.mode.parse().map_err(corrupt)?,
            name: row.name,
            prefix: row.prefix,
            last_four: row.last_four,
            created_at: row.created_at,
            last_used_at: row.last_used_at,
            revoked_at: row.revoked_at,
            expires_at: row.expires_at,
            rotated_from: row.rotated_from.map(|id| id.parse()).transpose().map_err(corrupt)?,
        })
    }
}

pub(super) fn corrupt(error: impl std::fmt::Display) -> StoreError {
    StoreError::Corrupt(format!("api_keys: {error}"))
}

#[derive(Insertable)]
#[diesel(table_name = api_keys)]
pub(super) struct NewKeyRow<'a> {
    id: String,
    business_id: String,
    mode: &'a str,
    name: &'a str,
    key_hash: &'a [u8],
    prefix: &'a str,
    last_four: &'a str,
    created_at: DateTime<Utc>,
    rotated_from: Option<String>,
}

impl<'a> NewKeyRow<'a> {
    /// An unused, unrevoked key that was not rotated.
    pub(super) fn new(key: &'a Key, hash: &'a KeyHash) -> Self {
        Self {
            id: key.id.to_string(),
            business_id: key.business_id.to_string(),
            mode: key.mode.as_str(),
            name: &key.name,
            key_hash: hash,
            prefix: &key.prefix,
            last_four: &key.last_four,
            created_at: key.created_at,
            rotated_from: key.rotated_from.map(|id| id.to_string()),
        }
    }
}
