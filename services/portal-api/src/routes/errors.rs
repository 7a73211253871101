//! What a caller hears when something did not work: the one place where errors become statuses.

use actix_web::http::StatusCode;
use chrono::TimeDelta;
use domain::GoLiveItem;
use postgres::StoreError;
use serde_json::json;
use web::ApiError;

use crate::commands::accept_invitation::AcceptError;
use crate::commands::change_business::ChangeBusinessError;
use crate::commands::change_password::ChangePasswordError;
use crate::commands::change_user::ChangeUserError;
use crate::commands::invite::InviteError;
use crate::commands::log_in::LogInError;
use crate::commands::reset_password::{RequestResetError, ResetError};
use crate::commands::sign_up::SignUpError;
use crate::domain::Role;
use crate::passwords::PasswordError;

pub(super) fn store(error: StoreError) -> ApiError {
    if error.is_unavailable() {
        tracing::warn!(%error, "the database did not answer");
        ApiError::unavailable()
    } else {
        ApiError::internal(error)
    }
}

pub(super) fn not_logged_in() -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "not_logged_in", "Log in first; the session may have ended.")
}

pub(super) fn operator_token_invalid() -> ApiError {
    let message = "Send the operator's token: Authorization: Bearer <token>.";
    ApiError::new(StatusCode::UNAUTHORIZED, "operator_token_invalid", message)
}

pub(super) fn business_not_found() -> ApiError {
    ApiError::not_found("business_not_found", "business")
}

/// 403 that names every open item (SPECIFICATION §3.2, SPECIFICATION §12).
pub(super) fn live_api_locked(missing: &[GoLiveItem]) -> ApiError {
    let labels: Vec<&str> = missing.iter().map(|item| item.label()).collect();
    let message = format!("The Live API is locked. Still open: {}.", labels.join("; "));
    ApiError::new(StatusCode::FORBIDDEN, "live_api_locked", message).with("missing", json!(missing))
}

pub(super) fn sign_up(error: SignUpError) -> ApiError {
    match error {
        SignUpError::EmailTaken => ApiError::new(
            StatusCode::CONFLICT,
            "email_taken",
            "An account with this e-mail exists already. Log in instead.",
        ),
        SignUpError::TooMany { wait } => {
            too_many("too_many_sign_ups", "Too many accounts were opened from your address.", wait)
        }
        SignUpError::Password(error) => password(error),
        SignUpError::Store(error) => store(error),
    }
}

pub(super) fn log_in(error: LogInError) -> ApiError {
    match error {
        LogInError::InvalidCredentials => ApiError::new(
            StatusCode::UNAUTHORIZED,
            "invalid_credentials",
            "The e-mail or the password is wrong.",
        ),
        LogInError::TooMany { wait } => too_many("too_many_log_ins", "There were too many log-ins.", wait),
        LogInError::Password(error) => password(error),
        LogInError::Store(error) => store(error),
    }
}

pub(super) fn role_insufficient(required: Role) -> ApiError {
    let message = format!("This needs the role {required}. An owner of your business can give it to you.");
    ApiError::new(StatusCode::FORBIDDEN, "role_insufficient", message).with("requiredRole", required.as_str())
}

/// `startingAfter` that leads nowhere.
pub(super) fn unknown_cursor(what: &str) -> ApiError {
    ApiError::invalid_field("startingAfter", "invalid_value", format!("startingAfter names no {what}."))
}

pub(super) fn user_not_found() -> ApiError {
    ApiError::not_found("user_not_found", "user")
}

pub(super) fn change_password(error: ChangePasswordError) -> ApiError {
    match error {
        ChangePasswordError::Wrong => ApiError::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "password_wrong",
            "The current password is not right. Type it again, or ask for a link to reset it.",
        ),
        ChangePasswordError::TooMany { wait } => {
            too_many("too_many_log_ins", "Too many passwords were wrong.", wait)
        }
        ChangePasswordError::UnknownUser => not_logged_in(),
        ChangePasswordError::Password(error) => password(error),
        ChangePasswordError::Store(error) => store(error),
    }
}

pub(super) fn request_reset(error: RequestResetError) -> ApiError {
    match error {
        RequestResetError::TooMany { wait } => {
            too_many("too_many_password_resets", "Too many links were asked for.", wait)
        }
        RequestResetError::Store(error) => store(error),
    }
}

pub(super) fn reset_link_invalid() -> ApiError {
    ApiError::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "reset_link_invalid",
        "This link was used already, or has expired. Ask for a new one.",
    )
}

pub(super) fn reset_password(error: ResetError) -> ApiError {
    match error {
        ResetError::Invalid => reset_link_invalid(),
        ResetError::Password(error) => password(error),
        ResetError::Store(error) => store(error),
    }
}

pub(super) fn change_business(error: ChangeBusinessError) -> ApiError {
    match error {
        ChangeBusinessError::Unknown => business_not_found(),
        ChangeBusinessError::PlanChanged { plan } => {
            let plan = plan.as_deref().unwrap_or("no plan");
            let message = format!(
                "Nothing was changed: {plan} would become active now. Look at what the business asks for."
            );
            ApiError::new(StatusCode::CONFLICT, "plan_changed", message)
        }
        ChangeBusinessError::Store(error) => store(error),
    }
}

pub(super) fn change_user(error: ChangeUserError) -> ApiError {
    match error {
        ChangeUserError::NotOwner => role_insufficient(Role::Owner),
        ChangeUserError::Unknown => user_not_found(),
        ChangeUserError::LastOwner => ApiError::new(
            StatusCode::CONFLICT,
            "last_owner",
            "A business has at least one owner. Make somebody else an owner first.",
        ),
        ChangeUserError::Store(error) => store(error),
    }
}

pub(super) fn invite(error: InviteError) -> ApiError {
    match error {
        InviteError::NotOwner => role_insufficient(Role::Owner),
        InviteError::AlreadyMember => ApiError::new(
            StatusCode::CONFLICT,
            "already_member",
            "Somebody with this e-mail belongs to your business already.",
        ),
        InviteError::TooManyOpen => ApiError::new(
            StatusCode::CONFLICT,
            "too_many_open_invitations",
            "Too many invitations are open. Withdraw one, or wait until somebody accepts.",
        ),
        InviteError::TooMany { wait } => {
            let what = "Too many invitations were sent by your business, or to this e-mail.";
            too_many("too_many_invitations", what, wait)
        }
        InviteError::NotApproved => ApiError::new(
            StatusCode::FORBIDDEN,
            "business_not_active",
            "Your business may invite people once the operator has approved it.",
        ),
        InviteError::UnknownBusiness => business_not_found(),
        InviteError::Store(error) => store(error),
    }
}

pub(super) fn invitation_invalid() -> ApiError {
    ApiError::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "invitation_invalid",
        "This invitation was used, withdrawn or replaced, or has expired. Ask for a new one.",
    )
}

pub(super) fn accept_invitation(error: AcceptError) -> ApiError {
    match error {
        AcceptError::Invalid => invitation_invalid(),
        AcceptError::EmailTaken => ApiError::new(
            StatusCode::CONFLICT,
            "email_taken",
            "An account with this e-mail exists already. Ask to be invited under another one.",
        ),
        AcceptError::TooManyUsers => ApiError::new(
            StatusCode::CONFLICT,
            "too_many_users",
            "This business has as many users as it can have. An owner can remove some.",
        ),
        AcceptError::Password(error) => password(error),
        AcceptError::Store(error) => store(error),
    }
}

pub(super) fn too_many_streams() -> ApiError {
    ApiError::new(
        StatusCode::TOO_MANY_REQUESTS,
        "too_many_streams",
        "Too many pages of yours, or of this business, follow its orders already. Close one.",
    )
    .retry_after(15)
}

fn password(error: PasswordError) -> ApiError {
    match error {
        PasswordError::Busy => ApiError::unavailable(),
        PasswordError::Failed(_) => ApiError::internal(error),
    }
}

fn too_many(code: &str, what: &str, wait: TimeDelta) -> ApiError {
    // Rounded up: whoever comes back after that long must not be refused again.
    let seconds =
        u32::try_from(wait.num_milliseconds().max(1).unsigned_abs().div_ceil(1_000)).unwrap_or(u32::MAX);
    let minutes = seconds.div_ceil(60);
    let message = format!("{what} Try again in {minutes} minute{}.", if minutes == 1 { "" } else { "s" });
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, code, message).retry_after(seconds)
}
