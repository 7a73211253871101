//! The users of a business, and open invitations.

use chrono::{DateTime, Utc};
use domain::{AccountId, BusinessId, Email, InvitationId, SessionId, UserId};

use crate::business::domain::BusinessStatus;
use crate::domain::Role;

/// A user as owners see them in the list.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) id: UserId,
    pub(crate) email: String,
    pub(crate) email_verified: bool,
    pub(crate) name: Option<String>,
    pub(crate) role: Role,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) last_seen_at: Option<DateTime<Utc>>,
    pub(crate) has_second_factor: bool,
    /// False for a user who logs in with single sign-on only.
    pub(crate) has_password: bool,
}

/// The account of a user, for all memberships.
#[derive(Clone)]
pub(crate) struct UserAccount {
    pub(crate) account: AccountId,
    /// The oldest membership. Mails and log lines about the account name it.
    pub(crate) user: UserId,
    pub(crate) business: BusinessId,
    pub(crate) email: String,
    pub(crate) email_verified: bool,
}

impl UserAccount {
    pub(crate) fn email_is(&self, email: &Email) -> bool {
        Email::parse(&self.email).is_some_and(|own| own.key() == email.key())
    }
}

/// A business that a person belongs to, with their user there.
#[derive(Clone, Debug)]
pub(crate) struct Membership {
    pub(crate) business: BusinessId,
    pub(crate) business_name: String,
    pub(crate) status: BusinessStatus,
    /// Whether its closing has begun, or is completed.
    pub(crate) closing: bool,
    /// Whether its closing is completed.
    pub(crate) closed: bool,
    pub(crate) user: UserId,
    pub(crate) role: Role,
}

/// An invitation that can still be accepted.
#[derive(Clone, Debug)]
pub(crate) struct Invitation {
    pub(crate) id: InvitationId,
    pub(crate) business: BusinessId,
    pub(crate) email: Email,
    pub(crate) role: Role,
    pub(crate) invited_by: UserId,
    pub(crate) invited_by_email: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
    /// Whether the link went to the invited address only, so that accepting proves the address.
    pub(crate) mailed: bool,
}

/// What the link of a mail confirms: the address of an account, or one that its person changes to.
#[derive(Clone, Debug)]
pub(crate) struct EmailConfirmation {
    pub(crate) account: AccountId,
    /// The address that the link was mailed to.
    pub(crate) email: Email,
    /// For a change: the session that requested it, which stays open.
    pub(crate) change_by: Option<SessionId>,
    pub(crate) is_used: bool,
}

/// The e-mail address of a user, and the one that they change to.
#[derive(Clone, Debug)]
pub(crate) struct EmailState {
    pub(crate) email: String,
    pub(crate) verified: bool,
    /// The new address with the end of its latest link.
    pub(crate) pending: Option<(String, DateTime<Utc>)>,
}
