//! `PUT /v1/operator/password`: a person of the staff changes their own password.

use std::rc::Rc;

use actix_web::web::{Data, ReqData};
use actix_web::{HttpRequest, HttpResponse};
use web::{ApiError, JsonBody};

use super::audited::browser;
use super::caller::caller;
use super::openapi::bodies;
use super::operator_caller::Person;
use super::password::parse;
use super::session_cookie::OPERATOR;
use super::{browser_cookie, errors};
use crate::commands::change_password::ChangePassword;
use crate::commands::change_staff_password::{Changing, change_password};
use crate::domain::{Account, Email};
use crate::state::State;

/// All console sessions of the person end, and this browser gets a new one.
#[utoipa::path(
    put,
    path = "/v1/operator/password",
    operation_id = "changeStaffPassword",
    tag = "Operator",
    summary = "Change the own password. All other console sessions end",
    request_body = bodies::ChangePassword,
    responses((status = 204, description = "The password is changed. A new cookie carries the session.")),
)]
pub(super) async fn change(
    state: Data<State>,
    person: ReqData<Rc<Person>>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let Account::Staff(id) = person.holder.account else { return Err(errors::account_required()) };
    let email = Email::parse(&person.holder.email).ok_or_else(errors::account_required)?;
    let (current, new) = parse(&body.0, Some(&email))?;
    let (caller, browser) = (caller(&state, &request), browser(&state, &request, &OPERATOR));
    let changing =
        Changing { id, email: &email, author: &person.author, authenticated_at: person.authenticated_at };
    let change = ChangePassword { current, new, caller, browser };
    let opened = change_password(&state, &changing, &change).await.map_err(errors::change_password)?;
    let mut response = HttpResponse::NoContent();
    response.cookie(OPERATOR.set(&state, &opened.token, opened.expires_at));
    if let Some(browser) = &opened.browser {
        response.cookie(browser_cookie::OPERATOR.set(&state, browser));
    }
    Ok(response.finish())
}
