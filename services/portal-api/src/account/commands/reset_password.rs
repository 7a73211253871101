//! A user who cannot log in gets a link that sets a new password: by mail, or from the operator, who passes it on.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::AsyncPgConnection;
use domain::{BusinessId, Email, RequestId};
use identity::attempts::{self, Admission, Subject};
use identity::password_links::{self, Way};
use identity::{Account, LinkToken, Realm, accounts};
use postgres::StoreError;

use crate::account::commands::attempt_limits::{self, Caller};
use crate::approvals::commands::request_approval::{self, RequestApprovalError};
use crate::approvals::domain::{Approval, ProtectedAction};
use crate::audit::commands::audit::write_account_audit;
use crate::audit::domain::{Action, AuditEvent, Author, Target, TargetKind};
use crate::console::commands::staff::still_may;
use crate::domain::{OperatorPermission, Role, UserAccount, limits};
use crate::mail::Mail;
use crate::state::State;
use crate::store::{memberships, staff, user_accounts, users};

/// A link expires after this time.
const VALID_FOR: TimeDelta = TimeDelta::hours(1);
/// Open links of one user. Issuing more deletes the oldest ones.
const OPEN_MAX: i64 = 10;

#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestResetError {
    #[error("too many resets were requested")]
    TooMany { wait: TimeDelta },
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum IssueResetError {
    #[error("the business has no such user")]
    UnknownUser,
    #[error("the author may no longer issue links")]
    NotPermitted,
    #[error(transparent)]
    Approval(#[from] RequestApprovalError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Mails a link if the account exists. Runs in the background, so that the response time does not reveal whether it does.
pub(crate) async fn request_reset(
    state: &Arc<State>,
    email: Email,
    caller: &Caller,
    request: Option<RequestId>,
) -> Result<(), RequestResetError> {
    let mut subjects =
        attempt_limits::subjects(state, &attempts::RESET, (Realm::User, &email), caller).await?;
    // `may_mail` counts the mails of an account instead: strangers would use up a limit of its requests.
    subjects.retain(|subject| subject.scope != attempts::RESET.account);
    if let Admission::RetryAfter(wait) = attempt_limits::admit(state, &subjects).await? {
        return Err(RequestResetError::TooMany { wait });
    }
    if state.mailbox.is_enabled {
        let shared = state.clone();
        let author = Author::system(request).at(caller.address.clone());
        state.background.spawn(async move {
            if let Err(error) = mail_link(&shared, &email, author).await {
                tracing::error!(%error, "mailing a password reset link failed");
            }
        });
    }
    Ok(())
}

async fn mail_link(state: &State, email: &Email, author: Author) -> Result<(), StoreError> {
    let now = state.unit.clock.now();
    let queued: Result<bool, StoreError> = state
        .unit
        .database
        .transaction(async |conn| {
            let Some(account) = user_accounts::by_email(conn, email).await? else { return Ok(false) };
            if !may_mail(conn, &account, email, now).await? {
                tracing::info!(user_id = %account.user, "reset link not mailed: the inbox has enough");
                return Ok(false);
            }
            let (token, expires_at) =
                create_link(conn, state, &account, Way::Mail(&email.key()), now).await?;
            let target = Target::new(TargetKind::User, account.user).labelled(&account.email);
            let event = AuditEvent::new(Action::PasswordResetRequested).on(target);
            write_account_audit(conn, state, account.account, &author, &event).await?;
            let mail = Mail::PasswordReset { token: &token, expires_at };
            state.mailbox.queue(conn, account.business, &account.email, &mail, now).await?;
            Ok(true)
        })
        .await;
    if queued? {
        state.mailbox.wake_sender();
    }
    Ok(())
}

/// A verified address gets a bounded number an hour, the latest of which work. Anybody can sign up with any address and ask for links: an
/// address that is not verified has one open link at a time. No other limit counts it: strangers would use it up, and only this link gives
/// the owner of the address the account.
async fn may_mail(
    conn: &mut AsyncPgConnection,
    account: &UserAccount,
    email: &Email,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    if account.email_verified {
        let mailed = Subject::account(attempts::RESET.account, (Realm::User, email));
        return Ok(matches!(attempts::admit(conn, &[mailed], now).await?, Admission::Granted(_)));
    }
    accounts::lock(conn, account.account).await?;
    if password_links::has_mailed(conn, account.account, now).await? {
        return Ok(false);
    }
    let Some(inbox) = Subject::other_name(limits::RESET_INBOX, email) else { return Ok(true) };
    let admission = attempts::admit(conn, &[inbox], now).await?;
    Ok(matches!(admission, Admission::Granted(_)))
}

/// What a call of the operator for a link gets.
pub(crate) enum IssuedReset {
    Link(LinkToken, DateTime<Utc>),
    /// The link waits for the approval of a second person.
    Requested(Box<Approval>),
}

/// Creates a link that the operator passes on, or requests the approval for it.
pub(crate) async fn issue_link(
    state: &State,
    business: BusinessId,
    author: &Author,
    email: &Email,
) -> Result<IssuedReset, IssueResetError> {
    let now = state.unit.clock.now();
    let issued: Result<IssuedReset, IssueResetError> = state
        .unit
        .database
        .transaction(async |conn| {
            let user = users::find_by_email(conn, business, email).await?;
            let user = user.ok_or(IssueResetError::UnknownUser)?;
            let account = user_accounts::by_email(conn, email).await?.ok_or(IssueResetError::UnknownUser)?;
            if state.approvals.reset_links {
                let action = ProtectedAction::IssueResetLink { user_id: user.id };
                let requested =
                    request_approval::request(conn, state, Some(business), author, action).await?;
                return Ok(IssuedReset::Requested(Box::new(requested)));
            }
            // The person may have been removed since the guard's check; then no removal would end the link.
            staff::lock(conn).await?;
            let permission = OperatorPermission::IssuePasswordResets;
            if !still_may(conn, state, author.operator_actor(), permission).await? {
                return Err(IssueResetError::NotPermitted);
            }
            let (token, expires_at) = issue(conn, state, author, &account, now).await?;
            Ok(IssuedReset::Link(token, expires_at))
        })
        .await;
    let issued = issued?;
    state.mailbox.wake_sender();
    tracing::info!(business_id = %business, "password reset link requested by the operator");
    Ok(issued)
}

/// Creates a link for the operator. It sets the password for all businesses of the person, so their owners are informed, and the
/// person.
pub(crate) async fn issue(
    conn: &mut AsyncPgConnection,
    state: &State,
    author: &Author,
    account: &UserAccount,
    now: DateTime<Utc>,
) -> Result<(LinkToken, DateTime<Utc>), StoreError> {
    let link = create_link(conn, state, account, Way::ByHand(author.staff()), now).await?;
    let target = Target::new(TargetKind::User, account.user).labelled(&account.email);
    let event = AuditEvent::new(Action::PasswordResetIssued).on(target);
    write_account_audit(conn, state, account.account, author, &event).await?;
    let mail = Mail::ResetLinkIssued { email: &account.email, at: now };
    state.mailbox.queue(conn, account.business, &account.email, &mail, now).await?;
    for membership in memberships::list(conn, account.account).await? {
        for owner in users::emails_of(conn, membership.business, &[Role::Owner]).await? {
            if owner != account.email {
                state.mailbox.queue(conn, membership.business, &owner, &mail, now).await?;
            }
        }
    }
    Ok(link)
}

async fn create_link(
    conn: &mut AsyncPgConnection,
    state: &State,
    account: &UserAccount,
    way: Way<'_>,
    now: DateTime<Utc>,
) -> Result<(LinkToken, DateTime<Utc>), StoreError> {
    let (token, expires_at) = (LinkToken::generate(&state.unit.entropy), now + VALID_FOR);
    password_links::insert(conn, (Account::User(account.account), way), &token, (now, expires_at), OPEN_MAX)
        .await?;
    Ok((token, expires_at))
}
