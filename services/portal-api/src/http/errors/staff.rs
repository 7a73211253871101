//! The errors of the operator's staff, tokens and approvals.

use actix_web::http::StatusCode;
use web::ApiError;

use crate::approvals::commands::approval_limit::ApprovalLimitError;
use crate::approvals::commands::decide_approval::DecideError;
use crate::approvals::commands::request_approval::RequestApprovalError;
use crate::approvals::domain::ApprovalRefusal;
use crate::console::commands::operator_token::TokenError;
use crate::console::commands::staff::StaffError;
use crate::domain::{OperatorPermission, OperatorRole};
use crate::http::errors::{change_business, user_not_found};

pub(crate) fn permission_missing(permission: OperatorPermission, role: OperatorRole) -> ApiError {
    let without = if role.may(permission) { "a named token".to_owned() } else { format!("the role {role}") };
    let message = format!(
        "This requires the permission {permission}, which {without} does not have. Ask an administrator."
    );
    ApiError::new(StatusCode::FORBIDDEN, "permission_missing", message)
        .with("requiredPermission", permission.as_str())
}

pub(crate) fn named_token_opens_no_session() -> ApiError {
    ApiError::new(
        StatusCode::FORBIDDEN,
        "named_token_not_allowed",
        "Named tokens are for programs and open no console. Log in with an account.",
    )
}

pub(crate) fn no_permission(permission: OperatorPermission) -> ApiError {
    let message = format!("This requires the permission {permission}, which you do not have.");
    ApiError::new(StatusCode::FORBIDDEN, "permission_missing", message)
        .with("requiredPermission", permission.as_str())
}

pub(crate) fn staff_not_found() -> ApiError {
    ApiError::not_found("staff_not_found", "person")
}

pub(crate) fn staff(error: StaffError) -> ApiError {
    match error {
        StaffError::NotAdministrator => no_permission(OperatorPermission::ManageStaff),
        StaffError::Unknown => staff_not_found(),
        StaffError::EmailTaken => ApiError::new(
            StatusCode::CONFLICT,
            "email_taken",
            "A person with this e-mail address already belongs to the staff. Change their role, or create a new link for them.",
        ),
        StaffError::TooMany => ApiError::new(
            StatusCode::CONFLICT,
            "too_many_staff",
            "The staff has the maximum number of persons. Remove one first.",
        ),
        StaffError::NotLinked => ApiError::not_found("identity_not_found", "linked identity"),
        StaffError::LastAdministrator => ApiError::new(
            StatusCode::CONFLICT,
            "last_administrator",
            "This person is the last administrator who can log in. Make another person an administrator first.",
        ),
        StaffError::Store(error) => error.into(),
    }
}

pub(crate) fn password_link_invalid() -> ApiError {
    ApiError::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "password_link_invalid",
        "This link is used, replaced or expired. Ask an administrator for a new one.",
    )
}

pub(crate) fn token_not_found() -> ApiError {
    ApiError::not_found("token_not_found", "working token")
}

pub(crate) fn token(error: TokenError) -> ApiError {
    match error {
        TokenError::NotAdministrator => no_permission(OperatorPermission::ManageTokens),
        TokenError::Unknown => token_not_found(),
        TokenError::NameTaken => ApiError::new(
            StatusCode::CONFLICT,
            "name_taken",
            "A working token already has this name. Choose another name, or rotate that token.",
        ),
        TokenError::TooMany => ApiError::new(
            StatusCode::CONFLICT,
            "too_many_tokens",
            "The maximum number of tokens is active. Disable one first.",
        ),
        TokenError::Store(error) => error.into(),
    }
}

pub(crate) fn request_approval(error: RequestApprovalError) -> ApiError {
    match error {
        RequestApprovalError::TooMany => ApiError::new(
            StatusCode::CONFLICT,
            "too_many_approvals",
            "Too many requests for approval are open. Withdraw one, or wait until one is decided.",
        ),
        RequestApprovalError::Store(error) => error.into(),
    }
}

pub(crate) fn approval_not_found() -> ApiError {
    ApiError::not_found("approval_not_found", "request for approval")
}

pub(crate) fn approval_limit(error: ApprovalLimitError) -> ApiError {
    match error {
        ApprovalLimitError::AboveSetting(setting) => ApiError::invalid_field(
            "creditsAbovePaise",
            "out_of_range",
            format!("creditsAbovePaise must be at most {setting}, the setting of this installation."),
        ),
        ApprovalLimitError::NotAdministrator => no_permission(OperatorPermission::ManageStaff),
        ApprovalLimitError::Approval(error) => request_approval(error),
        ApprovalLimitError::Store(error) => error.into(),
    }
}

pub(crate) fn decide(error: DecideError) -> ApiError {
    match error {
        DecideError::Unknown => approval_not_found(),
        DecideError::Refused(refusal) => refused_step(refusal),
        DecideError::UserRemoved => user_not_found(),
        DecideError::SuspensionEnded => ApiError::new(
            StatusCode::CONFLICT,
            "suspension_ended",
            "This request was about a suspension that has ended. Nothing was changed. Make a new request.",
        ),
        DecideError::Change(error) => change_business(error),
        DecideError::Wallet(error) => error.into(),
        DecideError::Store(error) => error.into(),
    }
}

fn refused_step(refusal: ApprovalRefusal) -> ApiError {
    let forbidden = |code, message| ApiError::new(StatusCode::FORBIDDEN, code, message);
    let conflict = |code, message| ApiError::new(StatusCode::CONFLICT, code, message);
    match refusal {
        ApprovalRefusal::PersonRequired => {
            forbidden("person_required", "Only a person may decide. Log in to the console with an account.")
        }
        ApprovalRefusal::OwnRequest => {
            forbidden("own_request", "This is your own request. Another person must decide it.")
        }
        ApprovalRefusal::RelatedAccount => forbidden(
            "related_account",
            "The requester got their access from you, or you from them, also through others, in the last 7 days; or you have had the secret of the token. Another person must decide.",
        ),
        ApprovalRefusal::NotRequester => {
            forbidden("not_requester", "Only the person or token that made this request may do this.")
        }
        ApprovalRefusal::PermissionMissing(permission) => no_permission(permission),
        ApprovalRefusal::RequesterInactive => conflict(
            "requester_inactive",
            "The requester has left or lost the permission. Reject this request.",
        ),
        ApprovalRefusal::ApproverInactive => conflict(
            "approver_inactive",
            "The person who approved this has left or lost the permission. Make a new request.",
        ),
        ApprovalRefusal::NoLink => approval_not_found(),
        ApprovalRefusal::WrongState(state) => {
            let message = format!("This is not possible, because the request is {state}.");
            ApiError::new(StatusCode::CONFLICT, "wrong_approval_state", message).with("state", state.as_str())
        }
    }
}
