//! Top-ups: what a business asked the payment provider to collect, and whether it came in.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Paise, TopUpId, TransferId};
use postgres::StoreError;
use strum::{EnumString, IntoStaticStr};

use super::columns::{expect_rows, parse};
use super::schema::top_ups;
use crate::payments::Provider;

/// How far a top-up is. `Failed` is for providers that can say no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Status {
    Pending,
    Succeeded,
    Failed,
}

impl Status {
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A top-up as it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TopUp {
    pub(crate) id: TopUpId,
    pub(crate) business: BusinessId,
    pub(crate) provider: Provider,
    pub(crate) amount: Paise,
    pub(crate) status: Status,
    pub(crate) created_at: DateTime<Utc>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = top_ups, check_for_backend(diesel::pg::Pg))]
struct TopUpRow {
    id: String,
    business_id: String,
    provider: String,
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
            amount: Paise::new(self.amount_paise),
            status: parse("top_ups.status", &self.status)?,
            created_at: self.created_at,
        })
    }
}

pub(crate) async fn insert(conn: &mut AsyncPgConnection, top_up: &TopUp) -> Result<(), StoreError> {
    let touched = diesel::insert_into(top_ups::table)
        .values((
            top_ups::id.eq(top_up.id.to_string()),
            top_ups::business_id.eq(top_up.business.to_string()),
            top_ups::provider.eq(top_up.provider.as_str()),
            top_ups::amount_paise.eq(top_up.amount.get()),
            top_ups::status.eq(top_up.status.as_str()),
            top_ups::created_at.eq(top_up.created_at),
        ))
        .execute(conn)
        .await?;
    expect_rows("inserting a top-up", 1, touched)
}

/// Locks a top-up, so that it is settled once.
pub(crate) async fn lock(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    id: TopUpId,
) -> Result<Option<TopUp>, StoreError> {
    let row = top_ups::table
        .find(id.to_string())
        .filter(top_ups::business_id.eq(business.to_string()))
        .select(TopUpRow::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()?;
    row.map(TopUpRow::into_top_up).transpose()
}

/// Marks a pending top-up as paid by this transfer.
pub(crate) async fn succeed(
    conn: &mut AsyncPgConnection,
    top_up: &TopUp,
    transfer: TransferId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let touched = diesel::update(top_ups::table.find(top_up.id.to_string()))
        .filter(top_ups::business_id.eq(top_up.business.to_string()))
        .filter(top_ups::status.eq(Status::Pending.as_str()))
        .set((
            top_ups::status.eq(Status::Succeeded.as_str()),
            top_ups::transfer_id.eq(transfer.to_string()),
            top_ups::settled_at.eq(now),
        ))
        .execute(conn)
        .await?;
    expect_rows("settling a top-up", 1, touched)
}
