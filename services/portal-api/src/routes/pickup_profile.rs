//! `GET`, `PUT /v1/portal/pickup-profile`: the `pickup.*` fields of SPECIFICATION §2.1.

use actix_web::HttpResponse;
use actix_web::web::{Data, ReqData};
use internal_api::ordering::PickupProfile;
use serde_json::{Value, json};
use web::{ApiError, FieldErrors, Fields, JsonBody, TextRule, one_line};

use super::author::ByUser;
use super::errors;
use super::openapi::bodies;
use crate::app::App;
use crate::commands::put_pickup_profile::put_pickup_profile;
use crate::domain::Session;
use crate::store::pickup_profiles;

/// The fields without which nothing can be picked up.
const REQUIRED: [&str; 7] =
    ["businessName", "contactName", "phone", "addressLine1", "city", "state", "pincode"];
const OPTIONAL: [&str; 5] = ["addressLine2", "landmark", "latitude", "longitude", "fullAddress"];

#[utoipa::path(
    get,
    path = "/v1/portal/pickup-profile",
    operation_id = "readPickupProfile",
    tag = "Pickup profile",
    summary = "Where parcels are picked up",
    responses((status = 200, description = "The profile; every field null where there is none.", body = bodies::PickupProfileView)),
)]
pub(super) async fn read(app: Data<App>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let read = app.database.read(async |conn| pickup_profiles::find(conn, session.business).await).await;
    Ok(HttpResponse::Ok().json(view(read.map_err(errors::store)?.as_ref())))
}

#[utoipa::path(
    put,
    path = "/v1/portal/pickup-profile",
    operation_id = "writePickupProfile",
    tag = "Pickup profile",
    summary = "Say where parcels are picked up",
    request_body = internal_api::ordering::PickupProfile,
    responses((status = 200, description = "The profile.", body = bodies::PickupProfileView)),
)]
pub(super) async fn write(
    app: Data<App>,
    session: ReqData<Session>,
    author: ByUser,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let profile = parse(&body.0)?;
    put_pickup_profile(&app, session.business, &author.0, &profile).await.map_err(errors::store)?;
    Ok(HttpResponse::Ok().json(view(Some(&profile))))
}

/// Every field, `null` where there is none, and whether the profile is complete.
fn view(profile: Option<&PickupProfile>) -> Value {
    let mut view = json!(profile);
    if profile.is_none() {
        view = REQUIRED.iter().chain(&OPTIONAL).map(|name| (*name, Value::Null)).collect();
    }
    view["complete"] = json!(profile.is_some());
    view["missing"] = if profile.is_some() { json!([]) } else { json!(REQUIRED) };
    view
}

fn parse(body: &Value) -> Result<PickupProfile, ApiError> {
    let field_errors = FieldErrors::default();
    let parsed = Fields::of_body(body, &field_errors).and_then(|fields| profile(&fields));
    match parsed {
        Some(parsed) if field_errors.is_empty() => Ok(parsed),
        _ => Err(ApiError::invalid(field_errors)),
    }
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
