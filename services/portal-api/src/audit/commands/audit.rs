//! Writes the audit logs: in the transaction of a change of this service, or right after a change of another service.

use chrono::TimeDelta;
use diesel_async::AsyncPgConnection;
use domain::{AccountId, AuditEntryId, BusinessId, Clock, Entropy, UserId};
use identity::Account;
use postgres::StoreError;

use crate::audit::commands::audit_line::{log_entry, log_operator_entry, log_operator_refusal};
use crate::audit::domain::{Actor, AuditEvent, Author};
use crate::state::State;
use crate::store::audit_log::{self, NewEntry};
use crate::store::memberships;
use crate::store::operator_audit_log::{self, NewOperatorEntry};

/// Within this time, repeated reads of the same data by the same caller are one entry: open pages refresh themselves.
const REPEATED_READS: TimeDelta = TimeDelta::minutes(10);

/// Within this time, a person's repetitions of a refused call are one entry, and further refused calls have none after so many.
const REFUSALS_WITHIN: TimeDelta = TimeDelta::minutes(1);
const REFUSALS_MAX: i64 = 100;

/// Writes an entry within the caller's transaction. Actions of the operator are written to its own log too, which names the
/// person. A repeated call adds no second row for an event with `once`. The row of its request, from before
/// the call, is written each time.
pub(crate) async fn write_audit(
    conn: &mut AsyncPgConnection,
    state: &State,
    business: BusinessId,
    author: &Author,
    event: &AuditEvent,
) -> Result<(), StoreError> {
    let (clock, entropy) = (&state.unit.clock, &state.unit.entropy);
    if event.once {
        audit_log::lock_once(conn, business, event).await?;
        if audit_log::has(conn, business, event).await? {
            return Ok(());
        }
    }
    write_operator_audit(conn, (clock, entropy), Some(business), author, event).await?;
    let id = AuditEntryId::generate(clock, entropy);
    let entry = NewEntry { id, at: clock.now(), author, event };
    audit_log::insert(conn, business, &entry).await?;
    log_entry(business, &entry);
    Ok(())
}

/// Writes an entry about an account to the logs of all businesses of its person. Each names the person by their user there. Only
/// the log of the business in which the person acts has their IP address.
pub(crate) async fn write_account_audit(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: AccountId,
    author: &Author,
    event: &AuditEvent,
) -> Result<(), StoreError> {
    let memberships = memberships::list(conn, account).await?;
    let mut users: Vec<UserId> = memberships.iter().map(|membership| membership.user).collect();
    users.sort_unstable();
    for membership in memberships {
        let author = author.in_business(membership.user, &users);
        let event = event.clone().in_business(membership.user, account, &users);
        write_audit(conn, state, membership.business, &author, &event).await?;
    }
    Ok(())
}

/// Writes an entry about an account to the logs of the businesses of its user, or to the operator's log.
pub(crate) async fn write_entry(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: Account,
    author: &Author,
    event: &AuditEvent,
) -> Result<(), StoreError> {
    match account {
        Account::User(account) => write_account_audit(conn, state, account, author, event).await,
        Account::Staff(_) => {
            let parts = (&state.unit.clock, &state.unit.entropy);
            write_operator_audit(conn, parts, None, author, event).await
        }
    }
}

/// As [`write_entry`], about something that has already happened. A failure is only logged.
pub(crate) async fn try_write_entry(state: &State, account: Account, author: &Author, event: &AuditEvent) {
    let database = &state.unit.database;
    let written: Result<(), StoreError> =
        database.transaction(async |conn| write_entry(conn, state, account, author, event).await).await;
    if let Err(error) = written {
        tracing::warn!(%error, account_id = %account, action = %event.action, "audit log entry lost");
    }
}

/// Writes an entry about a completed change. A failure is only logged, because the change cannot be undone.
pub(crate) async fn try_write_audit(
    state: &State,
    business: BusinessId,
    author: &Author,
    event: &AuditEvent,
) {
    let database = &state.unit.database;
    let written: Result<(), StoreError> =
        database.transaction(async |conn| write_audit(conn, state, business, author, event).await).await;
    if let Err(error) = written {
        tracing::warn!(%error, business_id = %business, action = %event.action, "audit log entry lost");
    }
}

/// Writes an entry to the operator's log, if the operator acts.
pub(crate) async fn write_operator_audit(
    conn: &mut AsyncPgConnection,
    (clock, entropy): (&Clock, &Entropy),
    business: Option<BusinessId>,
    author: &Author,
    event: &AuditEvent,
) -> Result<(), StoreError> {
    match operator_entry((clock, entropy), business, author, event) {
        Some(entry) => insert_operator_entry(conn, &entry).await,
        None => Ok(()),
    }
}

async fn insert_operator_entry(
    conn: &mut AsyncPgConnection,
    entry: &NewOperatorEntry<'_>,
) -> Result<(), StoreError> {
    operator_audit_log::insert(conn, entry).await?;
    log_operator_entry(entry);
    Ok(())
}

/// `None` if somebody else acts.
fn operator_entry<'a>(
    (clock, entropy): (&Clock, &Entropy),
    business: Option<BusinessId>,
    author: &'a Author,
    event: &'a AuditEvent,
) -> Option<NewOperatorEntry<'a>> {
    let Actor::Operator(caller) = &author.actor else { return None };
    let id = AuditEntryId::generate(clock, entropy);
    Some(NewOperatorEntry { id, at: clock.now(), caller, request: author.request, business, event })
}

/// Writes an entry about a change of another service that the operator is about to make.
///
/// # Errors
/// When it cannot be written. Then the change must not be made.
pub(crate) async fn record_operator_request(
    state: &State,
    business: BusinessId,
    author: &Author,
    event: &AuditEvent,
) -> Result<(), StoreError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let database = &state.unit.database;
    database.read(async |conn| write_operator_audit(conn, parts, Some(business), author, event).await).await
}

/// Writes an entry about the outcome of such a change. A failure is only logged, because the outcome is already there.
pub(crate) async fn try_record_operator(
    state: &State,
    business: BusinessId,
    author: &Author,
    event: &AuditEvent,
) {
    if let Err(error) = record_operator_request(state, business, author, event).await {
        tracing::warn!(%error, business_id = %business, action = %event.action, "entry of the operator's log lost");
    }
}

/// Writes an entry about an export of the business's log, or of the operator's.
///
/// # Errors
/// When it cannot be written. Then the data must not be sent.
pub(crate) async fn record_export(
    state: &State,
    business: Option<BusinessId>,
    author: &Author,
    event: &AuditEvent,
) -> Result<(), StoreError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let database = &state.unit.database;
    database
        .transaction(async |conn| match business {
            Some(business) => write_audit(conn, state, business, author, event).await,
            None => write_operator_audit(conn, parts, None, author, event).await,
        })
        .await
}

/// Writes an entry about data that the operator is about to receive.
///
/// # Errors
/// When it cannot be written. Then the data must not be sent.
pub(crate) async fn record_operator_read(
    state: &State,
    business: Option<BusinessId>,
    author: &Author,
    event: &AuditEvent,
) -> Result<(), StoreError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let Some(entry) = operator_entry(parts, business, author, event) else { return Ok(()) };
    state
        .unit
        .database
        .read(async |conn| {
            if operator_audit_log::has_since(conn, &entry, entry.at - REPEATED_READS).await? {
                return Ok(());
            }
            insert_operator_entry(conn, &entry).await
        })
        .await
}

/// Writes an entry about a refused call of the operator.
///
/// # Errors
/// When it cannot be written.
pub(crate) async fn record_operator_refusal(
    state: &State,
    business: Option<BusinessId>,
    author: &Author,
    event: &AuditEvent,
) -> Result<(), StoreError> {
    let parts = (&state.unit.clock, &state.unit.entropy);
    let Some(entry) = operator_entry(parts, business, author, event) else { return Ok(()) };
    let since = entry.at - REFUSALS_WITHIN;
    let database = &state.unit.database;
    let written: Result<bool, StoreError> = database
        .read(async |conn| {
            if operator_audit_log::has_since(conn, &entry, since).await? {
                return Ok(true);
            }
            if operator_audit_log::count_since(conn, &entry, since).await? >= REFUSALS_MAX {
                return Ok(false);
            }
            insert_operator_entry(conn, &entry).await?;
            Ok(true)
        })
        .await;
    if !written? {
        log_operator_refusal(author);
    }
    Ok(())
}
