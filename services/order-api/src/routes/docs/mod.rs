//! `GET /docs` and `GET /v1/openapi.json`: the API's description, for people and for programs. The page is one file without a
//! script: it needs nothing from elsewhere, works offline, and its policy lets nothing run.

mod fields;
mod page;

use actix_web::HttpResponse;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web::Data;
use anyhow::Context;
use settings::Brand;
use url::Url;

use super::openapi;

/// Both, rendered once at the start: they say the same for as long as the service runs.
pub struct Description {
    document: String,
    page: String,
    policy: String,
}

impl Description {
    /// # Errors
    /// When the document or its page cannot be made, which tests rule out.
    pub fn new(brand: &Brand, public_url: &Url) -> anyhow::Result<Self> {
        let document = openapi::document(brand, public_url)?;
        let page = page::render(&brand.name, &document).context("the page of the API's description")?;
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'",
            page::style_hash()
        );
        Ok(Self { document: document.pretty(), page, policy })
    }

    #[cfg(test)]
    pub(super) fn page(&self) -> &str {
        &self.page
    }
}

/// It changes with a release alone.
const KEPT: &str = "public, max-age=300";

pub(super) async fn json(description: Data<Description>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((CACHE_CONTROL, KEPT))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(description.document.clone())
}

pub(super) async fn page(description: Data<Description>) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((CONTENT_SECURITY_POLICY, description.policy.as_str()))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CACHE_CONTROL, KEPT))
        .body(description.page.clone())
}
