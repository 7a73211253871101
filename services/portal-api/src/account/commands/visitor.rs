//! Who calls without a session.

use chrono::{DateTime, Utc};
use domain::RequestId;
use identity::accounts::Credentials;
use identity::sessions::Origin;
use identity::{CallerAddress, Realm, SessionToken};

use crate::account::commands::attempt_limits::Caller;
use crate::audit::domain::Author;
use crate::domain::{OperatorActor, OperatorCaller};

/// The browser that will hold a session.
#[derive(Clone, Default)]
pub(crate) struct Browser {
    /// The session that it already has.
    pub(crate) replaces: Option<SessionToken>,
    /// Truncated.
    pub(crate) user_agent: Option<String>,
    pub(crate) address: Option<CallerAddress>,
}

impl Browser {
    pub(crate) fn origin(&self, new_browser: Option<bool>) -> Origin<'_> {
        Origin { address: self.address.as_ref(), user_agent: self.user_agent.as_deref(), new_browser }
    }
}

/// Somebody who logs in, or has a link.
pub(crate) struct Visitor {
    /// Of the account that they mean.
    pub(crate) realm: Realm,
    pub(crate) caller: Caller,
    pub(crate) browser: Browser,
    pub(crate) request: Option<RequestId>,
}

impl Visitor {
    /// The author of failed attempts: nobody knows who has made them.
    pub(crate) fn unknown(&self) -> Author {
        match self.realm {
            Realm::User => Author::system(self.request).at(self.caller.address.clone()),
            Realm::Staff => self.operator(OperatorActor::Unknown),
        }
    }

    /// The operator as the author.
    pub(crate) fn operator(&self, actor: OperatorActor) -> Author {
        Author::operator(OperatorCaller { actor, address: self.caller.address.clone() }, self.request)
    }

    /// Whether the person of the account has logged in from this browser.
    pub(crate) fn is_known_to(&self, of: &Credentials, now: DateTime<Utc>) -> bool {
        of.knows(self.caller.browser.as_ref(), now)
    }
}
