//! Erasing what is kept of an order's people: in the bodies of its events, in events that wait for their turn, and in what
//! receivers answered.

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, Binary, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};
use postgres::{StoreError, statement};

use super::corrupt;
use crate::domain::erased_body;

const BEGIN: &str = "
    INSERT INTO order_streams (order_id, business_id, next_sequence)
    VALUES ($1, $2, 1)
    ON CONFLICT DO NOTHING";

const MARK: &str = "
    UPDATE order_streams SET personal_data_erased_at = coalesce(personal_data_erased_at, $3)
    WHERE order_id = $1 AND business_id = $2";

/// Remembers that the order was erased, for what may still come of it, and locks it until the transaction ends. False when
/// the order is another business's.
pub(crate) async fn mark_erased(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    // Two statements: the second also finds a stream that another transaction has begun meanwhile.
    statement(BEGIN)
        .bind::<Text, _>(order.to_string())
        .bind::<Text, _>(business.to_string())
        .execute(conn)
        .await?;
    let marked = statement(MARK)
        .bind::<Text, _>(order.to_string())
        .bind::<Text, _>(business.to_string())
        .bind::<Timestamptz, _>(at)
        .execute(conn)
        .await?;
    Ok(marked == 1)
}

const BODIES: &str = "
    SELECT event_id, body FROM events WHERE order_id = $2 AND business_id = $1 ORDER BY event_id FOR NO KEY UPDATE";

#[derive(QueryableByName)]
struct BodyRow {
    #[diesel(sql_type = Text)]
    event_id: String,
    #[diesel(sql_type = Binary)]
    body: Vec<u8>,
}

const WRITE_BODIES: &str = "
    UPDATE events SET body = erased.body
    FROM unnest($2, $3) AS erased (event_id, body)
    WHERE events.event_id = erased.event_id AND events.business_id = $1";

/// Gives the events of the order that were fanned out their erased form; tells how many. An order has some ten of them.
pub(crate) async fn erase_bodies(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    at: DateTime<Utc>,
) -> Result<usize, StoreError> {
    let rows: Vec<BodyRow> = statement(BODIES)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(order.to_string())
        .load(conn)
        .await?;
    let (mut ids, mut bodies) = (Vec::new(), Vec::new());
    for row in rows {
        if let Some(body) = erased_body(&row.body, at).map_err(corrupt)? {
            ids.push(row.event_id);
            bodies.push(body);
        }
    }
    if ids.is_empty() {
        return Ok(0);
    }
    Ok(statement(WRITE_BODIES)
        .bind::<Text, _>(business.to_string())
        .bind::<Array<Text>, _>(ids)
        .bind::<Array<Binary>, _>(bodies)
        .execute(conn)
        .await?)
}

const ERASE_PARKED: &str = "
    UPDATE parked_events
    SET envelope = (envelope::jsonb #- '{payload,data,driver}' #- '{payload,data,reason}')::json
    WHERE order_id = $2 AND business_id = $1";

/// The events that wait for their predecessors.
pub(crate) async fn erase_parked(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<usize, StoreError> {
    Ok(statement(ERASE_PARKED)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(order.to_string())
        .execute(conn)
        .await?)
}

const FORGET_ANSWERS: &str = "
    UPDATE attempts SET response_body = NULL, response_headers = '{}'
    FROM deliveries JOIN events ON events.event_id = deliveries.event_id AND events.business_id = deliveries.business_id
    WHERE events.order_id = $2 AND events.business_id = $1
        AND attempts.delivery_id = deliveries.id AND attempts.business_id = $1
        AND (attempts.response_body IS NOT NULL OR attempts.response_headers::text <> '{}')";

/// What receivers answered to the order's events: they may have named whom it is for.
pub(crate) async fn forget_answers(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<usize, StoreError> {
    Ok(statement(FORGET_ANSWERS)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(order.to_string())
        .execute(conn)
        .await?)
}
