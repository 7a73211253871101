//! The owner of a second factor: limits of their tries, and mails.

use diesel_async::AsyncPgConnection;
use domain::Email;
use identity::Account;
use identity::attempts::{self, Admission, Attempt, Subject};
use identity::second_factors::FactorError;
use postgres::StoreError;

use crate::account::commands::account_mail::mail_account;
use crate::account::commands::attempt_limits::{self, Caller};
use crate::mail::{FactorNews, Mail};
use crate::state::State;

/// The owner of a second factor.
#[derive(Clone)]
pub(crate) struct Holder {
    pub(crate) account: Account,
    pub(crate) email: String,
}

/// A counted try.
pub(crate) struct CountedTry {
    pub(crate) subjects: Vec<Subject>,
    pub(crate) attempts: Vec<Attempt>,
}

/// The limits that wrong codes of the account count against.
pub(crate) async fn subjects(
    state: &State,
    holder: &Holder,
    caller: &Caller,
) -> Result<Vec<Subject>, StoreError> {
    let invalid = || StoreError::Corrupt("the e-mail address of an account is invalid".to_owned());
    let email = Email::parse(&holder.email).ok_or_else(invalid)?;
    let of = (holder.account.realm(), &email);
    attempt_limits::subjects(state, &attempts::SECOND_FACTOR, of, caller).await
}

/// Counts a try before its code is checked.
pub(crate) async fn count(
    state: &State,
    holder: &Holder,
    caller: &Caller,
) -> Result<CountedTry, FactorError> {
    let subjects = subjects(state, holder, caller).await?;
    match attempt_limits::admit(state, &subjects).await? {
        Admission::RetryAfter(wait) => Err(FactorError::TooMany { wait }),
        Admission::Granted(attempts) => Ok(CountedTry { subjects, attempts }),
    }
}

/// Mails a user or a person of the staff about their second factor.
pub(crate) async fn mail_holder(
    conn: &mut AsyncPgConnection,
    state: &State,
    holder: &Holder,
    news: FactorNews,
) -> Result<(), StoreError> {
    let at = state.unit.clock.now();
    let mail = match holder.account {
        Account::User(_) => Mail::SecondFactor { news, at },
        Account::Staff(_) => Mail::StaffSecondFactor { news, at },
    };
    mail_account(conn, state, (holder.account, &holder.email), &mail).await
}
