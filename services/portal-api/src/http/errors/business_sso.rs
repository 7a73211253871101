//! The errors of single sign-on of businesses.

use actix_web::http::StatusCode;
use web::ApiError;

use crate::domain::Permission;
use crate::http::errors::single_sign_on::{declined, not_recent, other_person, provider, sso_ended};
use crate::http::errors::{change_user, role_insufficient, too_many};
use crate::single_sign_on::commands::complete_business::BusinessSsoError;
use crate::single_sign_on::commands::configure_sso::ConfigureSsoError;
use crate::single_sign_on::commands::link_identity::LinkIdentityError;
use crate::single_sign_on::commands::start_sso::StartSsoError;
use crate::single_sign_on::commands::{ProofError, SsoRequiredError};

fn forbidden(code: &'static str, message: &'static str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, code, message)
}

/// The same for an unknown business, so that strangers learn nothing.
pub(crate) fn business_sso_off() -> ApiError {
    let message = "There is no single sign-on at this address. Log in with your password.";
    ApiError::new(StatusCode::NOT_FOUND, "sso_off", message)
}

/// The call changes the account, or ends the way in.
pub(crate) fn single_sign_on_session() -> ApiError {
    forbidden(
        "single_sign_on_session",
        "You are logged in with the single sign-on of this business. Log in with your password to do this.",
    )
}

/// Only the provider confirms its sessions.
pub(crate) fn password_session() -> ApiError {
    forbidden("password_session", "You are logged in with your password. Confirm with it.")
}

pub(crate) fn sso_required(error: SsoRequiredError) -> ApiError {
    match error {
        SsoRequiredError::Required { log_in_url } => forbidden(
            "single_sign_on_required",
            "Your business requires single sign-on. Log in with your company account.",
        )
        .with("logInUrl", log_in_url),
        SsoRequiredError::Store(error) => error.into(),
    }
}

pub(crate) fn start_business_sso(error: StartSsoError) -> ApiError {
    match error {
        StartSsoError::Off => business_sso_off(),
        StartSsoError::TooMany { wait } => too_many("too_many_log_ins", "Too many log-ins.", wait),
        StartSsoError::Provider(error) => provider(error),
        StartSsoError::Store(error) => error.into(),
    }
}

pub(crate) fn complete_business_sso(error: BusinessSsoError) -> ApiError {
    match error {
        BusinessSsoError::Off => business_sso_off(),
        BusinessSsoError::NoRole => forbidden(
            "sso_no_role",
            "Your company account may not use this business: none of its groups has a role here. Ask an owner of the business.",
        ),
        BusinessSsoError::NoEmail => forbidden(
            "sso_no_email",
            "The identity provider names no e-mail address of yours. Ask its administrator to add it.",
        ),
        BusinessSsoError::LastOwner => forbidden(
            "sso_last_owner",
            "You are the last owner with a password, and your groups give you another role. Log in with your password.",
        ),
        BusinessSsoError::TooManyUsers => ApiError::new(
            StatusCode::CONFLICT,
            "too_many_users",
            "This business has the maximum number of users. Ask an owner to remove one.",
        ),
        BusinessSsoError::NotActive => {
            forbidden("business_not_active", "This business is not active. Nobody can join it.")
        }
        BusinessSsoError::OpenToAnyone => forbidden(
            "sso_open_to_anyone",
            "Nobody can join this business at present: its settings would let in everybody whom the identity provider knows. Ask an owner to enter the allowed domains.",
        ),
        BusinessSsoError::OtherPerson => other_person(),
        BusinessSsoError::NotRecent => not_recent(),
        BusinessSsoError::Gone => sso_ended(),
        BusinessSsoError::Proof(error) => proof(error),
        BusinessSsoError::Store(error) => error.into(),
    }
}

pub(crate) fn link_identity(error: LinkIdentityError) -> ApiError {
    let conflict = |code, message| ApiError::new(StatusCode::CONFLICT, code, message);
    match error {
        LinkIdentityError::HasPassword => conflict(
            "not_created_by_single_sign_on",
            "Only a user who logs in with single sign-on alone can become another user. Choose such a user.",
        ),
        LinkIdentityError::AlreadyLinked => conflict(
            "sso_already_linked",
            "The other user has a company account already. Choose a user without one.",
        ),
        LinkIdentityError::Change(error) => change_user(error),
        LinkIdentityError::Store(error) => error.into(),
    }
}

pub(crate) fn proof(error: ProofError) -> ApiError {
    match error {
        ProofError::Ended => sso_ended(),
        ProofError::Declined => declined(),
        ProofError::Provider(error) => provider(error),
        ProofError::Store(error) => error.into(),
    }
}

pub(crate) fn configure_sso(error: ConfigureSsoError) -> ApiError {
    match error {
        ConfigureSsoError::Unavailable => ApiError::new(
            StatusCode::CONFLICT,
            "sso_unavailable_here",
            "This installation does not offer single sign-on to businesses. Ask the operator to turn it on.",
        ),
        ConfigureSsoError::SecretRequired => ApiError::invalid_field(
            "clientSecret",
            "required",
            "Enter the client secret of this issuer. A stored secret belongs to the issuer that it was entered for.",
        ),
        ConfigureSsoError::Off => business_sso_off(),
        ConfigureSsoError::NotOwner => role_insufficient(Permission::ManageSingleSignOn),
        ConfigureSsoError::NotActive => forbidden(
            "business_not_active",
            "Your business is not active. Single sign-on can be set up and tested once the operator has activated it.",
        ),
        ConfigureSsoError::Vault(error) => ApiError::internal(error),
        ConfigureSsoError::Store(error) => error.into(),
    }
}
