//! The account of a person, and its realm.

use std::fmt;

use chrono::{DateTime, Utc};
use domain::{AccountId, StaffId};
use strum::{EnumString, IntoStaticStr};

use crate::browser::KnownBrowser;

/// Whose accounts are meant: nothing of one realm acts in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Realm {
    /// People of businesses.
    User,
    /// People of the operator.
    Staff,
}

impl Realm {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The account of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Account {
    User(AccountId),
    Staff(StaffId),
}

impl From<AccountId> for Account {
    fn from(id: AccountId) -> Self {
        Self::User(id)
    }
}

impl From<StaffId> for Account {
    fn from(id: StaffId) -> Self {
        Self::Staff(id)
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id())
    }
}

impl Account {
    pub fn realm(self) -> Realm {
        match self {
            Self::User(_) => Realm::User,
            Self::Staff(_) => Realm::Staff,
        }
    }

    pub fn id(self) -> String {
        match self {
            Self::User(id) => id.to_string(),
            Self::Staff(id) => id.to_string(),
        }
    }
}

/// The account of a person of either realm: what logs in.
#[derive(Clone)]
pub struct Credentials {
    pub account: Account,
    pub email: String,
    /// Always false for the staff: an administrator has entered the address.
    pub email_verified: bool,
    pub name: Option<String>,
    /// `None` for an account that a provider has made, and until a person of the staff has set one.
    pub password_hash: Option<String>,
}

impl Credentials {
    /// Whether the person has logged in from this browser with the present password.
    pub fn knows(&self, browser: Option<&KnownBrowser>, now: DateTime<Utc>) -> bool {
        let of = browser.zip(self.password_hash.as_deref());
        of.is_some_and(|(browser, hash)| browser.is_known(hash, self.account, now))
    }

    /// Makes a browser known. Without a password, [`Self::knows`] knows none.
    pub fn known_browser(&self, now: DateTime<Utc>) -> KnownBrowser {
        KnownBrowser::issue(self.password_hash.as_deref().unwrap_or_default(), self.account, now)
    }
}
