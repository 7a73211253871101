//! Wallets: who has how much. A balance is changed under its row's lock only, together with the entry that explains it.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Paise};
use postgres::StoreError;

use super::columns::{expect_rows, parse};
use super::schema::wallets;
use crate::domain::{Wallet, WalletRecord};

#[derive(Queryable, Selectable)]
#[diesel(table_name = wallets, check_for_backend(diesel::pg::Pg))]
struct WalletRow {
    business_id: String,
    balance_paise: i64,
    entry_count: i64,
    low_balance_threshold_paise: Option<i64>,
    funded_at: Option<DateTime<Utc>>,
}

impl WalletRow {
    fn into_record(self) -> Result<WalletRecord, StoreError> {
        let balance = Paise::new(self.balance_paise);
        Ok(WalletRecord {
            business: parse("wallets.business_id", &self.business_id)?,
            wallet: Wallet { balance, entry_count: self.entry_count },
            low_balance_threshold: self.low_balance_threshold_paise.map(Paise::new),
            funded_at: self.funded_at,
        })
    }
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
) -> Result<Option<WalletRecord>, StoreError> {
    let row = wallets::table
        .find(business.to_string())
        .select(WalletRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(WalletRow::into_record).transpose()
}

/// Which businesses have a wallet, in the order of their ids, behind this one. Serves all businesses.
pub(crate) async fn businesses(
    conn: &mut AsyncPgConnection,
    behind: &str,
    limit: usize,
) -> Result<Vec<BusinessId>, StoreError> {
    let ids: Vec<String> = wallets::table
        .filter(wallets::business_id.gt(behind))
        .select(wallets::business_id)
        .order(wallets::business_id)
        .limit(i64::try_from(limit).unwrap_or(i64::MAX))
        .load(conn)
        .await?;
    ids.iter().map(|id| parse("wallets.business_id", id)).collect()
}

/// Locks the wallets of these businesses, as far as they have one. Rows are locked in the order of their ids, so that
/// two transactions that want the same ones wait for each other instead of dying of each other.
pub(crate) async fn lock(
    conn: &mut AsyncPgConnection,
    businesses: &[BusinessId],
) -> Result<Vec<WalletRecord>, StoreError> {
    let ids: Vec<String> = businesses.iter().map(BusinessId::to_string).collect();
    let rows = wallets::table
        .filter(wallets::business_id.eq_any(ids))
        .order(wallets::business_id)
        .select(WalletRow::as_select())
        .for_no_key_update()
        .load(conn)
        .await?;
    rows.into_iter().map(WalletRow::into_record).collect()
}

/// Locks a wallet that money is about to come into, and makes it first where there is none.
pub(crate) async fn lock_or_create(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    now: DateTime<Utc>,
) -> Result<WalletRecord, StoreError> {
    if let Some(found) = lock(conn, &[business]).await?.pop() {
        return Ok(found);
    }
    diesel::insert_into(wallets::table)
        .values((wallets::business_id.eq(business.to_string()), wallets::created_at.eq(now)))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    let created = lock(conn, &[business]).await?.pop();
    created.ok_or_else(|| StoreError::Corrupt("a wallet is gone as soon as it is made".into()))
}

/// Notes when money first came in. True the first time.
pub(crate) async fn mark_funded(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let touched = diesel::update(wallets::table.find(business.to_string()))
        .filter(wallets::funded_at.is_null())
        .set(wallets::funded_at.eq(now))
        .execute(conn)
        .await?;
    Ok(touched == 1)
}

/// Sets the business's own threshold; `None` goes back to the operator's default.
pub(crate) async fn set_threshold(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    threshold: Option<Paise>,
) -> Result<(), StoreError> {
    let touched = diesel::update(wallets::table.find(business.to_string()))
        .set(wallets::low_balance_threshold_paise.eq(threshold.map(Paise::get)))
        .execute(conn)
        .await?;
    expect_rows("setting a threshold", 1, touched)
}
