//! What changes something: one use case per file, each with a transaction of its own.

pub(crate) mod accept_invitation;
pub(crate) mod change_business;
pub(crate) mod change_password;
pub(crate) mod change_user;
pub(crate) mod confirm_go_live;
mod counted;
pub(crate) mod invite;
pub(crate) mod log_in;
pub(crate) mod log_out;
pub(crate) mod operator_session;
pub(crate) mod prune;
pub(crate) mod put_pickup_profile;
pub(crate) mod record_fact;
pub(crate) mod request_subscription;
pub(crate) mod reset_password;
pub(crate) mod revoke_sessions;
pub(crate) mod sign_up;
mod start_session;
pub(crate) mod tell_pages;
pub(crate) mod write_audit;

pub(crate) use counted::Origin;
pub(crate) use start_session::Browser;
use write_audit::write_audit;

use diesel_async::AsyncPgConnection;
use domain::{BusinessId, EventId};
use events::{Body, Envelope};
use postgres::StoreError;

use crate::app::App;
use crate::domain::{Actor, Author, Role};
use crate::mail::Letter;
use crate::store::users;

/// How often a transaction is tried that is undone for another's sake.
const TRIES: usize = 3;

/// Runs it again when it was undone in a deadlock. The user is locked before anything else of theirs, so that only what
/// touches two users at once, such as a log-in in a browser that somebody else left open, meets one.
async fn again_after_deadlock<T, E>(
    run: impl AsyncFn() -> Result<T, E>,
    is_deadlock: impl Fn(&E) -> bool,
) -> Result<T, E> {
    for _ in 1..TRIES {
        match run().await {
            Err(error) if is_deadlock(&error) => {
                tracing::info!("a transaction was undone in a deadlock and is tried again");
            }
            outcome => return outcome,
        }
    }
    run().await
}

/// Tells the other services, with the change itself, that something that decides about a business has changed.
async fn announce(conn: &mut AsyncPgConnection, app: &App, business: BusinessId) -> Result<(), StoreError> {
    let now = app.clock.now();
    let id = EventId::generate(&app.clock, &app.entropy);
    let changed = Envelope { id, business_id: business, occurred_at: now, body: Body::BusinessChanged {} };
    outbox::enqueue(conn, &[changed], now).await
}

/// Whether the author may act for the business as its owner. The guard asked before the business was locked, and the author
/// may have been demoted or removed since: ask again with its row locked.
async fn is_still_owner(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    author: &Author,
) -> Result<bool, StoreError> {
    match author.actor {
        Actor::User { id, .. } => users::is_owner(conn, business, id).await,
        Actor::Operator | Actor::System => Ok(true),
    }
}

/// Mails the other owners of a business that somebody is one from now on: nobody takes a business over unnoticed.
async fn tell_owners(
    conn: &mut AsyncPgConnection,
    app: &App,
    business: BusinessId,
    email: &str,
) -> Result<(), StoreError> {
    let now = app.clock.now();
    let letter = Letter::NewOwner { email };
    for owner in users::emails_of(conn, business, Role::Owner).await? {
        if owner != email {
            app.mailbox.post(conn, business, &owner, &letter, now).await?;
        }
    }
    Ok(())
}
