//! The live orders of a business that need its attention.

use domain::BusinessId;
use postgres::StoreError;

use crate::domain::{ExceptionKind, Exceptions};
use crate::state::State;
use crate::store::exceptions::{count, list};

const COUNTED_MAX: i64 = 1_000;

/// At most `limit` orders of one kind, and the number of each kind up to 1,000.
pub async fn exceptions(
    state: &State,
    business: BusinessId,
    kind: ExceptionKind,
    limit: i64,
) -> Result<Exceptions, StoreError> {
    let deadlines = state.patience.deadlines(state.unit.clock.now());
    let read = async |conn: &mut _| -> Result<_, StoreError> {
        Ok(Exceptions {
            failed: count(conn, business, ExceptionKind::Failed, deadlines, COUNTED_MAX).await?,
            unassigned: count(conn, business, ExceptionKind::Unassigned, deadlines, COUNTED_MAX).await?,
            stuck: count(conn, business, ExceptionKind::Stuck, deadlines, COUNTED_MAX).await?,
            orders: list(conn, business, kind, deadlines, limit).await?,
        })
    };
    state.unit.database.read(read).await
}
