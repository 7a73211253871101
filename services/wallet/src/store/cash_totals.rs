//! Sums of cash by location and age. They read only outstanding cash, which is little compared with all cash. Once every
//! step is reported they equal the cash accounts of the ledger, but for what closed differences leave there. For missing steps
//! they assume that no cash was lost.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Integer, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, Paise};
use postgres::StoreError;

use super::cash_differences::{is_closed, open_discrepant, open_reported};
use super::columns::parse;

/// The period of "recently settled".
const RECENT: TimeDelta = TimeDelta::days(30);

/// The age ranges of outstanding cash, in days.
pub(crate) const AGES: [&str; 4] = ["0-1", "1-3", "3-7", "7+"];

/// Outstanding cash by location and by age.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    /// Delivered, but not reported as collected.
    pub(crate) pending: Paise,
    /// Collected, but not handed over.
    pub(crate) with_drivers: Paise,
    /// Of it: what orders lacked when they were handed over.
    pub(crate) handed_over_short: Paise,
    /// Handed over, but not settled. Negative if more was settled.
    pub(crate) with_operator: Paise,
    /// Orders and amount, in the order of [`AGES`].
    pub(crate) by_age: [(i64, Paise); AGES.len()],
    /// Orders and amount that are not settled although the promised day is over.
    pub(crate) late: (i64, Paise),
    pub(crate) settled_recently: Paise,
    /// Orders with an open difference.
    pub(crate) discrepancies: i64,
}

#[derive(QueryableByName)]
struct OutstandingRow {
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = Integer)]
    age: i32,
    #[diesel(sql_type = BigInt)]
    orders: i64,
    #[diesel(sql_type = BigInt)]
    pending_paise: i64,
    #[diesel(sql_type = BigInt)]
    with_drivers_paise: i64,
    #[diesel(sql_type = BigInt)]
    handed_over_short_paise: i64,
    #[diesel(sql_type = BigInt)]
    with_operator_paise: i64,
}

#[derive(QueryableByName)]
struct SumRow {
    #[diesel(sql_type = Text)]
    business_id: String,
    #[diesel(sql_type = BigInt)]
    sum: i64,
}

/// As in `cash_outstanding`. Nothing more is due of a settled order whose difference is closed.
macro_rules! is_outstanding {
    () => {
        concat!(
            "(settled_at IS NULL
                OR settled_paise <> coalesce(collected_paise, expected_paise, handed_over_paise, settled_paise))
            AND (settled_at IS NULL OR NOT ",
            is_closed!(),
            ")"
        )
    };
}

/// The operator owes the collected cash, minus the settled cash. Before the collection is reported, it owes the expected
/// cash. Drivers hold collected cash that is not handed over, the operator holds handed over cash that is not settled.
const OUTSTANDING: &str = concat!(
    "SELECT business_id,
        CASE WHEN due_since > $2 - interval '1 day' THEN 0 WHEN due_since > $2 - interval '3 days' THEN 1
            WHEN due_since > $2 - interval '7 days' THEN 2 ELSE 3 END AS age,
        count(*) AS orders,
        coalesce(sum(owed) FILTER (WHERE is_pending), 0)::bigint AS pending_paise,
        coalesce(sum(owed - passed_on) FILTER (WHERE NOT is_pending), 0)::bigint AS with_drivers_paise,
        coalesce(sum(owed - passed_on) FILTER (WHERE coalesce(handed_over_at, settled_at) IS NOT NULL), 0)::bigint
            AS handed_over_short_paise,
        coalesce(sum(passed_on - coalesce(settled_paise, 0)) FILTER (WHERE NOT is_pending), 0)::bigint
            AS with_operator_paise
    FROM cash
    CROSS JOIN LATERAL (SELECT
        coalesce(collected_at, handed_over_at, settled_at) IS NULL AS is_pending,
        coalesce(collected_paise, expected_paise, handed_over_paise, settled_paise) AS owed,
        coalesce(handed_over_paise, settled_paise, 0) AS passed_on) AS held
    WHERE business_id = ANY($1) AND ",
    is_outstanding!(),
    " GROUP BY 1, 2"
);
const SETTLED: &str = "
    SELECT business_id, sum(settled_paise)::bigint AS sum FROM cash
    WHERE business_id = ANY($1) AND settled_at IS NOT NULL AND settled_at >= $2 GROUP BY 1";
const DISCREPANCIES: &str = concat!(
    "SELECT business_id, count(*) AS sum FROM (",
    open_discrepant!(),
    " AND business_id = ANY($1) UNION ",
    open_reported!(),
    " AND business_id = ANY($1)) AS open GROUP BY 1"
);

/// `$1` is the time of [`crate::domain::CashTerms::late_before`].
macro_rules! late {
    ($business:literal, $condition:literal) => {
        concat!(
            "SELECT ",
            $business,
            " AS business_id, count(*) AS orders, coalesce(min(due_since), $1) AS due_since,
                coalesce(sum(coalesce(collected_paise, expected_paise, handed_over_paise)), 0)::bigint AS sum
            FROM cash WHERE settled_at IS NULL AND due_since < $1",
            $condition
        )
    };
}

pub(super) use late;

const LATE: &str = late!("business_id", " AND business_id = ANY($2) GROUP BY business_id");
/// Of all businesses, for the operator's metric.
const LATE_OF_ALL: &str = late!("''", "");

#[derive(QueryableByName)]
pub(super) struct LateRow {
    #[diesel(sql_type = Text)]
    pub(super) business_id: String,
    #[diesel(sql_type = BigInt)]
    pub(super) orders: i64,
    #[diesel(sql_type = BigInt)]
    pub(super) sum: i64,
    /// Of the oldest order.
    #[diesel(sql_type = Timestamptz)]
    pub(super) due_since: DateTime<Utc>,
}

/// Orders and amount of all businesses that are late.
pub(crate) async fn late_of_all(
    conn: &mut AsyncPgConnection,
    late_before: DateTime<Utc>,
) -> Result<(i64, Paise), StoreError> {
    let row: LateRow =
        diesel::sql_query(LATE_OF_ALL).bind::<Timestamptz, _>(late_before).get_result(conn).await?;
    Ok((row.orders, Paise::new(row.sum)))
}

/// The totals of these businesses, which are zero for a business without cash.
pub(crate) async fn of_businesses(
    conn: &mut AsyncPgConnection,
    businesses: &[BusinessId],
    (now, late_before): (DateTime<Utc>, DateTime<Utc>),
) -> Result<BTreeMap<BusinessId, Totals>, StoreError> {
    let ids: Vec<String> = businesses.iter().map(BusinessId::to_string).collect();
    let mut totals: BTreeMap<BusinessId, Totals> =
        businesses.iter().map(|business| (*business, Totals::default())).collect();
    let query = diesel::sql_query(OUTSTANDING).bind::<Array<Text>, _>(&ids).bind::<Timestamptz, _>(now);
    for row in query.load::<OutstandingRow>(conn).await? {
        let of = totals.entry(parse("cash.business_id", &row.business_id)?).or_default();
        let held = [row.pending_paise, row.with_drivers_paise, row.with_operator_paise].map(Paise::new);
        add(&mut of.handed_over_short, Paise::new(row.handed_over_short_paise))?;
        for (sum, amount) in
            [&mut of.pending, &mut of.with_drivers, &mut of.with_operator].into_iter().zip(held)
        {
            add(sum, amount)?;
        }
        let age = usize::try_from(row.age).ok().and_then(|age| of.by_age.get_mut(age));
        let (orders, sum) = age.ok_or_else(|| StoreError::Corrupt("the age of cash is unknown".into()))?;
        *orders += row.orders;
        held.into_iter().try_for_each(|amount| add(sum, amount))?;
    }
    let query = diesel::sql_query(LATE).bind::<Timestamptz, _>(late_before).bind::<Array<Text>, _>(&ids);
    for row in query.load::<LateRow>(conn).await? {
        totals.entry(parse("cash.business_id", &row.business_id)?).or_default().late =
            (row.orders, Paise::new(row.sum));
    }
    let query = diesel::sql_query(SETTLED).bind::<Array<Text>, _>(&ids);
    for row in query.bind::<Timestamptz, _>(now - RECENT).load::<SumRow>(conn).await? {
        totals.entry(parse("cash.business_id", &row.business_id)?).or_default().settled_recently =
            Paise::new(row.sum);
    }
    let query = diesel::sql_query(DISCREPANCIES).bind::<Array<Text>, _>(&ids);
    for row in query.load::<SumRow>(conn).await? {
        totals.entry(parse("cash.business_id", &row.business_id)?).or_default().discrepancies = row.sum;
    }
    Ok(totals)
}

#[derive(QueryableByName)]
struct BusinessRow {
    #[diesel(sql_type = Text)]
    business_id: String,
}

/// Up to `limit` businesses with outstanding cash, from the first one after `after`.
pub(crate) async fn businesses(
    conn: &mut AsyncPgConnection,
    after: Option<BusinessId>,
    limit: i64,
) -> Result<Vec<BusinessId>, StoreError> {
    let after = after.map(|after| after.to_string()).unwrap_or_default();
    let rows: Vec<BusinessRow> = diesel::sql_query(concat!(
        "SELECT DISTINCT business_id FROM cash WHERE business_id > $1 AND ",
        is_outstanding!(),
        " ORDER BY business_id LIMIT $2",
    ))
    .bind::<Text, _>(after)
    .bind::<BigInt, _>(limit)
    .load(conn)
    .await?;
    rows.iter().map(|row| parse("cash.business_id", &row.business_id)).collect()
}

fn add(sum: &mut Paise, amount: Paise) -> Result<(), StoreError> {
    *sum = sum.checked_add(amount).ok_or_else(|| StoreError::Corrupt("sums of cash overflow".into()))?;
    Ok(())
}
