//! Refunds and lost disputes of top-ups at the provider.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::Paise;
use postgres::StoreError;

use super::columns::expect_rows;
use super::schema::top_up_reversals;
use crate::domain::{Provider, Reversal, TopUp};

/// The stored amount; zero if the provider gave the money back before it reported that it took it.
pub(crate) async fn amount_of(
    conn: &mut AsyncPgConnection,
    provider: Provider,
    reference: &str,
) -> Result<Option<Paise>, StoreError> {
    let amount: Option<i64> = top_up_reversals::table
        .find((provider.as_str(), reference))
        .select(top_up_reversals::amount_paise)
        .first(conn)
        .await
        .optional()?;
    Ok(amount.map(Paise::new))
}

/// References and amounts for this payment, oldest first.
pub(crate) async fn of_payment(
    conn: &mut AsyncPgConnection,
    top_up: &TopUp,
    payment: &str,
) -> Result<Vec<(String, Paise)>, StoreError> {
    let rows: Vec<(String, i64)> = top_up_reversals::table
        .filter(top_up_reversals::top_up_id.eq(top_up.id.to_string()))
        .filter(top_up_reversals::business_id.eq(top_up.business.to_string()))
        .filter(top_up_reversals::payment_reference.eq(payment))
        .filter(top_up_reversals::amount_paise.gt(0))
        .order((top_up_reversals::received_at, top_up_reversals::reference))
        .select((top_up_reversals::reference, top_up_reversals::amount_paise))
        .load(conn)
        .await?;
    Ok(rows.into_iter().map(|(reference, amount)| (reference, Paise::new(amount))).collect())
}

pub(crate) async fn total(
    conn: &mut AsyncPgConnection,
    top_up: &TopUp,
    payment: &str,
) -> Result<Paise, StoreError> {
    let amounts = of_payment(conn, top_up, payment).await?.into_iter().map(|(_, amount)| amount.get());
    Ok(Paise::new(amounts.sum()))
}

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    top_up: &TopUp,
    reversal: &Reversal,
    amount: Paise,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let touched = diesel::insert_into(top_up_reversals::table)
        .values((
            top_up_reversals::provider.eq(top_up.provider.as_str()),
            top_up_reversals::reference.eq(&reversal.reference),
            top_up_reversals::business_id.eq(top_up.business.to_string()),
            top_up_reversals::top_up_id.eq(top_up.id.to_string()),
            top_up_reversals::payment_reference.eq(&reversal.payment),
            top_up_reversals::amount_paise.eq(amount.get()),
            top_up_reversals::received_at.eq(now),
        ))
        .execute(conn)
        .await?;
    expect_rows("inserting a reversal", 1, touched)
}
