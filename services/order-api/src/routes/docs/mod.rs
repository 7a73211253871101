//! `GET /docs`, `GET /docs/{guide}`, `GET /docs/downloads` and `GET /v1/openapi.json`: the documentation of the API and
//! the packages for integrators. Each page is one self-contained file without JavaScript, and its content security
//! policy allows no script.

pub(super) mod downloads;
mod fields;
mod guides;
mod packages;
mod page;
mod prose;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web::{Data, Path};
use anyhow::Context;
use settings::Brand;
use url::Url;
use web::ApiError;

pub use packages::Packages;

use super::openapi;

/// Rendered at the first request, so that it does not delay the start, and unchanged afterwards.
pub struct Description {
    brand: Brand,
    public_url: Url,
    portal_url: Option<Url>,
    packages: Packages,
    rendered: OnceLock<Rendered>,
}

pub(super) struct Rendered {
    document: String,
    pub(super) page: String,
    /// The pages of the guides by name.
    pub(super) guides: Vec<(&'static str, String)>,
    pub(super) downloads: String,
    policy: String,
}

impl Description {
    /// The pages link to the portal if its address is set.
    pub fn new(brand: &Brand, public_url: &Url, portal_url: Option<&Url>, packages: Packages) -> Self {
        Self {
            brand: brand.clone(),
            public_url: public_url.clone(),
            portal_url: portal_url.cloned(),
            packages,
            rendered: OnceLock::new(),
        }
    }

    fn rendered(&self) -> Result<&Rendered, ApiError> {
        if let Some(rendered) = self.rendered.get() {
            return Ok(rendered);
        }
        let rendered = Rendered::new(&self.brand, &self.public_url, self.portal_url.as_ref(), &self.packages);
        let rendered = rendered.map_err(ApiError::internal)?;
        Ok(self.rendered.get_or_init(|| rendered))
    }
}

impl Rendered {
    /// # Errors
    /// When the document or its page cannot be rendered. Tests rule that out.
    pub(super) fn new(
        brand: &Brand,
        public_url: &Url,
        portal_url: Option<&Url>,
        packages: &Packages,
    ) -> anyhow::Result<Self> {
        let document = openapi::document(brand, public_url)?;
        let page =
            page::render(&brand.name, portal_url, &document).context("the page of the API's description")?;
        let guides = guides::render(brand, public_url, portal_url, packages).context("the guides")?;
        let downloads = downloads::render(&brand.name, public_url, portal_url, packages)
            .context("the page of the downloads")?;
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'",
            page::style_hash()
        );
        Ok(Self { document: document.pretty(), page, guides, downloads, policy })
    }
}

/// It changes only with a release.
const KEPT: &str = "public, max-age=300";

pub(super) async fn json(description: Data<Description>) -> Result<HttpResponse, ApiError> {
    let answer = HttpResponse::Ok()
        .content_type("application/json")
        .insert_header((CACHE_CONTROL, KEPT))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(description.rendered()?.document.clone());
    Ok(answer)
}

pub(super) async fn page(description: Data<Description>) -> Result<HttpResponse, ApiError> {
    let rendered = description.rendered()?;
    Ok(html(rendered, &rendered.page))
}

pub(super) async fn guide(
    description: Data<Description>,
    name: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let rendered = description.rendered()?;
    let found = rendered.guides.iter().find(|(known, _)| *known == name.as_str());
    let (_, page) = found.ok_or_else(|| ApiError::from_status(StatusCode::NOT_FOUND))?;
    Ok(html(rendered, page))
}

fn html(rendered: &Rendered, page: &str) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/html; charset=utf-8")
        .insert_header((CONTENT_SECURITY_POLICY, rendered.policy.as_str()))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CACHE_CONTROL, KEPT))
        .body(page.to_owned())
}
