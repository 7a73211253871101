//! Rows of `api_keys`.

use chrono::{DateTime, Utc};
use diesel::prelude::{Insertable, Queryable, Selectable};
use domain::{IpAllowList, KeyRestrictions, KeyScope};
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
    created_by: Option<String>,
    scopes: Option<Vec<String>>,
    ip_allow_list: Option<Vec<String>>,
}

impl TryFrom<KeyRow> for Key {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        let scopes = row
            .scopes
            .map(|scopes| scopes.iter().map(|scope| scope.parse()).collect::<Result<Vec<KeyScope>, _>>());
        let restrictions = KeyRestrictions {
            scopes: scopes.transpose().map_err(corrupt)?,
            ip_allow_list: row.ip_allow_list.map(IpAllowList::try_from).transpose().map_err(corrupt)?,
        };
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
            created_by: row.created_by.map(|id| id.parse()).transpose().map_err(corrupt)?,
            restrictions,
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
    expires_at: Option<DateTime<Utc>>,
    rotated_from: Option<String>,
    created_by: Option<String>,
    scopes: Option<Vec<&'static str>>,
    ip_allow_list: Option<Vec<String>>,
}

impl<'a> NewKeyRow<'a> {
    /// An unused, unrevoked key that was not rotated.
    pub(super) fn new(key: &'a Key, hash: &'a KeyHash) -> Self {
        let KeyRestrictions { scopes, ip_allow_list } = &key.restrictions;
        Self {
            id: key.id.to_string(),
            business_id: key.business_id.to_string(),
            mode: key.mode.as_str(),
            name: &key.name,
            key_hash: hash,
            prefix: &key.prefix,
            last_four: &key.last_four,
            created_at: key.created_at,
            expires_at: key.expires_at,
            rotated_from: key.rotated_from.map(|id| id.to_string()),
            created_by: key.created_by.map(|id| id.to_string()),
            scopes: scopes.as_ref().map(|scopes| scopes.iter().map(|scope| scope.as_str()).collect()),
            ip_allow_list: ip_allow_list.as_ref().map(IpAllowList::to_texts),
        }
    }
}
