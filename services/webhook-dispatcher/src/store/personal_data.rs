//! Erases an order's personal data: from the bodies of its events, from held-back events, and from receivers'
//! responses.

use chrono::{DateTime, Utc};
use diesel::QueryableByName;
use diesel::sql_types::{Array, Binary, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, OrderId};
use postgres::{StoreError, statement};
use webhook_body::erased_body;

use super::corrupt;

const BEGIN: &str = "
    INSERT INTO order_streams (order_id, business_id, next_sequence)
    VALUES ($1, $2, 1)
    ON CONFLICT DO NOTHING";

const MARK: &str = "
    UPDATE order_streams SET personal_data_erased_at = coalesce(personal_data_erased_at, $3)
    WHERE order_id = $1 AND business_id = $2";

/// Marks the order's stream as erased, for events that arrive later, and locks it until the transaction ends. Returns
/// false if the order belongs to another business.
pub(crate) async fn mark_erased(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    // Two statements: the second also finds a stream that another transaction has just inserted.
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

/// Replaces the bodies of stored events by their erased form. Returns their number, about ten per order.
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

/// Of the fields in `ProgressData::PERSONAL`.
const ERASE_HELD_BACK: &str = "
    UPDATE held_back_events
    SET envelope = (envelope::jsonb #- '{payload,data,driver}' #- '{payload,data,reason}'
        #- '{payload,data,evidence}')::json
    WHERE order_id = $2 AND business_id = $1";

pub(crate) async fn erase_held_back(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<usize, StoreError> {
    Ok(statement(ERASE_HELD_BACK)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(order.to_string())
        .execute(conn)
        .await?)
}

const ERASE_RESPONSES: &str = "
    UPDATE attempts SET response_body = NULL, response_headers = '{}'
    FROM deliveries JOIN events ON events.event_id = deliveries.event_id AND events.business_id = deliveries.business_id
    WHERE events.order_id = $2 AND events.business_id = $1
        AND attempts.delivery_id = deliveries.id AND attempts.business_id = $1
        AND (attempts.response_body IS NOT NULL OR attempts.response_headers::text <> '{}')";

/// Responses may contain the recipient's name.
pub(crate) async fn erase_responses(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    order: OrderId,
) -> Result<usize, StoreError> {
    Ok(statement(ERASE_RESPONSES)
        .bind::<Text, _>(business.to_string())
        .bind::<Text, _>(order.to_string())
        .execute(conn)
        .await?)
}
