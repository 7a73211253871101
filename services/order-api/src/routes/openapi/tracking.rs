//! The operations for holders of a tracking code.
#![expect(dead_code, reason = "described, not called")]

use domain::{EventKind, Mode};

use super::answers::json;
use super::operation::Operation;
use super::parameters::TrackingPath;
use super::samples::Samples;
use super::shared;
use crate::routes::tracking::{self, TRY_AGAIN_S, TrackingView};

const WAIT_S: u32 = 2;

pub(super) fn operations(samples: &Samples) -> Vec<Operation> {
    let page = Operation {
        id: "getTrackingPage",
        headers: &["Cache-Control"],
        errors: vec![shared::always()[0].clone()],
        ..Operation::default()
    };
    vec![json_view(samples), page]
}

/// Track a parcel
///
/// The content of the tracking page as JSON. It needs no key and contains no personal data.
#[utoipa::path(
    get,
    path = "/v1/tracking/{trackingCode}",
    operation_id = "getTracking",
    tag = "Tracking",
    params(TrackingPath),
    responses((status = 200, description = "The progress of the parcel.", body = TrackingView)),
)]
pub(super) fn get_tracking() {}

fn json_view(samples: &Samples) -> Operation {
    let events = [EventKind::DriverAssigned, EventKind::OrderPickedUp];
    let view = tracking::shown(samples.order(Mode::Live, &events), samples.moves(&events));
    let mut errors = vec![tracking::unknown_code(), tracking::too_many(WAIT_S)];
    errors.extend(shared::always());
    Operation {
        id: "getTracking",
        answers: vec![("picked_up", "On its way", json(&view))],
        headers: &["Cache-Control"],
        errors,
        ..Operation::default()
    }
}

/// Show the tracking page
///
/// The page behind `trackingUrl`, for the customer. It refreshes itself. Every outcome is a page, because people see it.
#[utoipa::path(
    get,
    path = "/track/{trackingCode}",
    operation_id = "getTrackingPage",
    tag = "Tracking",
    params(TrackingPath),
    responses(
        (status = 200, description = "The page of the parcel.", body = String, content_type = "text/html"),
        (status = 404, description = "A page that says that the parcel does not exist.", body = String, content_type = "text/html"),
        (status = 429, description = "A page that asks to wait.", body = String, content_type = "text/html"),
        (
            status = 503,
            description = format!("A page that asks to come again, in {TRY_AGAIN_S} s."),
            body = String,
            content_type = "text/html",
        ),
    ),
)]
pub(super) fn get_tracking_page() {}
