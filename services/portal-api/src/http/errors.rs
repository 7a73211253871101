//! The HTTP status and the message of every error of commands.

mod account;
mod business_sso;
mod closing;
mod second_factor;
mod single_sign_on;
mod staff;

use actix_web::http::StatusCode;
use chrono::TimeDelta;
use domain::GoLiveItem;
use identity::passwords::PasswordError;
use serde_json::json;
use staff::no_permission;
use web::ApiError;

use crate::account::commands::change_password::ChangePasswordError;
use crate::account::commands::log_in::LogInError;
use crate::account::commands::reset_password::{IssueResetError, RequestResetError};
use crate::account::commands::sign_up::SignUpError;
use crate::account::commands::use_password_link::UseLinkError;
use crate::business::commands::add_staff_note::AddNoteError;
use crate::business::commands::change_business::ChangeBusinessError;
use crate::business::commands::change_contact::ChangeContactError;
use crate::business::commands::refuse_business::RefusalError;
use crate::domain::{OperatorPermission, Permission};
use crate::exports::commands::create_export::CreateExportError;
use crate::team::commands::accept_invitation::AcceptInvitationError;
use crate::team::commands::change_user::ChangeUserError;
use crate::team::commands::invite::InviteError;
pub(crate) use account::{
    change_email, change_name, confirm_email, confirmation_invalid, email_not_verified, join,
    send_confirmation, session_changed, switch_business,
};
pub(crate) use business_sso::{
    business_sso_off, complete_business_sso, configure_sso, link_identity, password_session,
    single_sign_on_session, sso_required, start_business_sso,
};
pub(crate) use closing::{
    business_closed, business_closing, closing, closing_ends, complete_closing, open_items,
};
pub(crate) use second_factor::{
    account_required, challenge, challenge_ended, confirm, factor, mfa_enrolment_required, passkey_not_found,
    recent_authentication_required, reset_factor, second_factor_unavailable,
};
pub(crate) use single_sign_on::{complete_sso, password_log_in_off, sso_ended, start_sso};
pub(crate) use staff::{
    approval_limit, approval_not_found, decide, named_token_opens_no_session, password_link_invalid,
    permission_missing, request_approval, staff, staff_not_found, token, token_not_found,
};

pub(crate) fn not_logged_in() -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "not_logged_in", "Log in first. Your session may have ended.")
}

pub(crate) fn operator_token_invalid() -> ApiError {
    let message = "Log in to the console, or send a token of the operator: Authorization: Bearer <token>.";
    ApiError::new(StatusCode::UNAUTHORIZED, "operator_token_invalid", message)
}

pub(crate) fn change_contact(error: ChangeContactError) -> ApiError {
    match error {
        ChangeContactError::NotOwner => role_insufficient(Permission::ManageBusiness),
        ChangeContactError::Store(error) => error.into(),
    }
}

pub(crate) fn add_note(error: AddNoteError) -> ApiError {
    match error {
        AddNoteError::Unknown => business_not_found(),
        AddNoteError::Erased => business_closed(),
        AddNoteError::TooMany => ApiError::new(
            StatusCode::CONFLICT,
            "too_many_notes",
            "There are 200 notes about this business, and there cannot be more.",
        ),
        AddNoteError::Store(error) => error.into(),
    }
}

pub(crate) fn business_not_found() -> ApiError {
    ApiError::not_found("business_not_found", "business")
}

/// 403 that lists the open items (SPECIFICATION §3.2, §7).
pub(crate) fn live_api_locked(missing: &[GoLiveItem]) -> ApiError {
    let labels: Vec<&str> = missing.iter().map(|item| item.label()).collect();
    let message = format!("The Live API is locked. Complete these items first: {}.", labels.join("; "));
    ApiError::new(StatusCode::FORBIDDEN, "live_api_locked", message).with("missing", json!(missing))
}

pub(crate) fn sign_up(error: SignUpError) -> ApiError {
    match error {
        SignUpError::EmailTaken => ApiError::new(
            StatusCode::CONFLICT,
            "email_taken",
            "An account with this e-mail address already exists. Log in instead.",
        ),
        SignUpError::TooMany { wait } => {
            too_many("too_many_sign_ups", "Too many accounts were created from your address.", wait)
        }
        SignUpError::Password(error) => password(error),
        SignUpError::Store(error) => error.into(),
    }
}

pub(crate) fn log_in(error: LogInError) -> ApiError {
    match error {
        LogInError::InvalidCredentials => ApiError::new(
            StatusCode::UNAUTHORIZED,
            "invalid_credentials",
            "The e-mail or the password is wrong.",
        ),
        LogInError::TooMany { wait } => too_many("too_many_log_ins", "Too many log-ins.", wait),
        LogInError::PasswordsOff => password_log_in_off(),
        LogInError::Sso(error) => sso_required(error),
        LogInError::Password(error) => password(error),
        LogInError::Store(error) => error.into(),
    }
}

pub(crate) fn role_insufficient(permission: Permission) -> ApiError {
    let roles: Vec<&str> = permission.roles().iter().map(|role| role.as_str()).collect();
    let message = format!(
        "Your role does not allow this. It requires one of these roles: {}. Ask an owner of your business to change your role.",
        roles.join(", ")
    );
    ApiError::new(StatusCode::FORBIDDEN, "role_insufficient", message)
        .with("requiredRole", permission.least_role().as_str())
        .with("allowedRoles", roles)
}

/// An unknown `startingAfter`.
pub(crate) fn unknown_cursor(what: &str) -> ApiError {
    ApiError::invalid_field(
        "startingAfter",
        "invalid_value",
        format!("startingAfter must be the id of a known {what}."),
    )
}

pub(crate) fn user_not_found() -> ApiError {
    ApiError::not_found("user_not_found", "user")
}

pub(crate) fn change_password(error: ChangePasswordError) -> ApiError {
    match error {
        ChangePasswordError::Wrong => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "password_wrong",
            "The current password is wrong. Enter it again, or set a new one with a link.",
        ),
        ChangePasswordError::TooMany { wait } => {
            too_many("too_many_log_ins", "Too many wrong passwords.", wait)
        }
        ChangePasswordError::UnknownAccount => not_logged_in(),
        ChangePasswordError::Password(error) => password(error),
        ChangePasswordError::Store(error) => error.into(),
    }
}

pub(crate) fn request_reset(error: RequestResetError) -> ApiError {
    match error {
        RequestResetError::TooMany { wait } => {
            too_many("too_many_password_resets", "Too many reset links were requested.", wait)
        }
        RequestResetError::Store(error) => error.into(),
    }
}

pub(crate) fn reset_link_invalid() -> ApiError {
    ApiError::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "reset_link_invalid",
        "This link is used or expired. Request a new one.",
    )
}

fn password_is_email() -> ApiError {
    ApiError::invalid_field("password", "too_common", "password must not be your e-mail address.")
}

/// `invalid` is the error of a link that the realm of the account does not know.
pub(crate) fn use_link(error: UseLinkError, invalid: fn() -> ApiError) -> ApiError {
    match error {
        UseLinkError::Invalid => invalid(),
        UseLinkError::LikeEmail => password_is_email(),
        UseLinkError::Password(error) => password(error),
        UseLinkError::Store(error) => error.into(),
    }
}

pub(crate) fn issue_reset(error: IssueResetError) -> ApiError {
    match error {
        IssueResetError::UnknownUser => user_not_found(),
        IssueResetError::NotPermitted => no_permission(OperatorPermission::IssuePasswordResets),
        IssueResetError::Approval(error) => request_approval(error),
        IssueResetError::Store(error) => error.into(),
    }
}

pub(crate) fn change_business(error: ChangeBusinessError) -> ApiError {
    match error {
        ChangeBusinessError::Unknown => business_not_found(),
        ChangeBusinessError::PlanChanged { plan } => {
            let plan = plan.as_deref().unwrap_or("no plan");
            let message = format!(
                "Nothing was changed, because {plan} would become active. Check which plan the business requests."
            );
            ApiError::new(StatusCode::CONFLICT, "plan_changed", message)
        }
        ChangeBusinessError::Closing => business_closing(),
        ChangeBusinessError::Closed => business_closed(),
        ChangeBusinessError::Approval(error) => request_approval(error),
        ChangeBusinessError::Store(error) => error.into(),
    }
}

pub(crate) fn refusal(error: RefusalError) -> ApiError {
    let conflict = |code, message| ApiError::new(StatusCode::CONFLICT, code, message);
    match error {
        RefusalError::Unknown => business_not_found(),
        RefusalError::NotOwner => role_insufficient(Permission::ManageBusiness),
        RefusalError::NotWaiting => conflict(
            "business_not_waiting",
            "The business is suspended, or is approved and has live access. Load the page again.",
        ),
        RefusalError::NotRefused => conflict(
            "nothing_refused",
            "The operator has refused this business nothing that it can ask for again.",
        ),
        RefusalError::Store(error) => error.into(),
    }
}

pub(crate) fn change_user(error: ChangeUserError) -> ApiError {
    match error {
        ChangeUserError::NotOwner => role_insufficient(Permission::ManageUsers),
        ChangeUserError::Unknown => user_not_found(),
        ChangeUserError::LastOwner => ApiError::new(
            StatusCode::CONFLICT,
            "last_owner",
            "This user is the last owner with a password. Make another user with a password an owner first.",
        ),
        ChangeUserError::Store(error) => error.into(),
    }
}

pub(crate) fn invite(error: InviteError) -> ApiError {
    match error {
        InviteError::NotOwner => role_insufficient(Permission::ManageUsers),
        InviteError::EmailNotVerified => email_not_verified(),
        InviteError::AlreadyMember => ApiError::new(
            StatusCode::CONFLICT,
            "already_member",
            "A user with this e-mail address already belongs to your business.",
        ),
        InviteError::TooManyOpen => ApiError::new(
            StatusCode::CONFLICT,
            "too_many_open_invitations",
            "Too many invitations are open. Withdraw one, or wait until one is accepted.",
        ),
        InviteError::TooMany { wait } => {
            let what = "Too many invitations were sent by your business or to this e-mail address.";
            too_many("too_many_invitations", what, wait)
        }
        InviteError::NotApproved => ApiError::new(
            StatusCode::FORBIDDEN,
            "business_not_active",
            "Your business is not active. You can invite users after the operator has approved it.",
        ),
        InviteError::UnknownBusiness => business_not_found(),
        InviteError::Store(error) => error.into(),
    }
}

pub(crate) fn invitation_invalid() -> ApiError {
    ApiError::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "invitation_invalid",
        "This invitation is used, withdrawn, replaced or expired. Ask for a new one.",
    )
}

pub(crate) fn invitation_of_inactive() -> ApiError {
    ApiError::new(
        StatusCode::FORBIDDEN,
        "business_not_active",
        "The business that invites you is not active. Use the invitation after the operator has activated it.",
    )
}

pub(crate) fn accept_invitation(error: AcceptInvitationError) -> ApiError {
    match error {
        AcceptInvitationError::Invalid => invitation_invalid(),
        AcceptInvitationError::LikeEmail => password_is_email(),
        AcceptInvitationError::NotActive => invitation_of_inactive(),
        AcceptInvitationError::Closed => business_closed(),
        AcceptInvitationError::EmailTaken => ApiError::new(
            StatusCode::CONFLICT,
            "email_taken",
            "An account with this e-mail address already exists. Log in with it, then join.",
        ),
        AcceptInvitationError::TooManyUsers => ApiError::new(
            StatusCode::CONFLICT,
            "too_many_users",
            "This business has the maximum number of users. Ask an owner to remove one.",
        ),
        AcceptInvitationError::Sso(error) => sso_required(error),
        AcceptInvitationError::Password(error) => password(error),
        AcceptInvitationError::Store(error) => error.into(),
    }
}

pub(crate) fn too_many_streams() -> ApiError {
    ApiError::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_streams",
        "You or your business have too many open pages with live updates. Close one.",
    )
    .retry_after(15)
}

pub(crate) fn too_many_exports() -> ApiError {
    ApiError::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_exports",
        "You or your business have too many exports running. Wait until one is complete.",
    )
    .retry_after(15)
}

pub(crate) fn export_not_found() -> ApiError {
    ApiError::not_found("export_not_found", "export")
}

pub(crate) fn export_not_ready() -> ApiError {
    let message = "The file is not complete. Read the export until its state is done.";
    ApiError::new(StatusCode::CONFLICT, "export_not_ready", message)
}

pub(crate) fn create_export(error: CreateExportError) -> ApiError {
    match error {
        CreateExportError::Unknown => business_not_found(),
        CreateExportError::TooMany => ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_exports",
            "You or the business have too many exports. Wait until one is complete, or delete one.",
        )
        .retry_after(15),
        CreateExportError::Store(error) => error.into(),
    }
}

fn password(error: PasswordError) -> ApiError {
    match error {
        PasswordError::Busy => ApiError::unavailable(),
        PasswordError::Failed(_) => ApiError::internal(error),
    }
}

fn too_many(code: &str, what: &str, wait: TimeDelta) -> ApiError {
    // Rounded up, so that a retry after this time is not rejected again.
    let seconds =
        u32::try_from(wait.num_milliseconds().max(1).unsigned_abs().div_ceil(1_000)).unwrap_or(u32::MAX);
    let minutes = seconds.div_ceil(60);
    let message = format!("{what} Try again in {minutes} minute{}.", if minutes == 1 { "" } else { "s" });
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, code, message).retry_after(seconds)
}
