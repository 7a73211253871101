//! How endpoints fare: what attempts tell of them, and what their owners change. What attempts tell serves all
//! businesses.

mod attempts;

pub(super) use attempts::note_attempts;
pub(crate) use attempts::{EndpointNews, bring_forward_all};

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId};
use postgres::StoreError;

use super::schema::endpoint_health;
use crate::domain::Forgery;

/// Takes back that we disabled the endpoint, or leave it alone.
pub(crate) async fn enable(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoint: EndpointId,
) -> Result<(), StoreError> {
    diesel::update(endpoint_health::table)
        .filter(endpoint_health::business_id.eq(business.to_string()))
        .filter(endpoint_health::endpoint_id.eq(endpoint.to_string()))
        .set((
            endpoint_health::disabled_at.eq(None::<chrono::DateTime<chrono::Utc>>),
            endpoint_health::disabled_reason.eq(None::<String>),
            // What it failed by before is forgiven: otherwise it would be disabled again at once.
            endpoint_health::failing_since.eq(None::<chrono::DateTime<chrono::Utc>>),
            endpoint_health::failures_in_a_row.eq(0),
            endpoint_health::trips.eq(0),
            endpoint_health::tripped_until.eq(None::<chrono::DateTime<chrono::Utc>>),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Another URL was not tested, whatever came of tests of the former one.
pub(crate) async fn forget_test(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoint: EndpointId,
) -> Result<(), StoreError> {
    diesel::update(endpoint_health::table)
        .filter(endpoint_health::business_id.eq(business.to_string()))
        .filter(endpoint_health::endpoint_id.eq(endpoint.to_string()))
        .set((
            endpoint_health::connection_test.eq("not_tested"),
            endpoint_health::connection_tested_at.eq(None::<chrono::DateTime<chrono::Utc>>),
            endpoint_health::test_event_id.eq(None::<String>),
            endpoint_health::forged_event_id.eq(None::<String>),
            endpoint_health::forged_refused.eq(None::<bool>),
            endpoint_health::forged_at.eq(None::<chrono::DateTime<chrono::Utc>>),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// What came of the webhook with a wrong signature.
pub(crate) async fn note_forgery(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoint: EndpointId,
    forgery: &Forgery,
) -> Result<(), StoreError> {
    diesel::update(endpoint_health::table)
        .filter(endpoint_health::business_id.eq(business.to_string()))
        .filter(endpoint_health::endpoint_id.eq(endpoint.to_string()))
        .set((
            endpoint_health::test_event_id.eq(forgery.test_event.to_string()),
            endpoint_health::forged_event_id.eq(forgery.forged_event.to_string()),
            endpoint_health::forged_refused.eq(forgery.refused),
            endpoint_health::forged_at.eq(forgery.at),
        ))
        .execute(conn)
        .await?;
    Ok(())
}
