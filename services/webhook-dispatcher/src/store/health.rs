//! How endpoints fare, as far as their owners change it; what senders write is in `record`.

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{BusinessId, EndpointId};
use postgres::StoreError;

use super::schema::endpoint_health;

/// Takes back that we disabled the endpoint.
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
        ))
        .execute(conn)
        .await?;
    Ok(())
}
