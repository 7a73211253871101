//! Events that were fanned out.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EventId};
use postgres::StoreError;

use super::schema::events;

/// The bytes that are sent at every attempt.
pub(crate) async fn body_of(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    event: EventId,
) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(events::table
        .filter(events::business_id.eq(business.to_string()))
        .filter(events::event_id.eq(event.to_string()))
        .select(events::body)
        .first(conn)
        .await
        .optional()?)
}
