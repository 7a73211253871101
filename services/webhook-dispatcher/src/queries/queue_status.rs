//! The state of all queues, for the operator's metrics.

use chrono::{DateTime, Utc};
use postgres::StoreError;

use crate::state::State;
use crate::store::{self, Breakers};

pub(crate) struct QueueStatus {
    /// Events that wait for their predecessors.
    pub held_back: i64,
    pub oldest_held_back: Option<DateTime<Utc>>,
    pub breakers: Breakers,
}

pub(crate) async fn queue_status(state: &State) -> Result<QueueStatus, StoreError> {
    let database = &state.unit.database;
    database
        .transaction(async |conn| {
            let (held_back, oldest_held_back) = store::held_back_overview(conn).await?;
            let breakers = store::breakers(conn).await?;
            Ok::<_, StoreError>(QueueStatus { held_back, oldest_held_back, breakers })
        })
        .await
}
