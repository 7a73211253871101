//! Figures for the operator's metrics. Serves all businesses.

use diesel::QueryableByName;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use postgres::{StoreError, statement};

/// Numbers of endpoints by the state of their circuit breaker, and of disabled ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, QueryableByName)]
pub(crate) struct Breakers {
    #[diesel(sql_type = BigInt)]
    pub open: i64,
    #[diesel(sql_type = BigInt)]
    pub half_open: i64,
    #[diesel(sql_type = BigInt)]
    pub disabled: i64,
}

const BREAKERS: &str = "
SELECT count(*) FILTER (WHERE tripped_until > statement_timestamp()) AS open,
       count(*) FILTER (WHERE tripped_until <= statement_timestamp()) AS half_open,
       (SELECT count(*) FROM endpoint_health
        JOIN endpoints ON endpoints.id = endpoint_health.endpoint_id AND endpoints.business_id = endpoint_health.business_id
        WHERE endpoint_health.disabled_at IS NOT NULL AND endpoints.deleted_at IS NULL) AS disabled
FROM endpoint_health
WHERE failing_since IS NOT NULL AND tripped_until IS NOT NULL";

pub(crate) async fn breakers(conn: &mut AsyncPgConnection) -> Result<Breakers, StoreError> {
    Ok(statement(BREAKERS).get_result(conn).await?)
}
