//! The operator completes the closing of a business, once everything is settled. Keys and endpoints are switched off by their
//! owners; each step can be repeated, so that a repeated call continues after a failure.

use domain::BusinessId;
use internal_api::CallError;
use postgres::StoreError;

use crate::audit::commands::audit::{try_write_audit, write_audit};
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::business::commands::closing::set_live_access;
use crate::business::commands::open_items::{self, OpenItemsError};
use crate::business::domain::OpenItem;
use crate::mail::{ClosingNews, Mail};
use crate::relay::commands::key_events::revoked_events;
use crate::state::State;
use crate::store::{businesses, closings};
use crate::team::commands::owners::mail_owners;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CompleteClosingError {
    #[error("the business is unknown")]
    Unknown,
    #[error("nobody has begun to close the business")]
    NotBegun,
    /// Nothing has changed.
    #[error("something is open")]
    Open(Vec<OpenItem>),
    #[error("the closing ends, and something is open")]
    StillOpen(Vec<OpenItem>),
    #[error(transparent)]
    Peer(#[from] CallError),
    #[error(transparent)]
    Items(#[from] OpenItemsError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A repeated call changes nothing. A refusal changes nothing, or the closing is past its withdrawal.
pub(crate) async fn complete_closing(
    state: &State,
    business: BusinessId,
    author: &Author,
) -> Result<(), CompleteClosingError> {
    let database = &state.unit.database;
    let found: Result<_, StoreError> = database.read(async |conn| closings::find(conn, business).await).await;
    let found = found?.ok_or(CompleteClosingError::NotBegun)?;
    if found.completed_at.is_some() {
        return Ok(());
    }
    let open = open_items::open_items(state, business).await?.unsettled();
    if !open.is_empty() {
        return Err(match found.ending_at {
            None => CompleteClosingError::Open(open),
            Some(_) => CompleteClosingError::StillOpen(open),
        });
    }
    begin_end(state, business, author).await?;
    revoke_keys(state, business, author).await?;
    delete_endpoints(state, business, author).await?;
    // A call that was on its way may have moved money or made a key.
    let open = open_items::open_items(state, business).await?.all();
    if !open.is_empty() {
        return Err(CompleteClosingError::StillOpen(open));
    }
    finish(state, business, author).await?;
    tracing::info!(business_id = %business, "business closed");
    Ok(())
}

/// The closing cannot be withdrawn from its commit on. Can be repeated.
async fn begin_end(state: &State, business: BusinessId, author: &Author) -> Result<(), CompleteClosingError> {
    let now = state.unit.clock.now();
    state
        .unit
        .transaction(async |conn| {
            businesses::find_for_update(conn, business).await?.ok_or(CompleteClosingError::Unknown)?;
            // It may have been withdrawn since the look.
            let found = closings::find(conn, business).await?.ok_or(CompleteClosingError::NotBegun)?;
            if found.ending_at.is_none() {
                closings::begin_end(conn, business, now).await?;
                let target = Target::new(TargetKind::Business, business);
                let event = AuditEvent::new(Action::BusinessClosingCompletionBegun).on(target);
                write_audit(conn, state, business, author, &event).await?;
            }
            Ok(())
        })
        .await
}

/// Can be repeated.
pub(super) async fn revoke_keys(
    state: &State,
    business: BusinessId,
    author: &Author,
) -> Result<(), CallError> {
    for key in open_items::working_keys(state, business).await? {
        let body = serde_json::Value::Null;
        let revoked = state.peers.keys.revoke(business, &key.id.to_string(), &body).await?;
        for event in revoked_events(&revoked) {
            try_write_audit(state, business, author, &event).await;
        }
    }
    Ok(())
}

/// Webhooks that wait are discarded with their endpoint. Can be repeated.
pub(super) async fn delete_endpoints(
    state: &State,
    business: BusinessId,
    author: &Author,
) -> Result<(), CallError> {
    for endpoint in open_items::endpoints(state, business).await? {
        match state.peers.webhooks.delete(business, &endpoint.id.to_string()).await {
            Ok(()) => {}
            // An owner was faster.
            Err(error) if error.refusal_code() == Some("webhook_endpoint_not_found") => {}
            Err(error) => return Err(error),
        }
        let target = Target::new(TargetKind::WebhookEndpoint, endpoint.id);
        let event = AuditEvent::once(Action::EndpointDeleted, target);
        try_write_audit(state, business, author, &event).await;
    }
    Ok(())
}

async fn finish(state: &State, business: BusinessId, author: &Author) -> Result<(), CompleteClosingError> {
    let now = state.unit.clock.now();
    let finished: Result<(), CompleteClosingError> = state
        .unit
        .transaction(async |conn| {
            let before = businesses::find_for_update(conn, business).await?;
            let before = before.ok_or(CompleteClosingError::Unknown)?;
            // Another call may have completed it.
            let found = closings::find(conn, business).await?.ok_or(CompleteClosingError::NotBegun)?;
            if found.completed_at.is_some() {
                return Ok(());
            }
            // A program of release 1.0.0 knows no closing, and may have switched it on.
            set_live_access(conn, state, &before, false).await?;
            closings::complete(conn, business, (now, now + state.closed_books_kept)).await?;
            let event =
                AuditEvent::new(Action::BusinessClosed).on(Target::new(TargetKind::Business, business));
            write_audit(conn, state, business, author, &event).await?;
            let mail = Mail::Closing { news: ClosingNews::Completed, at: now };
            Ok(mail_owners(conn, state, business, &mail).await?)
        })
        .await;
    finished?;
    state.mailbox.wake_sender();
    Ok(())
}
