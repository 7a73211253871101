//! The open session of a user.

use chrono::{DateTime, Utc};
use domain::{AccountId, BusinessId, SessionId, UserId};

use crate::domain::Role;

/// A logged-in user.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The user in this business. Audit entries and rights in the business are theirs.
    pub(crate) user: UserId,
    /// The person's address, password and second factor, for all their businesses.
    pub(crate) account: AccountId,
    pub(crate) email: String,
    pub(crate) email_verified: bool,
    pub(crate) name: Option<String>,
    pub(crate) role: Role,
    pub(crate) business: BusinessId,
    pub(crate) business_name: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) expires_at: DateTime<Utc>,
    /// When the user last authenticated.
    pub(crate) authenticated_at: DateTime<Utc>,
    /// Whether the role requires a second factor that the user does not have yet.
    pub(crate) must_enrol: bool,
    /// Whether the identity provider of the business has authenticated the user. Such a session counts for this business only.
    pub(crate) single_sign_on: bool,
    /// Whether a password no longer opens sessions of this role.
    pub(crate) password_refused: bool,
}

impl Session {
    /// Whether it may change the account (the password, the e-mail address, the second factor, other sessions), and switch to
    /// another business. A provider that
    /// one business has chosen must not take over an account, which belongs to its person.
    pub(crate) fn acts_on_account(&self) -> bool {
        !self.single_sign_on
    }
}
