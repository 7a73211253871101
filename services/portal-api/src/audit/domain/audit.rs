//! Entries of the audit log: who did what, to what, in which request. They never contain a secret, a token, a phone number,
//! a postal address or a request body.

use chrono::{DateTime, Utc};
use domain::{AccountId, AuditEntryId, OrderId, RequestId, RequestedBy, StaffId, UserId};
use identity::{Account, CallerAddress};
use serde_json::{Map, Value, json};
use strum::{Display, IntoStaticStr};

use crate::audit::domain::Action;
use crate::domain::{OperatorActor, OperatorCaller, OperatorPermission, OperatorRole, Session};

/// Who did it. Users are stored with their e-mail address at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Actor {
    User { id: UserId, email: String },
    Operator(OperatorCaller),
    System,
}

/// Who acts, and in which request.
#[derive(Clone, Debug)]
pub(crate) struct Author {
    pub(crate) actor: Actor,
    pub(crate) request: Option<RequestId>,
    /// The IP address of the caller, unless the operator acts: its caller has one.
    pub(crate) address: Option<CallerAddress>,
}

impl Author {
    pub(crate) fn user(id: UserId, email: &str, request: Option<RequestId>) -> Self {
        Self { actor: Actor::User { id, email: email.to_owned() }, request, address: None }
    }

    pub(crate) fn of(session: &Session, request: Option<RequestId>) -> Self {
        Self::user(session.user, &session.email, request)
    }

    #[must_use]
    pub(crate) fn at(self, address: Option<CallerAddress>) -> Self {
        Self { address, ..self }
    }

    /// The author as another business of the person sees them: by their user there, and without the address. `users` are the
    /// person's users in all their businesses, the oldest one first. Only its business gets the address of others.
    pub(crate) fn in_business(&self, user: UserId, users: &[UserId]) -> Self {
        match &self.actor {
            Actor::System if users.first() != Some(&user) => Self { address: None, ..self.clone() },
            Actor::User { id, email } if *id != user && users.contains(id) => Self {
                actor: Actor::User { id: user, email: email.clone() },
                request: self.request,
                address: None,
            },
            _ => self.clone(),
        }
    }

    pub(crate) fn operator(caller: OperatorCaller, request: Option<RequestId>) -> Self {
        Self { actor: Actor::Operator(caller), request, address: None }
    }

    /// Identifies who acts. All holders of the configured token are one.
    pub(crate) fn key(&self) -> String {
        match &self.actor {
            Actor::User { id, .. } => id.to_string(),
            Actor::Operator(caller) => caller.actor.id().unwrap_or_else(|| caller.actor.kind().to_owned()),
            Actor::System => "system".to_owned(),
        }
    }

    /// Whether the operator acts, and this caller with this role has the permission.
    pub(crate) fn may(&self, role: OperatorRole, permission: OperatorPermission) -> bool {
        matches!(&self.actor, Actor::Operator(caller) if caller.actor.may(role, permission))
    }

    /// The person, if one of the operator's staff acts.
    pub(crate) fn staff(&self) -> Option<StaffId> {
        match &self.actor {
            Actor::Operator(caller) => caller.actor.staff(),
            Actor::User { .. } | Actor::System => None,
        }
    }

    /// What order-api keeps of them.
    pub(crate) fn requested_by(&self) -> RequestedBy {
        match &self.actor {
            Actor::Operator(_) => RequestedBy::Operator,
            Actor::User { .. } | Actor::System => RequestedBy::Portal,
        }
    }

    /// Who acts for the operator; unknown if somebody else acts.
    pub(crate) fn operator_actor(&self) -> &OperatorActor {
        match &self.actor {
            Actor::Operator(caller) => &caller.actor,
            Actor::User { .. } | Actor::System => &OperatorActor::Unknown,
        }
    }

    pub(crate) fn system(request: Option<RequestId>) -> Self {
        Self { actor: Actor::System, request, address: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum TargetKind {
    Business,
    User,
    Session,
    Invitation,
    ApiKey,
    WebhookEndpoint,
    WebhookDelivery,
    WebhookRecovery,
    Order,
    TopUp,
    Transfer,
    Remittance,
    Staff,
    OperatorToken,
    Approval,
    Passkey,
    Export,
}

/// What it was done to. The label is for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    pub(crate) id: String,
    pub(crate) label: Option<String>,
}

impl Target {
    pub(crate) fn new(kind: TargetKind, id: impl ToString) -> Self {
        Self { kind, id: id.to_string(), label: None }
    }

    #[must_use]
    pub(crate) fn labelled(self, label: impl Into<String>) -> Self {
        Self { label: Some(label.into()), ..self }
    }

    /// The log of a business names its user instead of the account.
    pub(crate) fn account(account: Account, email: &str) -> Self {
        let kind = match account {
            Account::User(_) => TargetKind::User,
            Account::Staff(_) => TargetKind::Staff,
        };
        Self::new(kind, account.id()).labelled(email)
    }
}

/// What was done, to be written to the log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AuditEvent {
    pub(crate) action: Action,
    pub(crate) target: Option<Target>,
    /// A JSON object.
    pub(crate) details: Value,
    /// Further details, which only the operator's log has.
    pub(crate) operator_only: Map<String, Value>,
    /// Whether this happens to a target only once: repeated calls have no effect and are not logged.
    pub(crate) once: bool,
}

impl AuditEvent {
    pub(crate) fn new(action: Action) -> Self {
        Self { action, target: None, details: json!({}), operator_only: Map::new(), once: false }
    }

    /// An event that happens to its target only once.
    pub(crate) fn once(action: Action, target: Target) -> Self {
        Self { once: true, ..Self::new(action).on(target) }
    }

    #[must_use]
    pub(crate) fn on(self, target: Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// The event in a business of the person: on their user there, instead of the account or the user of another business.
    #[must_use]
    pub(crate) fn in_business(mut self, user: UserId, account: AccountId, users: &[UserId]) -> Self {
        let is_theirs =
            |id: &str| account.to_string() == id || users.iter().any(|user| user.to_string() == id);
        if let Some(target) = self.target.as_mut().filter(|target| is_theirs(&target.id)) {
            target.id = user.to_string();
        }
        self
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details[name] = value.into();
        self
    }

    /// A detail that the log of the business does not have.
    #[must_use]
    pub(crate) fn with_for_operator(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.operator_only.insert(name.to_owned(), value.into());
        self
    }

    /// The details for the operator's log.
    pub(crate) fn operator_details(&self) -> Value {
        let mut details = self.details.clone();
        for (name, value) in &self.operator_only {
            details[name.as_str()] = value.clone();
        }
        details
    }
}

/// A written entry. Its words are plain strings: a later version may have written words that this one does not know.
pub(crate) struct AuditEntry {
    pub(crate) id: AuditEntryId,
    pub(crate) at: DateTime<Utc>,
    pub(crate) action: String,
    pub(crate) actor_type: String,
    pub(crate) actor_user_id: Option<String>,
    pub(crate) actor_email: Option<String>,
    pub(crate) address: Option<String>,
    pub(crate) target: Option<AuditTarget>,
    pub(crate) request_id: Option<String>,
    pub(crate) details: Value,
}

pub(crate) struct AuditTarget {
    pub(crate) kind: String,
    pub(crate) id: String,
    pub(crate) label: Option<String>,
}

/// Selects entries; absent fields match all.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditFilter {
    pub(crate) action: Option<Action>,
    pub(crate) user: Option<UserId>,
    /// What was done to this order.
    pub(crate) order: Option<OrderId>,
    /// The e-mail address of a user at that time.
    pub(crate) actor: Option<String>,
    /// As it is stored.
    pub(crate) address: Option<CallerAddress>,
    /// Inclusive.
    pub(crate) since: Option<DateTime<Utc>>,
    /// Exclusive.
    pub(crate) until: Option<DateTime<Utc>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_parse_from_their_names() {
        for action in [Action::AccountCreated, Action::PasswordResetIssued, Action::BusinessChanged] {
            let written = action.to_string();
            assert!(written.contains('.'), "{written}");
            assert_eq!(written.parse(), Ok(action));
        }
    }

    #[test]
    fn details_are_an_object() {
        let event = AuditEvent::new(Action::ApiKeyCreated).with("mode", "test").with("graceSeconds", 60);
        assert_eq!(event.details, json!({ "mode": "test", "graceSeconds": 60 }));
    }
}
