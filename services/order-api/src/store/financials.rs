//! The amounts of orders, which the wallet compares with its ledger. The ledger covers all businesses, so these queries
//! name none.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{OrderId, Paise};
use serde_json::Value;

use super::fleet::complete_until;
use super::predicates::{live, placed};
use super::rows::StateColumns;
use super::schema::orders;
use super::{StoreError, corrupt};
use crate::domain::{ChangePosition, OrderFinancials};

#[derive(Queryable, Selectable)]
#[diesel(table_name = orders, check_for_backend(diesel::pg::Pg))]
struct FinancialsRow {
    id: String,
    business_id: String,
    mode: String,
    placement: String,
    delivery_fee_paise: i64,
    cod_amount_paise: i64,
    status: String,
    cod_status: String,
    picked_up: bool,
    payment_type: String,
    after_failure: Option<Value>,
    updated_at: DateTime<Utc>,
}

impl TryFrom<FinancialsRow> for OrderFinancials {
    type Error = StoreError;

    fn try_from(row: FinancialsRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.parse().map_err(|error| corrupt("orders.id", error))?,
            business_id: row.business_id.parse().map_err(|error| corrupt("orders.business_id", error))?,
            mode: row.mode.parse().map_err(|error| corrupt("orders.mode", error))?,
            placement: row.placement.parse().map_err(|error| corrupt("orders.placement", error))?,
            delivery_fee: Paise::new(row.delivery_fee_paise),
            cod_amount: Paise::new(row.cod_amount_paise),
            state: StateColumns {
                status: &row.status,
                cod_status: &row.cod_status,
                picked_up: row.picked_up,
                payment_type: &row.payment_type,
                after_failure: row.after_failure.as_ref(),
            }
            .try_into()?,
            changed_at: row.updated_at,
        })
    }
}

/// Placed live orders after `after`, by their last change, oldest first. Like the list of the fleet, it needs a
/// connection without a transaction.
pub async fn changed(
    conn: &mut AsyncPgConnection,
    after: ChangePosition,
    limit: usize,
) -> Result<Vec<OrderFinancials>, StoreError> {
    let complete = complete_until(conn).await?;
    let ChangePosition { updated_at, id } = after;
    let later = orders::updated_at.gt(updated_at);
    let same = orders::updated_at.eq(updated_at).and(orders::id.gt(id.to_string()));
    let rows: Vec<FinancialsRow> = orders::table
        .filter(live())
        .filter(placed())
        .filter(orders::updated_at.lt(complete))
        // This filter is redundant: PostgreSQL starts an index scan only at a plain comparison.
        .filter(orders::updated_at.ge(updated_at))
        .filter(later.or(same))
        .order((orders::updated_at, orders::id))
        .limit(i64::try_from(limit).unwrap_or(i64::MAX))
        .select(FinancialsRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(OrderFinancials::try_from).collect()
}

/// The existing orders among these, in any mode and placement. By id alone: an order that the ledger has under a wrong
/// business must be found too.
pub async fn of(conn: &mut AsyncPgConnection, ids: &[OrderId]) -> Result<Vec<OrderFinancials>, StoreError> {
    let ids: Vec<String> = ids.iter().map(OrderId::to_string).collect();
    let rows: Vec<FinancialsRow> =
        orders::table.filter(orders::id.eq_any(ids)).select(FinancialsRow::as_select()).load(conn).await?;
    rows.into_iter().map(OrderFinancials::try_from).collect()
}
