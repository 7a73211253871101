//! Notices of payment providers, each stored once.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::StoreError;

use super::columns::{expect_rows, parse};
use super::schema::payment_notices;
use crate::domain::{Notice, NoticeOutcome, Provider, TopUp};

/// The outcome of this notice, if it was processed before.
pub(crate) async fn find(
    conn: &mut AsyncPgConnection,
    provider: Provider,
    event_id: &str,
) -> Result<Option<NoticeOutcome>, StoreError> {
    let outcome = payment_notices::table
        .find((provider.as_str(), event_id))
        .select(payment_notices::outcome)
        .first::<String>(conn)
        .await
        .optional()?;
    outcome.map(|outcome| parse("payment_notices.outcome", &outcome)).transpose()
}

pub(crate) async fn insert(
    conn: &mut AsyncPgConnection,
    notice: &Notice,
    top_up: &TopUp,
    outcome: NoticeOutcome,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let touched = diesel::insert_into(payment_notices::table)
        .values((
            payment_notices::provider.eq(top_up.provider.as_str()),
            payment_notices::event_id.eq(&notice.event_id),
            payment_notices::business_id.eq(top_up.business.to_string()),
            payment_notices::top_up_id.eq(top_up.id.to_string()),
            payment_notices::kind.eq(&notice.kind),
            payment_notices::payment_reference.eq(notice.payment.as_ref().map(|payment| &payment.reference)),
            payment_notices::outcome.eq(outcome.as_str()),
            payment_notices::received_at.eq(now),
        ))
        .execute(conn)
        .await?;
    expect_rows("inserting a payment notice", 1, touched)
}
