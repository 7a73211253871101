//! The sessions of users and of the console, as responses show them.

use chrono::{DateTime, Utc};
use domain::{BusinessId, Paise, UserId};
use serde::Serialize;
use web::ApiError;

use crate::account::commands::console_session::ConsoleSession;
use crate::approvals::commands::approval_limit;
use crate::business::domain::BusinessStatus;
use crate::domain::{Membership, OperatorPermission, OperatorRole, Permission, Role, Session};
use crate::state::State;

/// The session of the logged-in user.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionView<'a> {
    business_id: BusinessId,
    business_name: &'a str,
    user_id: UserId,
    email: &'a str,
    /// Whether the user has confirmed the e-mail address.
    email_verified: bool,
    name: Option<&'a str>,
    role: Role,
    /// What the role may do.
    permissions: Vec<Permission>,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    /// Present if the role requires two-factor authentication that the user has not set up. All other calls are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    mfa_enrolment_required: Option<bool>,
    /// Present if the identity provider of the business has authenticated the user. Such a session changes nothing of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    single_sign_on: Option<bool>,
    /// The businesses of the person, by name; with the present one. Only in the response to `GET`.
    #[serde(skip_serializing_if = "Option::is_none")]
    memberships: Option<Vec<MembershipView>>,
}

/// A business that the person belongs to.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct MembershipView {
    business_id: BusinessId,
    business_name: String,
    role: Role,
    status: BusinessStatus,
    /// Whether its closing has begun, or is completed.
    closing: bool,
    /// Whether its closing is completed. It keeps the status that it had.
    closed: bool,
}

impl From<Membership> for MembershipView {
    fn from(membership: Membership) -> Self {
        Self {
            business_id: membership.business,
            business_name: membership.business_name,
            role: membership.role,
            status: membership.status,
            closing: membership.closing,
            closed: membership.closed,
        }
    }
}

impl<'a> SessionView<'a> {
    pub(crate) fn of(session: &'a Session) -> Self {
        Self {
            business_id: session.business,
            business_name: &session.business_name,
            user_id: session.user,
            email: &session.email,
            email_verified: session.email_verified,
            name: session.name.as_deref(),
            role: session.role,
            permissions: session.role.permissions(),
            created_at: session.created_at,
            expires_at: session.expires_at,
            mfa_enrolment_required: session.must_enrol.then_some(true),
            memberships: None,
            single_sign_on: session.single_sign_on.then_some(true),
        }
    }

    pub(crate) fn with(self, memberships: Vec<Membership>) -> Self {
        Self { memberships: Some(memberships.into_iter().map(MembershipView::from).collect()), ..self }
    }
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperatorSessionView {
    expires_at: DateTime<Utc>,
    /// `person`, or `configuration` for the installation token.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The id of the person.
    id: Option<String>,
    /// The e-mail address of the person, or `configuration`.
    name: String,
    /// The name of the person.
    display_name: Option<String>,
    role: OperatorRole,
    permissions: Vec<OperatorPermission>,
    /// Present if the role requires two-factor authentication that the person has not set up. All other calls are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    mfa_enrolment_required: Option<bool>,
    /// Present if the identity provider has authenticated the person. It also confirms the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    single_sign_on: Option<bool>,
    approvals: ApprovalPolicyView,
}

/// Which calls need a second person.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct ApprovalPolicyView {
    /// Credits and debits of wallets above this amount. `null`: none.
    credits_above_paise: Option<Paise>,
    /// The setting, which `creditsAbovePaise` cannot exceed.
    credits_above_max_paise: Option<Paise>,
    lift_suspension: bool,
    reset_links: bool,
}

impl ApprovalPolicyView {
    async fn read(state: &State) -> Result<Self, ApiError> {
        let policy = approval_limit::policy(state).await?;
        Ok(Self {
            credits_above_paise: policy.credits_above,
            credits_above_max_paise: state.approvals.credits_above,
            lift_suspension: policy.lift_suspension,
            reset_links: policy.reset_links,
        })
    }
}

/// Present if the person also has a session at the identity provider.
#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoggedOutView {
    /// The page that ends the session at the identity provider.
    pub(crate) log_out_url: String,
}

impl OperatorSessionView {
    pub(crate) async fn new(state: &State, session: &ConsoleSession) -> Result<Self, ApiError> {
        Ok(Self {
            expires_at: session.expires_at,
            kind: session.actor.kind(),
            id: session.actor.id(),
            name: session.actor.name().to_owned(),
            display_name: session.display_name.clone(),
            role: session.role,
            permissions: session.role.permissions(),
            mfa_enrolment_required: session.must_enrol.then_some(true),
            single_sign_on: session.single_sign_on.then_some(true),
            approvals: ApprovalPolicyView::read(state).await?,
        })
    }
}
