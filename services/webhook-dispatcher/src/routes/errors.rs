//! The HTTP status and the message of each error.

use actix_web::http::StatusCode;
use domain::indian_time;
use outbound::TargetRefused;
use web::ApiError;

use crate::commands::{
    ActivateError, CreateError, ParkedError, RecoverError, RedeliverError, RotateError, TestError,
    UpdateError,
};
use crate::domain::ENDPOINTS_MAX;
use crate::queries::{PageError, VerifyError};

pub(super) fn endpoint_not_found() -> ApiError {
    ApiError::not_found("webhook_endpoint_not_found", "webhook endpoint")
}

pub(super) fn delivery_not_found() -> ApiError {
    ApiError::not_found("webhook_delivery_not_found", "webhook delivery")
}

pub(super) fn recovery_not_found() -> ApiError {
    ApiError::not_found("webhook_recovery_not_found", "webhook recovery")
}

pub(super) fn from_create(error: CreateError) -> ApiError {
    match error {
        CreateError::Refused(refused) => url_refused(&refused),
        CreateError::TooMany => {
            let message = format!("There can be {ENDPOINTS_MAX} webhook endpoints. Delete one first.");
            ApiError::new(StatusCode::CONFLICT, "too_many_webhook_endpoints", message)
        }
        CreateError::Secret(error) => ApiError::internal(error),
        CreateError::Store(error) => error.into(),
    }
}

pub(super) fn from_update(error: UpdateError) -> ApiError {
    match error {
        UpdateError::NotFound => endpoint_not_found(),
        UpdateError::Refused(refused) => url_refused(&refused),
        UpdateError::Store(error) => error.into(),
    }
}

pub(super) fn from_rotate(error: RotateError) -> ApiError {
    match error {
        RotateError::NotFound => endpoint_not_found(),
        RotateError::UnderWay { until } => {
            let until = indian_time(until).format("%-d %B %Y, %H:%M IST");
            let message = format!(
                "A new secret is already staged and takes over on {until}. Activate it first; or, if it was lost, \
                 send replaceStaged: true; or replace both secrets now with graceSeconds: 0."
            );
            ApiError::new(StatusCode::CONFLICT, "webhook_secret_rotation_under_way", message)
        }
        RotateError::Secret(error) => ApiError::internal(error),
        RotateError::Store(error) => error.into(),
    }
}

pub(super) fn from_activate(error: ActivateError) -> ApiError {
    match error {
        ActivateError::NotFound => endpoint_not_found(),
        ActivateError::NothingStaged => {
            let message = "No new secret is staged. Rotate the secret first, unless the staged one has already taken over.";
            ApiError::new(StatusCode::CONFLICT, "webhook_secret_not_staged", message)
        }
        ActivateError::Store(error) => error.into(),
    }
}

pub(super) fn from_test(error: TestError) -> ApiError {
    match error {
        TestError::NotFound => endpoint_not_found(),
        TestError::TooMany => ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_webhook_tests",
            "Too many tests of this business's endpoints are running. Try again when they have ended.",
        )
        .retry_after(10),
        TestError::Busy | TestError::NotRecorded => {
            tracing::warn!(%error, "connection test abandoned");
            ApiError::unavailable()
        }
        TestError::Body(error) => ApiError::internal(error),
        TestError::Secret(error) => ApiError::internal(error),
        TestError::Store(error) => error.into(),
    }
}

pub(super) fn from_redeliver(error: RedeliverError) -> ApiError {
    match error {
        RedeliverError::NotFound => delivery_not_found(),
        RedeliverError::EndpointDeleted => ApiError::new(
            StatusCode::CONFLICT,
            "webhook_endpoint_deleted",
            "The endpoint of this delivery was deleted, so it cannot be sent again.",
        ),
        RedeliverError::Store(error) => error.into(),
    }
}

pub(super) fn from_parked(error: ParkedError) -> ApiError {
    match error {
        ParkedError::NotFound => endpoint_not_found(),
        ParkedError::Disabled => ApiError::new(
            StatusCode::CONFLICT,
            "webhook_endpoint_disabled",
            "The endpoint is disabled. Set its status to active, then replay the parked deliveries.",
        ),
        ParkedError::Store(error) => error.into(),
    }
}

pub(super) fn from_recover(error: RecoverError) -> ApiError {
    let conflict = |code, message: &str| ApiError::new(StatusCode::CONFLICT, code, message);
    match error {
        RecoverError::NoEndpoint => endpoint_not_found(),
        RecoverError::NotFound => recovery_not_found(),
        RecoverError::UnderWay => conflict(
            "webhook_recovery_under_way",
            "A recovery of this endpoint is running. Wait for its end, or cancel it.",
        ),
        RecoverError::Completed => {
            conflict("webhook_recovery_completed", "The recovery is completed, so it cannot be cancelled.")
        }
        RecoverError::Store(error) => error.into(),
    }
}

pub(super) fn from_verify(error: VerifyError) -> ApiError {
    match error {
        VerifyError::NotFound => endpoint_not_found(),
        VerifyError::Secret(error) => ApiError::internal(error),
        VerifyError::Store(error) => error.into(),
    }
}

pub(super) fn from_page(error: PageError) -> ApiError {
    match error {
        PageError::NoEndpoint => endpoint_not_found(),
        PageError::UnknownStart => unknown_start("entry of this list"),
        PageError::Store(error) => error.into(),
    }
}

pub(super) fn unknown_start(what: &str) -> ApiError {
    let message = format!("startingAfter names no {what}.");
    ApiError::invalid_field("startingAfter", "invalid_value", message)
}

fn url_refused(refused: &TargetRefused) -> ApiError {
    let message = match refused {
        TargetRefused::PlainHttp => {
            "url must begin with https://; webhooks are not sent unencrypted.".to_owned()
        }
        TargetRefused::NotPublic { host } => {
            format!("url must point to a public address; {host} does not.")
        }
    };
    ApiError::invalid_field("url", "invalid_value", message)
}
