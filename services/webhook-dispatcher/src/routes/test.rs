//! `POST …/webhook-endpoints/{endpoint}/test`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use web::{ApiError, Tasks};

use super::errors::from_test;
use super::{path, view};
use crate::app::App;
use crate::commands;

pub(super) async fn test(
    app: Data<App>,
    tasks: Data<Tasks>,
    ids: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let app = app.into_inner();
    let work = async move { commands::test_endpoint(&app, business, endpoint).await };
    let outcome = tasks.run(work).await?.map_err(from_test)?;
    Ok(HttpResponse::Ok().json(view::of_test(outcome)))
}
