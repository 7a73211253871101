//! A business opens its account.

use chrono::TimeDelta;
use domain::{BusinessId, RequestId, UserId};
use postgres::StoreError;

use super::start_session::{Browser, Holder, Opened, start_session};
use super::write_audit;
use crate::app::App;
use crate::domain::{
    Act, Action, Author, Business, BusinessStatus, CallerAddress, Email, Password, Role, Subject,
    Subscription, Target, TargetKind,
};
use crate::passwords::PasswordError;
use crate::store::attempts::{self, Allowed};
use crate::store::users::{self, NewUser};
use crate::store::{businesses, go_live};
use crate::turns::Who;

pub(crate) struct SignUp {
    pub(crate) business_name: String,
    pub(crate) email: Email,
    pub(crate) password: Password,
    pub(crate) address: Option<CallerAddress>,
    pub(crate) browser: Browser,
    pub(crate) request: Option<RequestId>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SignUpError {
    #[error("an account with this e-mail exists already")]
    EmailTaken,
    #[error("too many accounts were opened from this address")]
    TooMany { wait: TimeDelta },
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<diesel::result::Error> for SignUpError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Creates the business, inactive until the operator approves it, its owner, and a session for them.
pub(crate) async fn sign_up(app: &App, request: SignUp) -> Result<Opened, SignUpError> {
    if let Some(address) = request.address.filter(|_| app.limits.per_address) {
        let subjects = [Subject::sign_up_from(address)];
        let now = app.clock.now();
        let allowed =
            app.database.transaction(async |conn| attempts::begin(conn, &subjects, now).await).await?;
        if let Allowed::After(wait) = allowed {
            return Err(SignUpError::TooMany { wait });
        }
    }
    let address = request.address.map(CallerAddress::text).unwrap_or_default();
    let who = Who { address, account: request.email.key() };
    let password_hash = app.passwords.hash(&request.password, who).await?;
    let opened = app.database.transaction(async |conn| create(conn, app, &request, &password_hash).await);
    let opened = opened.await?;
    tracing::info!(
        business_id = %opened.session.business,
        user_id = %opened.session.user,
        session_id = %opened.session.id,
        "a business signed up"
    );
    Ok(opened)
}

async fn create(
    conn: &mut diesel_async::AsyncPgConnection,
    app: &App,
    request: &SignUp,
    password_hash: &str,
) -> Result<Opened, SignUpError> {
    let now = app.clock.now();
    let business = Business {
        id: BusinessId::generate(&app.clock, &app.entropy),
        name: request.business_name.clone(),
        status: BusinessStatus::Inactive,
        live_access: false,
        subscription: Subscription::none(),
        created_at: now,
    };
    let user = NewUser {
        id: UserId::generate(&app.clock, &app.entropy),
        business: business.id,
        email: &request.email,
        password_hash,
        role: Role::Owner,
        created_at: now,
    };
    businesses::insert(conn, &business).await?;
    go_live::insert(conn, business.id).await?;
    if !users::insert(conn, &user).await? {
        return Err(SignUpError::EmailTaken);
    }
    let holder = Holder {
        user: user.id,
        email: request.email.as_str().to_owned(),
        role: Role::Owner,
        business: business.id,
        business_name: business.name,
        password_hash: password_hash.to_owned(),
    };
    let author = Author::user(user.id, &holder.email, request.request);
    let act = Act::new(Action::AccountCreated).on(Target::new(TargetKind::Business, business.id));
    write_audit(conn, app, business.id, &author, &act).await?;
    Ok(start_session(conn, app, holder, &request.browser).await?)
}
