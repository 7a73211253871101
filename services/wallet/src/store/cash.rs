//! Cash on delivery: one row per order. Each step is written once.

use chrono::{DateTime, Utc};
use diesel::dsl::sql;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId, Paise};
use postgres::{StoreError, statement};

use super::cash_differences::{is_closed, open_discrepant, open_reported};
use super::columns::{expect_rows, parse};
use super::schema::cash;
use crate::domain::{CashRecord, CashReport, CashStatus, CashStep, RemittedOrder, Reported};

#[derive(Queryable, Selectable)]
#[diesel(table_name = cash, check_for_backend(diesel::pg::Pg))]
struct CashRow {
    order_id: String,
    business_id: String,
    order_reference: String,
    expected_paise: Option<i64>,
    delivered_at: Option<DateTime<Utc>>,
    collected_paise: Option<i64>,
    collected_at: Option<DateTime<Utc>>,
    handed_over_paise: Option<i64>,
    handed_over_at: Option<DateTime<Utc>>,
    settled_paise: Option<i64>,
    settled_at: Option<DateTime<Utc>>,
    due_since: DateTime<Utc>,
    discrepant: bool,
}

impl CashRow {
    fn into_record(self) -> Result<CashRecord, StoreError> {
        let reported = |amount: Option<i64>, at: Option<DateTime<Utc>>| {
            amount.zip(at).map(|(amount, at)| Reported { amount: Paise::new(amount), at })
        };
        Ok(CashRecord {
            order: parse("cash.order_id", &self.order_id)?,
            business: parse("cash.business_id", &self.business_id)?,
            order_reference: self.order_reference,
            expected: self.expected_paise.map(Paise::new),
            delivered_at: self.delivered_at,
            collected: reported(self.collected_paise, self.collected_at),
            handed_over: reported(self.handed_over_paise, self.handed_over_at),
            settled: reported(self.settled_paise, self.settled_at),
            due_since: self.due_since,
            discrepant: self.discrepant,
        })
    }
}

/// Locks the order's cash and returns its state before this report. Creates the row if it does not exist, otherwise adds
/// the delivery time and the expected amount. `None` if the cash belongs to another business.
pub(crate) async fn lock_or_create(
    conn: &mut AsyncPgConnection,
    report: &CashReport,
) -> Result<Option<CashRecord>, StoreError> {
    // `due_since` is computed from the steps, so a new row needs one. The caller records the same step again.
    let delivered_at = report.step.is_none().then_some(report.at);
    let (step, amount) = report.step.unzip();
    let of = |wanted: CashStep| (step == Some(wanted)).then(|| amount.map(Paise::get)).flatten();
    let at = |wanted: CashStep| (step == Some(wanted)).then_some(report.at);
    let created = diesel::insert_into(cash::table)
        .values((
            cash::order_id.eq(report.order.to_string()),
            cash::business_id.eq(report.business.to_string()),
            cash::order_reference.eq(&report.order_reference),
            cash::expected_paise.eq(report.expected.map(Paise::get)),
            cash::delivered_at.eq(delivered_at),
            cash::collected_paise.eq(of(CashStep::Collected)),
            cash::collected_at.eq(at(CashStep::Collected)),
            cash::handed_over_paise.eq(of(CashStep::HandedOver)),
            cash::handed_over_at.eq(at(CashStep::HandedOver)),
            cash::settled_paise.eq(of(CashStep::Settled)),
            cash::settled_at.eq(at(CashStep::Settled)),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .await?;
    let row = cash::table
        .find((report.business.to_string(), report.order.to_string()))
        .select(CashRow::as_select())
        .for_update()
        .first(conn)
        .await
        .optional()?;
    let Some(found) = row.map(CashRow::into_record).transpose()? else { return Ok(None) };
    if created == 1 {
        return Ok(Some(CashRecord { collected: None, handed_over: None, settled: None, ..found }));
    }
    complete(conn, &found, report.expected, delivered_at).await?;
    Ok(Some(CashRecord { expected: found.expected.or(report.expected), ..found }))
}

/// Adds values that earlier reports lacked.
async fn complete(
    conn: &mut AsyncPgConnection,
    found: &CashRecord,
    expected: Option<Paise>,
    delivered_at: Option<DateTime<Utc>>,
) -> Result<(), StoreError> {
    let changed = diesel::update(cash::table.find((found.business.to_string(), found.order.to_string())))
        .set((
            cash::expected_paise.eq(found.expected.or(expected).map(Paise::get)),
            cash::delivered_at.eq(found.delivered_at.or(delivered_at)),
        ))
        .execute(conn)
        .await?;
    expect_rows("completing an order's cash", 1, changed)
}

/// Records a step of locked cash.
pub(crate) async fn record_step(
    conn: &mut AsyncPgConnection,
    record: &CashRecord,
    step: CashStep,
    amount: Paise,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let row = cash::table
        .filter(cash::order_id.eq(record.order.to_string()))
        .filter(cash::business_id.eq(record.business.to_string()));
    let amount = amount.get();
    let changed = match step {
        CashStep::Collected => {
            let step = (cash::collected_paise.eq(amount), cash::collected_at.eq(at));
            diesel::update(row).set(step).execute(conn).await?
        }
        CashStep::HandedOver => {
            let step = (cash::handed_over_paise.eq(amount), cash::handed_over_at.eq(at));
            diesel::update(row).set(step).execute(conn).await?
        }
        CashStep::Settled => {
            let step = (cash::settled_paise.eq(amount), cash::settled_at.eq(at));
            diesel::update(row).set(step).execute(conn).await?
        }
    };
    expect_rows("recording a step of cash", 1, changed)
}

const SETTLE: &str = "
    UPDATE cash SET settled_paise = new.amount_paise, settled_at = $2
    FROM unnest($3, $4) AS new (order_id, amount_paise)
    WHERE cash.business_id = $1 AND cash.order_id = new.order_id AND cash.settled_at IS NULL";

/// Records the settlement of locked cash.
pub(crate) async fn settle_orders(
    mut conn: &AsyncPgConnection,
    business: BusinessId,
    orders: &[RemittedOrder],
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let changed = statement(SETTLE)
        .bind::<Text, _>(business.to_string())
        .bind::<Timestamptz, _>(at)
        .bind::<Array<Text>, _>(orders.iter().map(|order| order.order.to_string()).collect::<Vec<_>>())
        .bind::<Array<BigInt>, _>(orders.iter().map(|order| order.amount.get()).collect::<Vec<_>>())
        .execute(&mut conn)
        .await?;
    expect_rows("settling cash", orders.len(), changed)
}

/// Locks the cash of these orders, in the order of their ids. Omits orders without cash of this business.
pub(crate) async fn lock_orders(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    orders: &[OrderId],
) -> Result<Vec<CashRecord>, StoreError> {
    let rows: Vec<CashRow> = cash::table
        .filter(cash::business_id.eq(business.to_string()))
        .filter(cash::order_id.eq_any(orders.iter().map(OrderId::to_string)))
        .order(cash::order_id)
        .select(CashRow::as_select())
        .for_update()
        .load(conn)
        .await?;
    rows.into_iter().map(CashRow::into_record).collect()
}

/// As [`lock_orders`], without a lock.
pub(crate) async fn find_orders(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    orders: &[OrderId],
) -> Result<Vec<CashRecord>, StoreError> {
    let rows: Vec<CashRow> = cash::table
        .filter(cash::business_id.eq(business.to_string()))
        .filter(cash::order_id.eq_any(orders.iter().map(OrderId::to_string)))
        .select(CashRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(CashRow::into_record).collect()
}

#[derive(QueryableByName)]
struct OrderRow {
    #[diesel(sql_type = Text)]
    order_id: String,
}

/// Reads only the business's cash that is not settled, by the index `cash_outstanding`.
const UNSETTLED: &str = "
    SELECT order_id FROM cash
    WHERE business_id = $1 AND settled_at IS NULL AND normalize(order_reference) = ANY($2)";

/// Of the cash that was settled last, which is enough for what somebody pays twice. By the index `cash_settled`.
const SETTLED: &str = "
    SELECT order_id FROM (
        SELECT order_id, order_reference FROM cash
        WHERE business_id = $1 AND settled_at IS NOT NULL ORDER BY settled_at DESC LIMIT 20000) AS latest
    WHERE normalize(order_reference) = ANY($2)";

/// The ids of orders with these composed references whose cash is not settled.
pub(crate) async fn unsettled_by_reference(
    conn: &AsyncPgConnection,
    business: BusinessId,
    references: &[String],
) -> Result<Vec<OrderId>, StoreError> {
    by_reference(conn, UNSETTLED, business, references).await
}

/// As [`unsettled_by_reference`], of cash that was settled lately.
pub(crate) async fn settled_by_reference(
    conn: &AsyncPgConnection,
    business: BusinessId,
    references: &[String],
) -> Result<Vec<OrderId>, StoreError> {
    by_reference(conn, SETTLED, business, references).await
}

async fn by_reference(
    mut conn: &AsyncPgConnection,
    sql: &'static str,
    business: BusinessId,
    references: &[String],
) -> Result<Vec<OrderId>, StoreError> {
    if references.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<OrderRow> = statement(sql)
        .bind::<Text, _>(business.to_string())
        .bind::<Array<Text>, _>(references.to_vec())
        .load(&mut conn)
        .await?;
    rows.iter().map(|row| parse("cash.order_id", &row.order_id)).collect()
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CashFilter {
    pub(crate) order: Option<OrderId>,
    /// Only orders before this one.
    pub(crate) before: Option<OrderId>,
    pub(crate) status: Option<CashStatus>,
    /// Only orders with an open difference, or only those without one.
    pub(crate) discrepant: Option<bool>,
    /// Only orders with a difference, open or closed, or only those without one.
    pub(crate) differs: Option<bool>,
    /// Only cash that is not settled and due since an earlier time.
    pub(crate) late_before: Option<DateTime<Utc>>,
    /// Inclusive.
    pub(crate) due_from: Option<DateTime<Utc>>,
    /// Exclusive.
    pub(crate) due_until: Option<DateTime<Utc>>,
    /// With `due_from`, so that the query reads a range of ids.
    pub(crate) created_since: Option<DateTime<Utc>>,
}

/// No open difference, the opposite of [`open_discrepant`] and [`open_reported`]. A scalar subquery, so that each row that the
/// page reads costs one look at the primary key of differences.
const NOT_DISCREPANT: &str = "
    coalesce((SELECT known.resolution IS NOT NULL OR known.reported_paise IS NULL AND NOT cash.discrepant
        FROM cash_differences AS known
        WHERE known.business_id = cash.business_id AND known.order_id = cash.order_id), NOT cash.discrepant)";

/// As [`NOT_DISCREPANT`]: no difference, open or closed.
const NOT_DIFFERING: &str = "
    NOT cash.discrepant AND coalesce((SELECT known.reported_paise IS NULL
        FROM cash_differences AS known
        WHERE known.business_id = cash.business_id AND known.order_id = cash.order_id), TRUE)";

/// Up to `limit` orders of a business, newest first.
pub(crate) async fn page(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    filter: &CashFilter,
    limit: i64,
) -> Result<Vec<CashRecord>, StoreError> {
    let of_business = cash::table.filter(cash::business_id.eq(business.to_string())).into_boxed();
    let mut query = by_difference(of_business, business, filter).order(cash::order_id.desc()).limit(limit);
    if let Some(before) = filter.before {
        query = query.filter(cash::order_id.lt(before.to_string()));
    }
    if let Some(order) = filter.order {
        query = query.filter(cash::order_id.eq(order.to_string()));
    }
    if let Some(late_before) = filter.late_before {
        query = query.filter(cash::settled_at.is_null()).filter(cash::due_since.lt(late_before));
    }
    if let Some(from) = filter.due_from {
        query = query.filter(cash::due_since.ge(from));
    }
    if let Some(until) = filter.due_until {
        query = query.filter(cash::due_since.lt(until));
    }
    if let Some(since) = filter.created_since {
        query = query.filter(cash::order_id.ge(OrderId::first_of(since).to_string()));
    }
    query = match filter.status {
        None => query,
        Some(CashStatus::Settled) => query.filter(cash::settled_at.is_not_null()),
        Some(CashStatus::HandedOver) => {
            query.filter(cash::settled_at.is_null()).filter(cash::handed_over_at.is_not_null())
        }
        Some(CashStatus::Collected) => query
            .filter(cash::settled_at.is_null())
            .filter(cash::handed_over_at.is_null())
            .filter(cash::collected_at.is_not_null()),
        Some(CashStatus::Pending) => query
            .filter(cash::settled_at.is_null())
            .filter(cash::handed_over_at.is_null())
            .filter(cash::collected_at.is_null()),
    };
    let rows: Vec<CashRow> = query.select(CashRow::as_select()).load(conn).await?;
    rows.into_iter().map(CashRow::into_record).collect()
}

/// Only the orders with, or without, an open difference or any.
fn by_difference(
    mut query: cash::BoxedQuery<'static, Pg>,
    business: BusinessId,
    filter: &CashFilter,
) -> cash::BoxedQuery<'static, Pg> {
    if filter.discrepant == Some(true) {
        query = query.filter(
            sql::<Bool>(concat!(
                "cash.order_id IN (SELECT order_id FROM (",
                open_discrepant!(),
                " AND business_id = "
            ))
            .bind::<Text, _>(business.to_string())
            .sql(concat!(" UNION ", open_reported!(), " AND business_id = "))
            .bind::<Text, _>(business.to_string())
            .sql(") AS open)"),
        );
    }
    if filter.discrepant == Some(false) {
        query = query.filter(sql::<Bool>(NOT_DISCREPANT));
    }
    if filter.differs == Some(true) {
        query = query.filter(
            sql::<Bool>(
                "cash.order_id IN (SELECT order_id FROM (
                    SELECT order_id FROM cash WHERE discrepant AND business_id = ",
            )
            .bind::<Text, _>(business.to_string())
            .sql(" UNION SELECT order_id FROM cash_differences WHERE reported_paise IS NOT NULL AND business_id = ")
            .bind::<Text, _>(business.to_string())
            .sql(") AS differing)"),
        );
    }
    if filter.differs == Some(false) {
        query = query.filter(sql::<Bool>(NOT_DIFFERING));
    }
    query
}

/// Up to `limit` orders of all businesses with an open difference, newest first, for the operator.
pub(crate) async fn discrepancies(
    conn: &mut AsyncPgConnection,
    before: Option<OrderId>,
    limit: i64,
) -> Result<Vec<CashRecord>, StoreError> {
    let open = super::cash_differences::open(conn, before, limit).await?;
    let rows: Vec<CashRow> = cash::table
        .filter(cash::order_id.eq_any(open.iter().map(OrderId::to_string)))
        .order(cash::order_id.desc())
        .select(CashRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(CashRow::into_record).collect()
}

/// Whether this order has cash. Without a business (for the operator): of any business.
pub(crate) async fn exists(
    conn: &mut AsyncPgConnection,
    business: Option<BusinessId>,
    order: OrderId,
) -> Result<bool, StoreError> {
    let query = cash::table.filter(cash::order_id.eq(order.to_string()));
    let owner = query.select(cash::business_id).first::<String>(conn).await.optional()?;
    Ok(owner.is_some_and(|owner| business.is_none_or(|business| business.to_string() == owner)))
}
