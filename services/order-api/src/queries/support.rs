//! Queries that help operators to support businesses.

use chrono::{DateTime, Utc};
use domain::{BusinessId, Mode};
use outbox::Unit;
use postgres::StoreError;

use crate::domain::{Activity, Order, TestedRetries};
use crate::state::State;
use crate::store::{retry_tests, support};

/// The activity of a business in live and in test mode. Counts recent orders since `since`, up to `max`.
pub async fn activity(
    state: &State,
    business: BusinessId,
    since: DateTime<Utc>,
    max: i64,
) -> Result<(Activity, Activity), StoreError> {
    let read = async |conn: &mut _| -> Result<_, StoreError> {
        let live = support::activity(conn, business, Mode::Live, since, max).await?;
        let test = support::activity(conn, business, Mode::Test, since, max).await?;
        Ok((live, test))
    };
    state.unit.database.read(read).await
}

pub async fn tested_retries(state: &State, business: BusinessId) -> Result<TestedRetries, StoreError> {
    state.unit.database.read(async |conn| retry_tests::find(conn, business).await).await
}

/// The placed orders of all businesses with exactly this id, tracking code or reference, newest first.
pub async fn find_anywhere(unit: &Unit, text: &str, max: i64) -> Result<Vec<Order>, StoreError> {
    unit.database.read(async |conn| support::find_anywhere(conn, text, max).await).await
}
