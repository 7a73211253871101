//! `GET`, `PUT /v1/portal/business/contact`, and `PUT /v1/operator/businesses/{id}/contact`: whom the operator asks about a
//! business, and its tax number.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, ReqData};
use domain::BusinessId;
use serde::Serialize;
use serde_json::Value;
use web::{ApiError, Fields, JsonBody, TextRule, read_body};

use crate::audit::domain::Author;
use crate::business::commands::change_contact;
use crate::business::domain::{Contact, gstin};
use crate::business::queries;
use crate::business::routes::businesses::business_id;
use crate::domain::Session;
use crate::http::audited::{OperatorAuthor, UserAuthor};
use crate::http::errors;
use crate::http::openapi::contact_bodies;
use crate::state::State;

const NAME: TextRule = TextRule::line(120);
/// Longer than the number, because spaces around it are accepted.
const GSTIN: TextRule = TextRule::line(40);

/// Each field is null if it is not known.
#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ContactView {
    name: Option<String>,
    email: Option<String>,
    phone: Option<String>,
    /// The number for the goods and services tax of India.
    gstin: Option<String>,
}

impl From<Contact> for ContactView {
    fn from(contact: Contact) -> Self {
        let Contact { name, email, phone, gstin } = contact;
        Self { name, email, phone, gstin }
    }
}

#[utoipa::path(
    get,
    path = "/v1/portal/business/contact",
    operation_id = "readContact",
    tag = "Account",
    summary = "Read the contact of the business and its tax number",
    responses((status = 200, description = "The contact.", body = ContactView)),
)]
pub(crate) async fn read(state: Data<State>, session: ReqData<Session>) -> Result<HttpResponse, ApiError> {
    let contact = queries::contact::find(&state, session.business).await?;
    Ok(HttpResponse::Ok().json(ContactView::from(contact)))
}

#[utoipa::path(
    put,
    path = "/v1/portal/business/contact",
    operation_id = "changeContact",
    tag = "Account",
    summary = "Change the contact of the business and its tax number",
    description = "The delivery company sees them. A field that is left out is removed.",
    request_body = contact_bodies::ChangeContact,
    responses((status = 204, description = "The contact is changed.")),
)]
pub(crate) async fn write(
    state: Data<State>,
    session: ReqData<Session>,
    author: UserAuthor,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    save(&state, session.business, &author.0, &body.0).await
}

#[utoipa::path(
    put,
    path = "/v1/operator/businesses/{id}/contact",
    operation_id = "changeContactOfBusiness",
    tag = "Operator",
    summary = "Change the contact of a business and its tax number",
    description = "A field that is left out is removed.",
    params(("id" = BusinessId, Path, description = "The business.")),
    request_body = contact_bodies::ChangeContact,
    responses((status = 204, description = "The contact is changed.")),
)]
pub(crate) async fn write_for_operator(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    save(&state, business, &author.0, &body.0).await
}

async fn save(
    state: &State,
    business: BusinessId,
    author: &Author,
    body: &Value,
) -> Result<HttpResponse, ApiError> {
    let changed = change_contact::change_contact(state, business, author, &parse(body)?).await;
    changed.map_err(errors::change_contact)?;
    Ok(HttpResponse::NoContent().finish())
}

fn parse(body: &Value) -> Result<Contact, ApiError> {
    read_body(body, &["name", "email", "phone", "gstin"], |fields| {
        let name = fields.optional_text("name", NAME);
        let (email, phone) = (fields.optional_email("email"), fields.optional_phone("phone"));
        Some(Contact { name, email, phone, gstin: optional_gstin(fields) })
    })
}

fn optional_gstin(fields: &Fields<'_>) -> Option<String> {
    let given = fields.optional_text("gstin", GSTIN)?;
    let valid = gstin(&given);
    if valid.is_none() {
        let message = "gstin must be the 15 characters of the GST certificate, such as 29AAGCB7383J1Z4. At least one of them is wrong.";
        fields.reject("gstin", "invalid_format", message);
    }
    valid
}
