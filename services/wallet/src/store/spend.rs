//! Fees, those of further attempts, and refunds of a wallet per day in a time zone.

use std::collections::HashSet;

use chrono::{DateTime, NaiveDate, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Date, Integer, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::{StoreError, statement};

/// A range of days, and the start of the first day.
#[derive(Clone, Copy, Debug, QueryableByName)]
pub(crate) struct DayRange {
    #[diesel(sql_type = Date)]
    pub(crate) first: NaiveDate,
    #[diesel(sql_type = Date)]
    pub(crate) last: NaiveDate,
    #[diesel(sql_type = Timestamptz)]
    pub(crate) since: DateTime<Utc>,
}

/// The sum of one day.
#[derive(Clone, Copy, Debug, QueryableByName)]
pub(crate) struct DaySum {
    #[diesel(sql_type = Date)]
    pub(crate) day: NaiveDate,
    #[diesel(sql_type = BigInt)]
    pub(crate) amount_paise: i64,
    #[diesel(sql_type = BigInt)]
    pub(crate) orders: i64,
}

#[derive(QueryableByName)]
struct Name {
    #[diesel(sql_type = Text)]
    name: String,
}

#[derive(QueryableByName)]
struct Sequence {
    #[diesel(sql_type = BigInt)]
    low: i64,
}

const ZONES: &str = "SELECT name FROM pg_timezone_names WHERE name NOT LIKE 'posix%'";

const DAYS: &str = "
    SELECT day - ($3 - 1) AS first, day AS last, (day - ($3 - 1))::timestamp AT TIME ZONE $2 AS since
    FROM (SELECT ($1 AT TIME ZONE $2)::date AS day) AS today";

/// Entries are numbered without gaps and, apart from the duration of a transaction, in the order of their times. A binary
/// search therefore finds the first entry since a time, and no index by time has to be updated with each fee.
const FIRST_SINCE: &str = "
    WITH RECURSIVE search AS (
        SELECT 1::bigint AS low, entry_count + 1 AS high FROM wallets WHERE business_id = $1
        UNION ALL
        SELECT CASE WHEN early THEN middle + 1 ELSE low END, CASE WHEN early THEN high ELSE middle END
        FROM (
            SELECT low, high, middle, (
                SELECT created_at < $2 - interval '1 minute' FROM entries
                WHERE business_id = $1 AND sequence = middle) AS early
            FROM (SELECT low, high, (low + high) / 2 AS middle FROM search WHERE low < high) AS halved) AS probed)
    SELECT low FROM search WHERE low = high";

/// Few transfers besides fees reduce a wallet, so the query reads only those.
const FEES: &str = "
    SELECT (created_at AT TIME ZONE $4)::date AS day, (-sum(amount_paise))::bigint AS amount_paise, count(*) AS orders
    FROM entries
    WHERE business_id = $1 AND sequence IS NOT NULL AND sequence >= $2 AND created_at >= $3 AND amount_paise < 0
        AND transfer_id NOT IN (SELECT id FROM transfers WHERE business_id = $1 AND kind <> 'delivery_fee'
            AND kind IN ('operator_debit', 'top_up_reversal', 'receivable_payment'))
    GROUP BY 1";

/// Uses the index `transfers_beside_fees`: refunds are rare compared with fees.
const REFUNDS: &str = "
    SELECT (entries.created_at AT TIME ZONE $3)::date AS day, sum(entries.amount_paise)::bigint AS amount_paise,
        count(*) AS orders
    FROM transfers
    JOIN entries ON entries.transfer_id = transfers.id AND entries.business_id = transfers.business_id
        AND entries.account = 'business_wallet'
    WHERE transfers.business_id = $1 AND transfers.kind <> 'delivery_fee' AND transfers.kind = 'refund'
        AND transfers.created_at >= $2 - interval '1 minute' AND entries.created_at >= $2
    GROUP BY 1";

/// The fees of further attempts, with what is owed of them: both are in the operator's account. By the same index. No other
/// debit has such a reference ([`domain::is_attempt_fee_reference`]).
const ATTEMPT_FEES: &str = "
    SELECT (transfers.created_at AT TIME ZONE $3)::date AS day, sum(entries.amount_paise)::bigint AS amount_paise,
        0::bigint AS orders
    FROM transfers
    JOIN entries ON entries.transfer_id = transfers.id AND entries.business_id = transfers.business_id
        AND entries.account = 'operator_credits'
    WHERE transfers.business_id = $1 AND transfers.kind <> 'delivery_fee'
        AND transfers.kind IN ('operator_debit', 'operator_debit_shortfall')
        AND transfers.reference ~ '^attempt-[0-9]+-ord_[0-9A-Z]{26}$' AND transfers.created_at >= $2
    GROUP BY 1";

/// The names of all time zones. The database reads a file for each, so callers should cache them.
pub(crate) async fn time_zones(conn: &mut AsyncPgConnection) -> Result<HashSet<String>, StoreError> {
    let names: Vec<Name> = statement(ZONES).load(conn).await?;
    Ok(names.into_iter().map(|zone| zone.name).collect())
}

/// The last `count` days, including today.
pub(crate) async fn days(
    conn: &mut AsyncPgConnection,
    now: DateTime<Utc>,
    time_zone: &str,
    count: i32,
) -> Result<DayRange, StoreError> {
    let days = statement(DAYS)
        .bind::<Timestamptz, _>(now)
        .bind::<Text, _>(time_zone)
        .bind::<Integer, _>(count)
        .get_result(conn)
        .await?;
    Ok(days)
}

/// The number of the first entry since a time, or of an entry shortly before it. `None` without a wallet.
pub(super) async fn first_since(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    since: DateTime<Utc>,
) -> Result<Option<i64>, StoreError> {
    let first: Option<Sequence> = statement(FIRST_SINCE)
        .bind::<Text, _>(business.to_string())
        .bind::<Timestamptz, _>(since)
        .get_result(conn)
        .await
        .optional()?;
    Ok(first.map(|first| first.low))
}

/// The fees of a wallet since a time, per day.
pub(crate) async fn fees(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    since: DateTime<Utc>,
    time_zone: &str,
) -> Result<Vec<DaySum>, StoreError> {
    let Some(first) = first_since(conn, business, since).await? else { return Ok(Vec::new()) };
    Ok(statement(FEES)
        .bind::<Text, _>(business.to_string())
        .bind::<BigInt, _>(first)
        .bind::<Timestamptz, _>(since)
        .bind::<Text, _>(time_zone)
        .load(conn)
        .await?)
}

/// The fees of further attempts since a time, per day on which an attempt began.
pub(crate) async fn attempt_fees(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    since: DateTime<Utc>,
    time_zone: &str,
) -> Result<Vec<DaySum>, StoreError> {
    beside_fees(conn, ATTEMPT_FEES, business, since, time_zone).await
}

/// The refunds of a wallet since a time, per day of the refund.
pub(crate) async fn refunds(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    since: DateTime<Utc>,
    time_zone: &str,
) -> Result<Vec<DaySum>, StoreError> {
    beside_fees(conn, REFUNDS, business, since, time_zone).await
}

async fn beside_fees(
    conn: &mut AsyncPgConnection,
    sums: &'static str,
    business: BusinessId,
    since: DateTime<Utc>,
    time_zone: &str,
) -> Result<Vec<DaySum>, StoreError> {
    Ok(statement(sums)
        .bind::<Text, _>(business.to_string())
        .bind::<Timestamptz, _>(since)
        .bind::<Text, _>(time_zone)
        .load(conn)
        .await?)
}
