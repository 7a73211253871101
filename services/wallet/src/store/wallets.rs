//! Wallets. A balance changes only while its row is locked, together with the entry that explains the change.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Paise};
use postgres::StoreError;

use super::columns::{expect_rows, parse};
use super::schema::wallets;
use crate::domain::Wallet;

#[derive(Queryable, Selectable)]
#[diesel(table_name = wallets, check_for_backend(diesel::pg::Pg))]
struct WalletRow {
    business_id: String,
    balance_paise: i64,
    entry_count: i64,
    low_balance_threshold_paise: Option<i64>,
    funded_at: Option<DateTime<Utc>>,
}

/// A wallet with its settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalletRecord {
    pub(crate) business: BusinessId,
    pub(crate) wallet: Wallet,
    /// Set by the business; `None` means the operator's default.
    pub(crate) low_balance_threshold: Option<Paise>,
    pub(crate) funded_at: Option<DateTime<Utc>>,
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

/// Businesses with a wallet whose ids follow `after`, in the order of their ids.
pub(crate) async fn businesses(
    conn: &mut AsyncPgConnection,
    after: &str,
    limit: i64,
) -> Result<Vec<BusinessId>, StoreError> {
    let ids: Vec<String> = wallets::table
        .filter(wallets::business_id.gt(after))
        .select(wallets::business_id)
        .order(wallets::business_id)
        .limit(limit)
        .load(conn)
        .await?;
    ids.iter().map(|id| parse("wallets.business_id", id)).collect()
}

/// The balances of those of these businesses that have a wallet.
pub(crate) async fn balances(
    conn: &mut AsyncPgConnection,
    businesses: &[BusinessId],
) -> Result<Vec<(BusinessId, Paise)>, StoreError> {
    let ids: Vec<String> = businesses.iter().map(BusinessId::to_string).collect();
    let rows: Vec<(String, i64)> = wallets::table
        .filter(wallets::business_id.eq_any(ids))
        .select((wallets::business_id, wallets::balance_paise))
        .load(conn)
        .await?;
    let balance =
        |(id, balance): (String, i64)| Ok((parse("wallets.business_id", &id)?, Paise::new(balance)));
    rows.into_iter().map(balance).collect()
}

/// Locks the existing wallets of these businesses, in the order of their ids, so that transactions with common wallets wait
/// for each other instead of deadlocking.
pub(crate) async fn lock(
    mut conn: &AsyncPgConnection,
    businesses: &[BusinessId],
) -> Result<Vec<WalletRecord>, StoreError> {
    let ids: Vec<String> = businesses.iter().map(BusinessId::to_string).collect();
    let rows = wallets::table
        .filter(wallets::business_id.eq_any(ids))
        .order(wallets::business_id)
        .select(WalletRow::as_select())
        .for_no_key_update()
        .load(&mut conn)
        .await?;
    rows.into_iter().map(WalletRow::into_record).collect()
}

/// Locks the wallet, and creates it if it does not exist.
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
    created.ok_or_else(|| StoreError::Corrupt("a wallet disappeared right after its creation".into()))
}

/// Records the time of the first deposit. True for the first one.
pub(crate) async fn mark_funded(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let changed = diesel::update(wallets::table.find(business.to_string()))
        .filter(wallets::funded_at.is_null())
        .set(wallets::funded_at.eq(now))
        .execute(conn)
        .await?;
    Ok(changed == 1)
}

/// Sets the threshold of the business; `None` restores the operator's default.
pub(crate) async fn set_threshold(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    threshold: Option<Paise>,
) -> Result<(), StoreError> {
    let changed = diesel::update(wallets::table.find(business.to_string()))
        .set(wallets::low_balance_threshold_paise.eq(threshold.map(Paise::get)))
        .execute(conn)
        .await?;
    expect_rows("setting a threshold", 1, changed)
}
