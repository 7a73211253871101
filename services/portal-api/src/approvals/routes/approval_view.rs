//! A request for approval, in responses.

use std::collections::HashMap;

use actix_web::HttpResponse;
use chrono::{DateTime, Utc};
use domain::{ApprovalId, BusinessId};
use postgres::StoreError;
use serde::Serialize;
use web::ApiError;

use crate::approvals::domain::{Approval, ApprovalCaller, ApprovalState, ProtectedAction};
use crate::audit::domain::Author;
use crate::audit::routes::operator_actor_view::OperatorActorView;
use crate::business::queries::businesses;
use crate::domain::{OperatorActor, OperatorRole};
use crate::state::State;

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApprovalView {
    id: ApprovalId,
    state: ApprovalState,
    #[serde(flatten)]
    action: ProtectedAction,
    /// Null for the limit, which is about the installation.
    business_id: Option<BusinessId>,
    business_name: Option<String>,
    /// Of a reset link: the user. Only when a single request is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_email: Option<String>,
    requested_by: OperatorActorView,
    requested_at: DateTime<Utc>,
    /// Null when the request cannot expire any more.
    expires_at: Option<DateTime<Utc>>,
    decided_by: Option<OperatorActorView>,
    decided_at: Option<DateTime<Utc>>,
    reason: Option<String>,
    ended_at: Option<DateTime<Utc>>,
    /// The id of the transfer, the code of the wallet's refusal, `already_booked` or `suspension_ended`.
    outcome: Option<String>,
    /// With `already_booked`: when another call moved the money of the same reference. This request moved nothing.
    booked_at: Option<DateTime<Utc>>,
    /// Whether the caller requested it.
    yours: bool,
    /// Whether the caller may approve it now.
    may_decide: bool,
}

/// The response of a call that waits for an approval.
pub(crate) async fn requested(
    state: &State,
    author: &Author,
    approval: Approval,
) -> Result<HttpResponse, ApiError> {
    // The requester decides nothing, whatever the role.
    let view = view(state, (author, OperatorRole::Viewer), approval).await?;
    Ok(HttpResponse::Accepted().json(view))
}

pub(crate) async fn view(
    state: &State,
    caller: (&Author, OperatorRole),
    approval: Approval,
) -> Result<ApprovalView, ApiError> {
    let views = views(state, caller, vec![approval]).await?;
    views.into_iter().next().ok_or_else(|| ApiError::internal("no view of an approval"))
}

pub(crate) async fn views(
    state: &State,
    (author, role): (&Author, OperatorRole),
    approvals: Vec<Approval>,
) -> Result<Vec<ApprovalView>, StoreError> {
    let ids: Vec<BusinessId> = approvals.iter().filter_map(|approval| approval.business).collect();
    let names: HashMap<BusinessId, String> = businesses::names(state, &ids).await?.into_iter().collect();
    let now = state.unit.clock.now();
    let actor = author.operator_actor();
    let view = |approval: Approval| {
        let may = author.may(role, approval.kind().permission());
        let caller = ApprovalCaller { actor: actor.clone(), may };
        ApprovalView {
            state: approval.state(now),
            yours: approval.is_requested_by(actor),
            may_decide: approval.is_decidable(&caller, now),
            ..ApprovalView::of(approval, &names)
        }
    };
    Ok(approvals.into_iter().map(view).collect())
}

impl ApprovalView {
    fn of(approval: Approval, names: &HashMap<BusinessId, String>) -> Self {
        let decision = approval.decision;
        let decider = |by, email: &str| OperatorActor::Person { id: by, email: email.to_owned() };
        let decided_by = decision.as_ref().map(|decision| decider(decision.by, &decision.email));
        Self {
            id: approval.id,
            state: approval.stored,
            action: approval.action,
            business_id: approval.business,
            business_name: approval.business.and_then(|business| names.get(&business).cloned()),
            user_email: None,
            requested_by: (&approval.requester).into(),
            requested_at: approval.requested_at,
            expires_at: approval.expires_at,
            decided_by: decided_by.as_ref().map(OperatorActorView::from),
            decided_at: decision.as_ref().map(|decision| decision.at),
            reason: decision.and_then(|decision| decision.reason),
            ended_at: approval.ended_at,
            outcome: approval.outcome,
            booked_at: approval.booked_at,
            yours: false,
            may_decide: false,
        }
    }
}
