//! `GET`, `PUT /v1/portal/pickup-profile`: the `pickup.*` fields of SPECIFICATION §2.1.

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use internal_api::ordering;
use serde_json::{Value, json};
use web::{ApiError, Fields, JsonBody, TextRule, one_line, read_body};

use crate::business;
use crate::business::commands::put_pickup_profile::put_pickup_profile;
use crate::business::domain::PickupProfile;
use crate::domain::Session;
use crate::http::audited::UserAuthor;
use crate::http::openapi::bodies;
use crate::state::State;

const REQUIRED: [&str; 7] =
    ["businessName", "contactName", "phone", "addressLine1", "city", "state", "pincode"];
const OPTIONAL: [&str; 5] = ["addressLine2", "landmark", "latitude", "longitude", "fullAddress"];

/// Only in responses. Programs may send back what they have read.
const COMPUTED: [&str; 2] = ["complete", "missing"];

#[utoipa::path(
    get,
    path = "/v1/portal/pickup-profile",
    operation_id = "readPickupProfile",
    tag = "Pickup profile",
    summary = "Read the pickup profile",
    responses((status = 200, description = "The profile. All fields are null if there is none.", body = bodies::PickupProfileView)),
)]
pub(crate) async fn read(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let profile = business::queries::pickup_profile::find(&state, session.business).await?;
    Ok(HttpResponse::Ok().json(view(profile)))
}

#[utoipa::path(
    put,
    path = "/v1/portal/pickup-profile",
    operation_id = "writePickupProfile",
    tag = "Pickup profile",
    summary = "Set the pickup profile",
    request_body = internal_api::ordering::PickupProfile,
    responses((status = 200, description = "The profile.", body = bodies::PickupProfileView)),
)]
pub(crate) async fn write(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let profile = parse(&body.0)?;
    put_pickup_profile(&state, session.business, &author.0, &profile).await?;
    Ok(HttpResponse::Ok().json(view(Some(profile))))
}

/// All fields, and whether the profile is complete. Without a profile the fields are null.
pub(super) fn view(profile: Option<PickupProfile>) -> Value {
    let is_complete = profile.is_some();
    let mut view = match profile {
        Some(profile) => json!(to_wire(profile)),
        None => REQUIRED.iter().chain(&OPTIONAL).map(|name| (*name, Value::Null)).collect(),
    };
    view["complete"] = json!(is_complete);
    view["missing"] = if is_complete { json!([]) } else { json!(REQUIRED) };
    view
}

pub(crate) fn to_wire(profile: PickupProfile) -> ordering::PickupProfile {
    ordering::PickupProfile {
        business_name: profile.business_name,
        contact_name: profile.contact_name,
        phone: profile.phone,
        address_line1: profile.address_line1,
        address_line2: profile.address_line2,
        city: profile.city,
        state: profile.state,
        pincode: profile.pincode,
        landmark: profile.landmark,
        latitude: profile.latitude,
        longitude: profile.longitude,
        full_address: profile.full_address,
    }
}

fn parse(body: &Value) -> Result<PickupProfile, ApiError> {
    let known = [REQUIRED.as_slice(), &OPTIONAL, &COMPUTED].concat();
    read_body(body, &known, profile)
}

fn profile(fields: &Fields<'_>) -> Option<PickupProfile> {
    let business_name = fields.required_text("businessName", TextRule::line(120));
    let contact_name = fields.required_text("contactName", TextRule::line(120));
    let phone = fields.required_phone("phone");
    let address_line1 = fields.required_text("addressLine1", TextRule::lines(250)).map(one_line);
    let address_line2 = fields.optional_text("addressLine2", TextRule::lines(250)).map(one_line);
    let city = fields.required_text("city", TextRule::line(120));
    let state = fields.required_text("state", TextRule::line(120));
    let pincode = fields.required_pincode("pincode");
    let landmark = fields.optional_text("landmark", TextRule::line(250));
    let latitude = fields.optional_number("latitude", -90.0, 90.0);
    let longitude = fields.optional_number("longitude", -180.0, 180.0);
    for (one, other) in [("latitude", "longitude"), ("longitude", "latitude")] {
        if fields.value(one).is_some() && fields.value(other).is_none() {
            fields.reject(other, "required", format!("{other} is required when {one} is given."));
        }
    }
    let full_address = fields.optional_text("fullAddress", TextRule::lines(1_000));
    Some(PickupProfile {
        business_name: business_name?,
        contact_name: contact_name?,
        phone: phone?,
        address_line1: address_line1?,
        address_line2,
        city: city?,
        state: state?,
        pincode: pincode?,
        landmark,
        latitude,
        longitude,
        full_address,
    })
}
