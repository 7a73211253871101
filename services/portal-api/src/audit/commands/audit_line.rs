//! The log lines of the audit logs, for the operator's log system: ids and IP addresses, no names and no e-mail addresses. The
//! tables are authoritative: a process that dies after a commit writes no line.

use domain::{BusinessId, RequestId};
use identity::{CallerAddress, Realm};
use postgres::after_commit;

use crate::audit::domain::{Actor, AuditEvent, Author};
use crate::domain::{Part, Permission};
use crate::store::audit_log::NewEntry;
use crate::store::operator_audit_log::NewOperatorEntry;

/// The target of the lines, which filters name. It is documented, and never changes.
macro_rules! audit_line {
    ($($field:tt)*) => { tracing::info!(target: "waybill::audit", $($field)*) };
}

/// The text of every line of an entry.
const WRITTEN: &str = "audit log entry";

/// The fields of a line that do not depend on the log.
struct Line {
    entry_id: String,
    action: &'static str,
    actor_type: &'static str,
    actor_id: Option<String>,
    address: Option<String>,
    business_id: Option<String>,
    target_type: Option<&'static str>,
    target_id: Option<String>,
    request_id: Option<String>,
}

impl Line {
    fn new(event: &AuditEvent, request: Option<RequestId>, business: Option<BusinessId>) -> Self {
        let target = event.target.as_ref();
        Self {
            entry_id: String::new(),
            action: event.action.into(),
            actor_type: "system",
            actor_id: None,
            address: None,
            business_id: business.map(|id| id.to_string()),
            target_type: target.map(|target| target.kind.into()),
            target_id: target.map(|target| target.id.clone()),
            request_id: request.map(|id| id.to_string()),
        }
    }

    fn log(self, log: &'static str) {
        audit_line!(
            log,
            entry_id = self.entry_id,
            action = self.action,
            actor_type = self.actor_type,
            actor_id = self.actor_id,
            address = self.address,
            business_id = self.business_id,
            target_type = self.target_type,
            target_id = self.target_id,
            request_id = self.request_id,
            "{WRITTEN}"
        );
    }
}

/// Logs an inserted entry of a business's log after the commit of the caller's transaction.
pub(crate) fn log_entry(business: BusinessId, entry: &NewEntry<'_>) {
    let (actor_type, actor_id) = actor(entry.author);
    let line = Line {
        entry_id: entry.id.to_string(),
        actor_type,
        actor_id,
        address: entry.author.address.as_ref().map(|address| address.as_str().to_owned()),
        ..Line::new(entry.event, entry.author.request, Some(business))
    };
    after_commit(move || line.log("business"));
}

/// As [`log_entry`], of the operator's log.
pub(crate) fn log_operator_entry(entry: &NewOperatorEntry<'_>) {
    let line = Line {
        entry_id: entry.id.to_string(),
        actor_type: entry.caller.actor.kind(),
        actor_id: entry.caller.actor.id(),
        address: entry.caller.address.as_ref().map(|address| address.as_str().to_owned()),
        ..Line::new(entry.event, entry.request, entry.business)
    };
    after_commit(move || line.log("operator"));
}

fn actor(author: &Author) -> (&'static str, Option<String>) {
    match &author.actor {
        Actor::User { id, .. } => ("user", Some(id.to_string())),
        Actor::Operator(_) => ("operator", None),
        Actor::System => ("system", None),
    }
}

/// Refused calls that only the log lines record: nobody is known to have sent them, or callers could fill the table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refusal {
    /// A log-in of an account that does not exist.
    UnknownAccount,
    /// A wrong token of the operator.
    WrongToken,
    /// Too many log-ins or codes.
    TooMany,
    /// The role of a user lacks the permission.
    RoleInsufficient,
}

impl Refusal {
    fn as_str(self) -> &'static str {
        match self {
            Self::UnknownAccount => "unknown_account",
            Self::WrongToken => "wrong_token",
            Self::TooMany => "too_many_attempts",
            Self::RoleInsufficient => "role_insufficient",
        }
    }

    fn action(self) -> &'static str {
        match self {
            Self::RoleInsufficient => "access.refused",
            Self::UnknownAccount | Self::WrongToken | Self::TooMany => "session.failed",
        }
    }
}

/// Logs a refused call. Not in a table.
pub(crate) fn log_refusal(
    refusal: Refusal,
    realm: Realm,
    address: Option<&CallerAddress>,
    request: Option<RequestId>,
) {
    audit_line!(
        log = "refusal",
        part = Part::of(realm).as_str(),
        action = refusal.action(),
        reason = refusal.as_str(),
        address = address.map(CallerAddress::as_str),
        request_id = request.map(|id| id.to_string()),
        "call refused"
    );
}

/// Logs a refused call of the operator that has no entry, because its person had too many.
pub(crate) fn log_operator_refusal(author: &Author) {
    let Actor::Operator(caller) = &author.actor else { return };
    audit_line!(
        log = "refusal",
        part = "console",
        action = Refusal::RoleInsufficient.action(),
        reason = "too_many_entries",
        actor_type = caller.actor.kind(),
        actor_id = caller.actor.id(),
        address = caller.address.as_ref().map(CallerAddress::as_str),
        request_id = author.request.map(|id| id.to_string()),
        "call refused"
    );
}

/// Logs a call that the role of its user does not allow.
pub(crate) fn log_role_refusal(author: &Author, business: BusinessId, permission: Permission) {
    let (actor_type, actor_id) = actor(author);
    audit_line!(
        log = "refusal",
        part = "portal",
        action = Refusal::RoleInsufficient.action(),
        reason = Refusal::RoleInsufficient.as_str(),
        %permission,
        actor_type,
        actor_id,
        business_id = %business,
        address = author.address.as_ref().map(CallerAddress::as_str),
        request_id = author.request.map(|id| id.to_string()),
        "call refused"
    );
}
