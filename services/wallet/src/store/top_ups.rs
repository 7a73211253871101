//! Top-ups.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Paise, TopUpId, TransferId};
use postgres::{StoreError, statement};

use super::columns::{expect_rows, parse};
use super::predicates::{has_idempotency_key, has_payment_reference, is_pending_top_up};
use super::schema::top_ups;
use crate::domain::{Payment, Provider, Status, TopUp};

/// The constraint that fails when two transactions credit the same payment at the same time.
pub(crate) const PAYMENT_CONFLICT: &str = "top_ups_payment_reference";

#[derive(Queryable, Selectable)]
#[diesel(table_name = top_ups, check_for_backend(diesel::pg::Pg))]
struct TopUpRow {
    id: String,
    business_id: String,
    provider: String,
    provider_reference: Option<String>,
    payment_reference: Option<String>,
    idempotency_key: Option<String>,
    amount_paise: i64,
    status: String,
    created_at: DateTime<Utc>,
}

impl TopUpRow {
    fn into_top_up(self) -> Result<TopUp, StoreError> {
        Ok(TopUp {
            id: parse("top_ups.id", &self.id)?,
            business: parse("top_ups.business_id", &self.business_id)?,
            provider: parse("top_ups.provider", &self.provider)?,
            provider_reference: self.provider_reference,
            payment_reference: self.payment_reference,
            idempotency_key: self.idempotency_key,
            amount: Paise::new(self.amount_paise),
            status: parse("top_ups.status", &self.status)?,
            created_at: self.created_at,
        })
    }
}

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    top_up: &TopUp,
    next_check_at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let changed = diesel::insert_into(top_ups::table)
        .values((
            top_ups::id.eq(top_up.id.to_string()),
            top_ups::business_id.eq(top_up.business.to_string()),
            top_ups::provider.eq(top_up.provider.as_str()),
            top_ups::idempotency_key.eq(top_up.idempotency_key.as_deref()),
            top_ups::amount_paise.eq(top_up.amount.get()),
            top_ups::status.eq(top_up.status.as_str()),
            top_ups::next_check_at.eq(next_check_at),
            top_ups::created_at.eq(top_up.created_at),
        ))
        .execute(conn)
        .await?;
    expect_rows("inserting a top-up", 1, changed)
}

/// Pending top-ups of a business, oldest first.
pub(crate) async fn pending(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    limit: i64,
) -> Result<Vec<TopUp>, StoreError> {
    let rows = top_ups::table
        .filter(top_ups::business_id.eq(business.to_string()))
        .filter(is_pending_top_up())
        .order(top_ups::id)
        .limit(limit)
        .select(TopUpRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(TopUpRow::into_top_up).collect()
}

/// The transfer of a credited top-up.
pub(crate) async fn transfer_of(
    conn: &mut AsyncPgConnection,
    top_up: &TopUp,
) -> Result<TransferId, StoreError> {
    let id: Option<String> = top_ups::table
        .find((top_up.id.to_string(), top_up.business.to_string()))
        .select(top_ups::transfer_id)
        .first(conn)
        .await?;
    let id = id.ok_or_else(|| StoreError::Corrupt(format!("{} has no transfer", top_up.id)))?;
    parse("top_ups.transfer_id", &id)
}

pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: TopUpId,
) -> Result<Option<TopUp>, StoreError> {
    let row = top_ups::table
        .find((id.to_string(), business.to_string()))
        .select(TopUpRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(TopUpRow::into_top_up).transpose()
}

/// The top-up with this idempotency key.
pub(crate) async fn find_by_key(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    key: &str,
) -> Result<Option<TopUp>, StoreError> {
    let row = top_ups::table
        .filter(top_ups::business_id.eq(business.to_string()))
        .filter(top_ups::idempotency_key.eq(key))
        .filter(has_idempotency_key())
        .select(TopUpRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(TopUpRow::into_top_up).transpose()
}

/// The top-up with the provider's id, of any business: the provider's signature authorises the access.
pub(crate) async fn find_by_reference(
    conn: &mut AsyncPgConnection,
    provider: Provider,
    reference: &str,
) -> Result<Option<TopUp>, StoreError> {
    let row = top_ups::table
        .filter(top_ups::provider.eq(provider.as_str()))
        .filter(top_ups::provider_reference.eq(reference))
        .filter(top_ups::provider_reference.is_not_null())
        .select(TopUpRow::as_select())
        .first(conn)
        .await
        .optional()?;
    row.map(TopUpRow::into_top_up).transpose()
}

/// Whether this payment was credited to another top-up, of any business: a provider's payment ids are unique.
pub(crate) async fn is_credited_to_another(
    conn: &mut AsyncPgConnection,
    top_up: &TopUp,
    payment: &Payment,
) -> Result<bool, StoreError> {
    let other = top_ups::table
        .filter(top_ups::provider.eq(top_up.provider.as_str()))
        .filter(top_ups::payment_reference.eq(&payment.reference))
        .filter(has_payment_reference())
        .filter(top_ups::id.ne(top_up.id.to_string()));
    Ok(diesel::select(diesel::dsl::exists(other)).get_result(conn).await?)
}

pub(crate) async fn lock(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: TopUpId,
) -> Result<Option<TopUp>, StoreError> {
    let row = top_ups::table
        .find((id.to_string(), business.to_string()))
        .select(TopUpRow::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()?;
    row.map(TopUpRow::into_top_up).transpose()
}

/// Stores the provider's id of a top-up. If another attempt stored one before, that id stays: customers pay the first one.
pub(crate) async fn set_provider_reference(
    conn: &mut AsyncPgConnection,
    top_up: &TopUp,
    reference: &str,
) -> Result<(), StoreError> {
    let changed = diesel::update(top_ups::table.find((top_up.id.to_string(), top_up.business.to_string())))
        .filter(top_ups::provider_reference.is_null())
        .set(top_ups::provider_reference.eq(reference))
        .execute(conn)
        .await?;
    // Zero rows: another attempt was first.
    if changed > 1 { expect_rows("setting a provider reference", 1, changed) } else { Ok(()) }
}

/// Marks a top-up as paid by this payment and credited by this transfer.
pub(crate) async fn succeed(
    conn: &mut AsyncPgConnection,
    top_up: &TopUp,
    payment: &Payment,
    transfer: TransferId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let changed = diesel::update(top_ups::table.find((top_up.id.to_string(), top_up.business.to_string())))
        .filter(top_ups::transfer_id.is_null())
        .set((
            top_ups::status.eq(Status::Succeeded.as_str()),
            top_ups::transfer_id.eq(transfer.to_string()),
            top_ups::payment_reference.eq(&payment.reference),
            top_ups::settled_at.eq(now),
        ))
        .execute(conn)
        .await?;
    expect_rows("completing a top-up", 1, changed)
}

/// Marks a pending top-up as failed; any other top-up stays unchanged. Releases the idempotency key, so that the business
/// can retry with it.
pub(crate) async fn fail(
    conn: &mut AsyncPgConnection,
    top_up: &TopUp,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let changed = diesel::update(top_ups::table.find((top_up.id.to_string(), top_up.business.to_string())))
        .filter(is_pending_top_up())
        .set((
            top_ups::status.eq(Status::Failed.as_str()),
            top_ups::idempotency_key.eq(None::<String>),
            top_ups::settled_at.eq(now),
        ))
        .execute(conn)
        .await?;
    if changed > 1 { expect_rows("failing a top-up", 1, changed) } else { Ok(()) }
}

/// Up to `limit` pending top-ups that are due for a check and not locked by another instance: the first of each business, so
/// that businesses take turns. The caller schedules their next check with [`schedule_check`].
pub(crate) async fn lock_due(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<TopUp>, StoreError> {
    let ids: Vec<Id> =
        statement(FIRST_DUE).bind::<Timestamptz, _>(now).bind::<BigInt, _>(limit).load(conn).await?;
    let rows = top_ups::table
        .filter(top_ups::id.eq_any(ids.into_iter().map(|row| row.id)))
        .filter(is_pending_top_up())
        .filter(top_ups::next_check_at.le(now))
        .order(top_ups::next_check_at)
        .select(TopUpRow::as_select())
        .for_update()
        .skip_locked()
        .load(conn)
        .await?;
    rows.into_iter().map(TopUpRow::into_top_up).collect()
}

const FIRST_DUE: &str = "
    SELECT id FROM (
        SELECT DISTINCT ON (business_id) id, next_check_at FROM top_ups
        WHERE status = 'pending' AND next_check_at <= $1
        ORDER BY business_id, next_check_at
    ) AS first ORDER BY next_check_at LIMIT $2";

#[derive(QueryableByName)]
struct Id {
    #[diesel(sql_type = Text)]
    id: String,
}

pub(crate) async fn schedule_check(
    conn: &mut AsyncPgConnection,
    top_up: &TopUp,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let changed = diesel::update(top_ups::table.find((top_up.id.to_string(), top_up.business.to_string())))
        .set(top_ups::next_check_at.eq(at))
        .execute(conn)
        .await?;
    expect_rows("scheduling a check of a top-up", 1, changed)
}
