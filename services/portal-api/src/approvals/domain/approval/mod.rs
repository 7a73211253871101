//! Calls of the operator that need a second person: what waits for the approval, who may decide, and what follows.

mod steps;
#[cfg(test)]
mod tests;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{ApprovalId, BusinessId, Paise, StaffId, TransferId, UserId};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::audit::domain::AuditEvent;
use crate::business::domain::BusinessChange;
use crate::domain::{OperatorActor, OperatorPermission};

/// A request expires after this time. A reset link must be fetched before, too.
const VALID_FOR: TimeDelta = TimeDelta::hours(24);

/// So long, two accounts may belong to the one person who set up the other.
pub(crate) const RELATED_FOR: TimeDelta = TimeDelta::days(7);

/// Whether a chain of given access connects two accounts or tokens of the staff: each pair is who gave access to whom.
pub(crate) fn are_related(given: &[(String, String)], one: &str, other: &str) -> bool {
    let mut found = vec![one];
    let mut next = 0;
    while let Some(person) = found.get(next).copied() {
        next += 1;
        for (giver, receiver) in given {
            let neighbour = if giver == person {
                receiver
            } else if receiver == person {
                giver
            } else {
                continue;
            };
            if !found.contains(&neighbour.as_str()) {
                found.push(neighbour);
            }
        }
    }
    one != other && found.contains(&other)
}

/// Which calls need a second person.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ApprovalPolicy {
    /// Credits and debits of wallets above this amount; `None` for none.
    pub(crate) credits_above: Option<Paise>,
    pub(crate) lift_suspension: bool,
    pub(crate) reset_links: bool,
}

impl ApprovalPolicy {
    pub(crate) fn covers_amount(&self, amount: Paise) -> bool {
        self.credits_above.is_some_and(|limit| amount > limit)
    }

    /// Whether some amount would then need no second person any more.
    pub(crate) fn is_raised_by(&self, after: &Self) -> bool {
        self.credits_above.is_some_and(|limit| after.credits_above.is_none_or(|higher| higher > limit))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ApprovalKind {
    Credit,
    Debit,
    RaiseLimit,
    LiftSuspension,
    IssueResetLink,
}

impl ApprovalKind {
    /// What requester and approver need, as for the call itself.
    pub(crate) const fn permission(self) -> OperatorPermission {
        match self {
            Self::Credit | Self::Debit => OperatorPermission::CreditWallets,
            Self::RaiseLimit => OperatorPermission::ManageStaff,
            Self::LiftSuspension => OperatorPermission::ChangeBusinesses,
            Self::IssueResetLink => OperatorPermission::IssuePasswordResets,
        }
    }

    /// The wallet executes it, after the transaction of the approval.
    pub(crate) const fn moves_money(self) -> bool {
        matches!(self, Self::Credit | Self::Debit)
    }
}

/// What is executed after the approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", content = "parameters", rename_all = "snake_case")]
pub(crate) enum ProtectedAction {
    /// The wallet credits each reference once, so a repeated execution has no effect.
    #[serde(rename_all = "camelCase")]
    Credit {
        amount_paise: Paise,
        reference: String,
    },
    /// Likewise.
    Debit(WalletDebit),
    /// Raises the limit of the installation above which credits and debits need a second person.
    #[serde(rename_all = "camelCase")]
    RaiseLimit {
        /// `null` removes the limit that administrators chose: the setting applies.
        #[schema(required)]
        credits_above_paise: Option<Paise>,
    },
    LiftSuspension(SuspensionLift),
    #[serde(rename_all = "camelCase")]
    IssueResetLink {
        user_id: UserId,
    },
}

/// Takes money from a wallet, to correct it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletDebit {
    pub(crate) amount_paise: Paise,
    pub(crate) reference: String,
    pub(crate) reason: String,
    /// The credit, top-up or refund that it takes back.
    pub(crate) reverses: Option<TransferId>,
}

impl WalletDebit {
    pub(crate) fn describe(&self, event: AuditEvent) -> AuditEvent {
        let event = event
            .with("amountPaise", self.amount_paise.get())
            .with("reference", self.reference.as_str())
            .with("debitReason", self.reason.as_str());
        match self.reverses {
            Some(transfer) => event.with("reverses", transfer.to_string()),
            None => event,
        }
    }
}

/// A change that lifts one suspension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SuspensionLift {
    #[serde(flatten)]
    pub(crate) change: BusinessChange,
    /// How often the business had been suspended then. A request of the previous release is about the suspension of the upgrade.
    #[serde(default)]
    #[schema(required)]
    pub(crate) suspension: i32,
}

impl ProtectedAction {
    pub(crate) fn kind(&self) -> ApprovalKind {
        match self {
            Self::Credit { .. } => ApprovalKind::Credit,
            Self::Debit(_) => ApprovalKind::Debit,
            Self::RaiseLimit { .. } => ApprovalKind::RaiseLimit,
            Self::LiftSuspension(_) => ApprovalKind::LiftSuspension,
            Self::IssueResetLink { .. } => ApprovalKind::IssueResetLink,
        }
    }
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, Display, EnumString, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ApprovalState {
    Pending,
    /// A credit or debit whose outcome is not known yet, or a reset link that the requester has not fetched.
    Approved,
    Executed,
    /// The wallet refused the credit or debit for good, another call had moved the money of the same reference, or the suspension that
    /// the request would lift has ended.
    Failed,
    Rejected,
    Withdrawn,
    /// Never stored: follows from the end of the request.
    Expired,
}

impl ApprovalState {
    /// For error messages.
    pub(crate) const WORDS: &str = "pending, approved, executed, failed, rejected, withdrawn or expired";

    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A request for an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Approval {
    pub(crate) id: ApprovalId,
    /// `None` for the limit, which is about the installation.
    pub(crate) business: Option<BusinessId>,
    pub(crate) action: ProtectedAction,
    /// See [`Approval::state`].
    pub(crate) stored: ApprovalState,
    pub(crate) requester: OperatorActor,
    pub(crate) requested_at: DateTime<Utc>,
    /// `None` when it cannot expire any more.
    pub(crate) expires_at: Option<DateTime<Utc>>,
    pub(crate) decision: Option<Decision>,
    pub(crate) ended_at: Option<DateTime<Utc>>,
    /// The id of the transfer, or why the request failed.
    pub(crate) outcome: Option<String>,
    /// When another call had moved the money of the same reference, so that this request moved nothing.
    pub(crate) booked_at: Option<DateTime<Utc>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) by: StaffId,
    pub(crate) email: String,
    pub(crate) at: DateTime<Utc>,
    pub(crate) reason: Option<String>,
}

/// Who sends a step, and whether they have the permission of the action now.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalCaller {
    pub(crate) actor: OperatorActor,
    pub(crate) may: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApprovalRefusal {
    /// Tokens decide nothing: whoever holds one could approve alone what they requested with their account.
    PersonRequired,
    OwnRequest,
    /// One of the two gave access to the other less than [`RELATED_FOR`] ago, or a chain of such steps connects them.
    RelatedAccount,
    NotRequester,
    PermissionMissing(OperatorPermission),
    RequesterInactive,
    ApproverInactive,
    /// The request is not about a reset link.
    NoLink,
    WrongState(ApprovalState),
}

/// Selects requests; absent fields match all.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalFilter {
    pub(crate) state: Option<ApprovalState>,
    pub(crate) business: Option<BusinessId>,
    /// The kinds that the caller may decide.
    pub(crate) kinds: Vec<ApprovalKind>,
}

impl Approval {
    pub(crate) fn request(
        id: ApprovalId,
        business: Option<BusinessId>,
        action: ProtectedAction,
        requester: OperatorActor,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            id,
            business,
            action,
            stored: ApprovalState::Pending,
            requester,
            requested_at: now,
            expires_at: Some(now + VALID_FOR),
            decision: None,
            ended_at: None,
            outcome: None,
            booked_at: None,
        }
    }

    pub(crate) fn kind(&self) -> ApprovalKind {
        self.action.kind()
    }

    pub(crate) fn state(&self, now: DateTime<Utc>) -> ApprovalState {
        match self.expires_at {
            Some(end) if end <= now => ApprovalState::Expired,
            _ => self.stored,
        }
    }

    pub(crate) fn is_requested_by(&self, actor: &OperatorActor) -> bool {
        self.requester.kind() == actor.kind() && self.requester.id() == actor.id()
    }
}
