//! The steps of a request: approve, reject, withdraw, fetch the link. Each returns the request after the step.

use chrono::{DateTime, Utc};

use crate::approvals::domain::approval::{
    Approval, ApprovalCaller, ApprovalKind, ApprovalRefusal, ApprovalState, Decision,
};
use crate::domain::OperatorActor;

/// The outcome of requests that ended with their suspension.
const SUSPENSION_ENDED: &str = "suspension_ended";
/// The outcome of requests whose money another call had moved.
const ALREADY_BOOKED: &str = "already_booked";

impl Approval {
    /// A second approval changes nothing: it gets the result of the first, and finishes an interrupted credit or debit.
    pub(crate) fn approve(
        &self,
        by: &ApprovalCaller,
        requester_may: bool,
        reason: Option<String>,
        now: DateTime<Utc>,
    ) -> Result<Self, ApprovalRefusal> {
        let decision = self.decision_of(by, reason, now)?;
        match self.state(now) {
            ApprovalState::Approved | ApprovalState::Executed => Ok(self.clone()),
            ApprovalState::Pending if !requester_may => Err(ApprovalRefusal::RequesterInactive),
            ApprovalState::Pending => Ok(Self {
                stored: ApprovalState::Approved,
                // The wallet may have posted it although its answer was lost.
                expires_at: self.expires_at.filter(|_| !self.kind().moves_money()),
                decision: Some(decision),
                ..self.clone()
            }),
            other => Err(ApprovalRefusal::WrongState(other)),
        }
    }

    pub(crate) fn reject(
        &self,
        by: &ApprovalCaller,
        reason: String,
        now: DateTime<Utc>,
    ) -> Result<Self, ApprovalRefusal> {
        let decision = self.decision_of(by, Some(reason), now)?;
        self.require(ApprovalState::Pending, now)?;
        Ok(Self { decision: Some(decision), ..self.clone().ended(ApprovalState::Rejected, None, now) })
    }

    pub(crate) fn withdraw(&self, by: &ApprovalCaller, now: DateTime<Utc>) -> Result<Self, ApprovalRefusal> {
        self.require_requester(by)?;
        self.require(ApprovalState::Pending, now)?;
        Ok(self.clone().ended(ApprovalState::Withdrawn, None, now))
    }

    /// The requester fetches the reset link, once.
    pub(crate) fn fetch_link(
        &self,
        by: &ApprovalCaller,
        approver_may: bool,
        now: DateTime<Utc>,
    ) -> Result<Self, ApprovalRefusal> {
        self.require_requester(by)?;
        if self.kind() != ApprovalKind::IssueResetLink {
            return Err(ApprovalRefusal::NoLink);
        }
        self.require(ApprovalState::Approved, now)?;
        if !approver_may {
            return Err(ApprovalRefusal::ApproverInactive);
        }
        Ok(self.clone().executed(None, now))
    }

    pub(crate) fn executed(self, outcome: Option<String>, now: DateTime<Utc>) -> Self {
        self.ended(ApprovalState::Executed, outcome, now)
    }

    pub(crate) fn failed(self, code: String, now: DateTime<Utc>) -> Self {
        self.ended(ApprovalState::Failed, Some(code), now)
    }

    /// Another call with the same reference had moved the money at `booked_at`. This request moved nothing.
    pub(crate) fn already_booked(self, booked_at: DateTime<Utc>, now: DateTime<Utc>) -> Self {
        Self { booked_at: Some(booked_at), ..self.failed(ALREADY_BOOKED.to_owned(), now) }
    }

    /// The suspension that the request would lift has ended.
    pub(crate) fn outdated(self, now: DateTime<Utc>) -> Self {
        self.failed(SUSPENSION_ENDED.to_owned(), now)
    }

    /// Whether the caller may approve now, for the pages.
    pub(crate) fn is_decidable(&self, by: &ApprovalCaller, now: DateTime<Utc>) -> bool {
        let is_open = match self.state(now) {
            ApprovalState::Pending => true,
            ApprovalState::Approved => self.kind().moves_money(),
            _ => false,
        };
        is_open && self.decision_of(by, None, now).is_ok()
    }

    fn decision_of(
        &self,
        by: &ApprovalCaller,
        reason: Option<String>,
        now: DateTime<Utc>,
    ) -> Result<Decision, ApprovalRefusal> {
        let OperatorActor::Person { id, email } = &by.actor else {
            return Err(ApprovalRefusal::PersonRequired);
        };
        if self.is_requested_by(&by.actor) {
            return Err(ApprovalRefusal::OwnRequest);
        }
        self.require_permission(by)?;
        Ok(Decision { by: *id, email: email.clone(), at: now, reason })
    }

    fn require_requester(&self, by: &ApprovalCaller) -> Result<(), ApprovalRefusal> {
        if !self.is_requested_by(&by.actor) {
            return Err(ApprovalRefusal::NotRequester);
        }
        self.require_permission(by)
    }

    fn require_permission(&self, by: &ApprovalCaller) -> Result<(), ApprovalRefusal> {
        by.may.then_some(()).ok_or(ApprovalRefusal::PermissionMissing(self.kind().permission()))
    }

    fn require(&self, state: ApprovalState, now: DateTime<Utc>) -> Result<(), ApprovalRefusal> {
        let found = self.state(now);
        (found == state).then_some(()).ok_or(ApprovalRefusal::WrongState(found))
    }

    fn ended(self, stored: ApprovalState, outcome: Option<String>, now: DateTime<Utc>) -> Self {
        Self { stored, expires_at: None, ended_at: Some(now), outcome, booked_at: None, ..self }
    }
}
