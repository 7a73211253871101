//! The health of endpoints, as attempts and owners change it.

mod attempts;

pub(super) use attempts::record_health;
pub(crate) use attempts::{HealthChange, bring_forward_endpoint};

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId};
use postgres::StoreError;

use super::schema::endpoint_health;
use crate::domain::ForgeryTest;

/// Enables a disabled endpoint and closes its circuit breaker.
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
            // Otherwise it would be disabled again at once.
            endpoint_health::failing_since.eq(None::<chrono::DateTime<chrono::Utc>>),
            endpoint_health::failures_in_a_row.eq(0),
            endpoint_health::trips.eq(0),
            endpoint_health::tripped_until.eq(None::<chrono::DateTime<chrono::Utc>>),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// A new URL has not been tested.
pub(crate) async fn reset_test(
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

/// Stores the result of the webhook with a wrong signature.
pub(crate) async fn record_forgery_test(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    endpoint: EndpointId,
    test: &ForgeryTest,
) -> Result<(), StoreError> {
    diesel::update(endpoint_health::table)
        .filter(endpoint_health::business_id.eq(business.to_string()))
        .filter(endpoint_health::endpoint_id.eq(endpoint.to_string()))
        .set((
            endpoint_health::test_event_id.eq(test.test_event.to_string()),
            endpoint_health::forged_event_id.eq(test.forged_event.to_string()),
            endpoint_health::forged_refused.eq(test.refused),
            endpoint_health::forged_at.eq(test.at),
        ))
        .execute(conn)
        .await?;
    Ok(())
}
