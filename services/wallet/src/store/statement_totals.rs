//! The balance of a wallet before and after a period, and what moved in between.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::{StoreError, statement};

use super::spend::first_since;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, QueryableByName)]
pub(crate) struct StatementTotals {
    #[diesel(sql_type = BigInt)]
    pub(crate) opening_paise: i64,
    #[diesel(sql_type = BigInt)]
    pub(crate) in_paise: i64,
    /// Negative.
    #[diesel(sql_type = BigInt)]
    pub(crate) out_paise: i64,
    #[diesel(sql_type = BigInt)]
    pub(crate) entries: i64,
}

/// Entries are nearly sorted by time: `$2` and `$3` bound the range that is read, and the times decide.
const TOTALS: &str = "
    SELECT coalesce((SELECT balance_after_paise FROM entries WHERE business_id = $1 AND sequence = $2 - 1), 0)
            + coalesce(sum(amount_paise) FILTER (WHERE created_at < $4), 0)::bigint AS opening_paise,
        coalesce(sum(amount_paise) FILTER (WHERE created_at >= $4 AND created_at < $5 AND amount_paise > 0), 0)::bigint
            AS in_paise,
        coalesce(sum(amount_paise) FILTER (WHERE created_at >= $4 AND created_at < $5 AND amount_paise < 0), 0)::bigint
            AS out_paise,
        count(*) FILTER (WHERE created_at >= $4 AND created_at < $5) AS entries
    FROM entries
    WHERE business_id = $1 AND sequence IS NOT NULL AND sequence >= $2 AND sequence < $3";

/// Longer than a transaction takes, twice: the search for an entry allows for one minute.
const MARGIN: TimeDelta = TimeDelta::minutes(2);

/// The totals of the entries from `since` up to `until`, which are zero without a wallet.
pub(crate) async fn of_period(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    (since, until): (DateTime<Utc>, DateTime<Utc>),
) -> Result<StatementTotals, StoreError> {
    let Some(first) = first_since(conn, business, since).await? else {
        return Ok(StatementTotals::default());
    };
    let end = first_since(conn, business, until + MARGIN).await?.unwrap_or(i64::MAX);
    Ok(statement(TOTALS)
        .bind::<Text, _>(business.to_string())
        .bind::<BigInt, _>(first)
        .bind::<BigInt, _>(end)
        .bind::<Timestamptz, _>(since)
        .bind::<Timestamptz, _>(until)
        .get_result(conn)
        .await?)
}
