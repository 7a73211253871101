//! `GET`, `POST /v1/operator/businesses/{id}/notes`: what the staff notes about a business. Businesses never see it.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use chrono::{DateTime, Utc};
use serde::Serialize;
use web::{ApiError, JsonBody, TextRule, page_query, read_body};

use crate::business::commands::add_staff_note::add_staff_note;
use crate::business::domain::StaffNote;
use crate::business::queries;
use crate::business::routes::businesses::business_id;
use crate::http::audited::OperatorAuthor;
use crate::http::errors;
use crate::http::openapi::{contact_bodies, params};
use crate::http::pagination::PageRequest;
use crate::state::State;

const TEXT: TextRule = TextRule::lines(2_000);

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
struct StaffNoteView {
    /// Counts the notes of the business. Also the cursor of the list.
    id: String,
    /// The person or token that wrote it.
    author: String,
    text: String,
    created_at: DateTime<Utc>,
}

impl From<StaffNote> for StaffNoteView {
    fn from(note: StaffNote) -> Self {
        Self {
            id: note.number.to_string(),
            author: note.author,
            text: note.text,
            created_at: note.created_at,
        }
    }
}

#[utoipa::path(
    get,
    path = "/v1/operator/businesses/{id}/notes",
    operation_id = "listStaffNotes",
    tag = "Operator",
    summary = "List the notes of the staff about a business, newest first",
    params(("id" = domain::BusinessId, Path, description = "The business."), params::PageParams),
    responses((status = 200, description = "A page of notes.", body = internal_api::Page<StaffNoteView>)),
)]
pub(crate) async fn list(
    state: Data<State>,
    business: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let page = PageRequest::<i64>::new(page_query(&request)?, "note")?;
    let business = business_id(&state, &business).await?;
    let notes = queries::contact::notes(&state, business, page.limit, page.after).await?;
    Ok(HttpResponse::Ok().json(page.page(Some(notes))?.map(StaffNoteView::from)))
}

#[utoipa::path(
    post,
    path = "/v1/operator/businesses/{id}/notes",
    operation_id = "addStaffNote",
    tag = "Operator",
    summary = "Add a note about a business, for the staff only",
    description = "A note is never changed or removed. A business has at most 200: 409 `too_many_notes`. Once a closed business is erased: 409 `business_closed`.",
    params(("id" = domain::BusinessId, Path, description = "The business.")),
    request_body = contact_bodies::AddStaffNote,
    responses((status = 201, description = "The note.", body = StaffNoteView)),
)]
pub(crate) async fn add(
    state: Data<State>,
    author: OperatorAuthor,
    business: Path<String>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let business = business_id(&state, &business).await?;
    let text = read_body(&body.0, &["text"], |fields| fields.required_text("text", TEXT))?;
    let note = add_staff_note(&state, business, &author.0, text).await.map_err(errors::add_note)?;
    Ok(HttpResponse::Created().json(StaffNoteView::from(note)))
}
