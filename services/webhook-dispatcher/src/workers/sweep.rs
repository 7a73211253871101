//! The sweeper: handles deliveries that no attempt or request touches. One instance does so at a time; nothing breaks if two do.

use std::sync::Arc;

use postgres::StoreError;
use tokio_util::sync::CancellationToken;

use crate::commands::{
    disable_failing, discard_for_deleted_endpoints, park_for_disabled_endpoints, resolve_parked,
    skip_blocking,
};
use crate::state::State;

/// The first task of a round that failed. The other tasks of the round ran nevertheless.
#[derive(Debug, thiserror::Error)]
#[error("{task}: {source}")]
pub(crate) struct SweepError {
    task: &'static str,
    source: StoreError,
}

pub(crate) async fn sweep(state: Arc<State>, stop: CancellationToken) -> Result<(), SweepError> {
    if !state.sender.is_first() {
        return Ok(());
    }
    let outcomes = [
        ("discard deliveries of deleted endpoints", discard_for_deleted_endpoints(&state, &stop).await),
        ("park deliveries of disabled endpoints", park_for_disabled_endpoints(&state, &stop).await),
        ("resolve parked deliveries", resolve_parked(&state, &stop).await),
        ("skip blocking deliveries", skip_blocking(&state).await),
        ("disable failing endpoints", disable_failing(&state).await),
    ];
    let mut failures = outcomes.into_iter().filter_map(|(task, outcome)| Some((task, outcome.err()?)));
    failures.next().map_or(Ok(()), |(task, source)| Err(SweepError { task, source }))
}
