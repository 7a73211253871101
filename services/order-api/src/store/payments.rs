//! What orders say of their money, for the wallet, which holds its books against it. The books are of all businesses, so
//! these queries name none.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, DeliveryState, Mode, OrderId, Paise};

use super::fleet::{FleetPosition, settled_until};
use super::predicates::{live, placed};
use super::schema::orders;
use super::{StoreError, corrupt};
use crate::domain::Placement;

/// An order's money.
#[derive(Clone, Debug)]
pub struct Payment {
    pub id: OrderId,
    pub business_id: BusinessId,
    pub mode: Mode,
    pub placement: Placement,
    pub delivery_fee: Paise,
    pub cod_amount: Paise,
    pub state: DeliveryState,
    pub changed_at: DateTime<Utc>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = orders, check_for_backend(diesel::pg::Pg))]
struct PaymentRow {
    id: String,
    business_id: String,
    mode: String,
    placement: String,
    delivery_fee_paise: i64,
    cod_amount_paise: i64,
    status: String,
    cod_status: String,
    picked_up: bool,
    updated_at: DateTime<Utc>,
}

impl TryFrom<PaymentRow> for Payment {
    type Error = StoreError;

    fn try_from(row: PaymentRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.parse().map_err(|error| corrupt("orders.id", error))?,
            business_id: row.business_id.parse().map_err(|error| corrupt("orders.business_id", error))?,
            mode: row.mode.parse().map_err(|error| corrupt("orders.mode", error))?,
            placement: row.placement.parse().map_err(|error| corrupt("orders.placement", error))?,
            delivery_fee: Paise::new(row.delivery_fee_paise),
            cod_amount: Paise::new(row.cod_amount_paise),
            state: DeliveryState::stored(
                row.status.parse().map_err(|error| corrupt("orders.status", error))?,
                row.cod_status.parse().map_err(|error| corrupt("orders.cod_status", error))?,
                row.picked_up,
            ),
            changed_at: row.updated_at,
        })
    }
}

/// Placed live orders behind `after` by their last change, oldest first, as far as no change can come before them any
/// more: as the fleet's list, on a connection that is in no transaction.
pub async fn changed(
    conn: &mut AsyncPgConnection,
    after: FleetPosition,
    limit: usize,
) -> Result<Vec<Payment>, StoreError> {
    let settled = settled_until(conn).await?;
    let FleetPosition { updated_at, id } = after;
    let later = orders::updated_at.gt(updated_at);
    let same = orders::updated_at.eq(updated_at).and(orders::id.gt(id.to_string()));
    let rows: Vec<PaymentRow> = orders::table
        .filter(live())
        .filter(placed())
        .filter(orders::updated_at.lt(settled))
        // Said twice, since PostgreSQL begins an index at a plain comparison only.
        .filter(orders::updated_at.ge(updated_at))
        .filter(later.or(same))
        .order((orders::updated_at, orders::id))
        .limit(i64::try_from(limit).unwrap_or(i64::MAX))
        .select(PaymentRow::as_select())
        .load(conn)
        .await?;
    rows.into_iter().map(Payment::try_from).collect()
}

/// Those of the orders that there are, in whatever mode and however far. By their ids alone: an order that
/// the books have under another business than its own must be seen for what it is.
pub async fn of(conn: &mut AsyncPgConnection, ids: &[OrderId]) -> Result<Vec<Payment>, StoreError> {
    let ids: Vec<String> = ids.iter().map(OrderId::to_string).collect();
    let rows: Vec<PaymentRow> =
        orders::table.filter(orders::id.eq_any(ids)).select(PaymentRow::as_select()).load(conn).await?;
    rows.into_iter().map(Payment::try_from).collect()
}
