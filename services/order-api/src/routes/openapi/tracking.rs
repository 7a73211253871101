//! What anybody can see who holds a tracking code.

use domain::{EventKind, Mode};

use super::answers::{answer, success};
use super::components::TRACKING_CODE;
use super::operation::{Area, Operation, in_path};
use super::ordered::{Json, object};
use super::samples::Samples;
use super::shared;
use crate::routes::tracking::{self, TRY_AGAIN_S};

const WAIT_S: u32 = 2;

pub(super) fn operations(samples: &Samples) -> Vec<Operation> {
    vec![json(samples), page(samples)]
}

fn code(samples: &Samples) -> Json {
    let schema = object! {
        "type": "string", "pattern": TRACKING_CODE, "format": "tracking-code",
        "description": "As in the answer to the order. Lower case is forgiven.",
    };
    in_path("trackingCode", schema, samples.tracking_code(Mode::Live).as_str())
}

fn json(samples: &Samples) -> Operation {
    let events = [EventKind::DriverAssigned, EventKind::OrderPickedUp];
    let view = tracking::shown(samples.order(Mode::Live, &events), samples.moves(&events));
    let found = success(
        "Where the parcel is.",
        &["Request-Id", "Cache-Control"],
        "Tracking",
        [("picked_up", "On its way", Json::of(&view))],
    );
    let mut errors = vec![tracking::unknown_code(), tracking::too_many(WAIT_S)];
    errors.extend(shared::always());
    Operation {
        area: Area::Tracking,
        method: "get",
        path: "/v1/tracking/{trackingCode}",
        id: "getTracking",
        summary: "Track a parcel",
        description: "What the tracking page shows, as JSON. Needs no key, and tells no personal data.",
        parameters: vec![code(samples)],
        body: None,
        answers: vec![(200, found)],
        errors,
    }
}

/// A page for every outcome, since people see it.
fn page(samples: &Samples) -> Operation {
    let html = |description: &str, more: &[&str]| {
        let headers = [&["Request-Id", "Cache-Control"], more].concat();
        let content = object! {
            "schema": object! { "type": "string" },
            "example": "<!doctype html><html lang=\"en\">…</html>",
        };
        answer(description, &headers, object! { "text/html": content })
    };
    let answers = vec![
        (200, html("The page of the parcel.", &[])),
        (404, html("A page that says that there is no such parcel.", &[])),
        (429, html("A page that asks to wait.", &["Retry-After"])),
        (503, html(&format!("A page that asks to come again, in {TRY_AGAIN_S} s."), &["Retry-After"])),
    ];
    Operation {
        area: Area::Tracking,
        method: "get",
        path: "/track/{trackingCode}",
        id: "getTrackingPage",
        summary: "Show the tracking page",
        description: "The page behind `trackingUrl`, for the customer. It keeps itself current.",
        parameters: vec![code(samples)],
        body: None,
        answers,
        errors: Vec::from([shared::always()[0].clone()]),
    }
}
