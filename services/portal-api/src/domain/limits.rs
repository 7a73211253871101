//! Rate limits (SPECIFICATION §8) of what sends mails or makes accounts: sign-ups per address; invitations per business and per recipient;
//! confirmations of e-mail addresses per account and per recipient; links to the other names of an inbox.

use chrono::TimeDelta;
use domain::{AccountId, BusinessId, Email};
use identity::attempts::{Scope, Subject};
use identity::{CallerAddress, Realm};

const HOUR: TimeDelta = TimeDelta::hours(1);
const DAY: TimeDelta = TimeDelta::hours(24);

const SIGN_UP_ADDRESS: Scope = Scope::new("sign_up_address", 20, HOUR);
// Each invitation sends a mail that the recipient did not ask for.
const INVITATION_BUSINESS: Scope = Scope::new("invitation_business", 60, HOUR);
const INVITATION_RECIPIENT: Scope = Scope::new("invitation_recipient", 5, DAY);
const EMAIL_CONFIRMATION_ACCOUNT: Scope = Scope::new("email_confirmation_account", 10, DAY);
// Anybody can sign up with any address.
const EMAIL_CONFIRMATION_RECIPIENT: Scope = Scope::new("email_confirmation_recipient", 5, DAY);
pub(crate) const EMAIL_CONFIRMATION_INBOX: Scope = Scope::new("email_confirmation_inbox", 20, DAY);
pub(crate) const RESET_INBOX: Scope = Scope::new("reset_inbox", 20, DAY);

pub(crate) fn sign_up_from(address: &CallerAddress) -> Subject {
    Subject::address(SIGN_UP_ADDRESS, address)
}

pub(crate) fn invitation_by(business: BusinessId) -> Subject {
    Subject::of(INVITATION_BUSINESS, &business.to_string())
}

/// Counts the invitations of all businesses.
pub(crate) fn invitation_to(email: &Email) -> Subject {
    Subject::inbox(INVITATION_RECIPIENT, email)
}

/// Counts the links that confirm e-mail addresses of one account.
pub(crate) fn confirmation_of(account: AccountId) -> Subject {
    Subject::of(EMAIL_CONFIRMATION_ACCOUNT, &account.to_string())
}

/// Counts the links of all accounts.
pub(crate) fn confirmation_to(email: &Email) -> Subject {
    Subject::account(EMAIL_CONFIRMATION_RECIPIENT, (Realm::User, email))
}
