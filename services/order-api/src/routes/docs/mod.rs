//! `GET /docs/…`, `GET /docs/downloads` and `GET /v1/openapi.json`: the documentation of the API, which `proto-docs/site`
//! builds, and the packages for integrators.

pub(super) mod downloads;
mod packages;
pub(super) mod site;

use std::sync::OnceLock;

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, ETag, EntityTag, Header, IfNoneMatch, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use anyhow::Context;
use settings::Brand;
use url::Url;
use web::ApiError;

pub use packages::Packages;
pub use site::Site;

use super::openapi;

/// Rendered at the first request, so that it does not delay the start, and unchanged afterwards.
pub struct Description {
    brand: Brand,
    public_url: Url,
    portal_url: Option<Url>,
    packages: Packages,
    site: Option<Site>,
    rendered: OnceLock<Rendered>,
}

struct Rendered {
    document: String,
    downloads: String,
}

impl Description {
    /// The pages link to the portal if its address is set.
    pub fn new(
        brand: &Brand,
        public_url: &Url,
        portal_url: Option<&Url>,
        packages: Packages,
        site: Option<Site>,
    ) -> Self {
        Self {
            brand: brand.clone(),
            public_url: public_url.clone(),
            portal_url: portal_url.cloned(),
            packages,
            site,
            rendered: OnceLock::new(),
        }
    }

    fn rendered(&self) -> Result<&Rendered, ApiError> {
        if let Some(rendered) = self.rendered.get() {
            return Ok(rendered);
        }
        let rendered = self.render().map_err(ApiError::internal)?;
        Ok(self.rendered.get_or_init(|| rendered))
    }

    /// # Errors
    /// When the document or its page cannot be rendered. Tests rule that out.
    fn render(&self) -> anyhow::Result<Rendered> {
        let document = openapi::document(&self.brand, &self.public_url)?.pretty();
        let portal = self.portal_url.as_ref();
        let downloads = downloads::render(&self.brand.name, &self.public_url, portal, &self.packages)
            .context("the page of the downloads")?;
        Ok(Rendered { document, downloads })
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

/// The headers of every page.
fn add_page_headers<'a>(
    answer: &'a mut HttpResponseBuilder,
    policy: &str,
    kept: &str,
) -> &'a mut HttpResponseBuilder {
    answer
        .insert_header((CONTENT_SECURITY_POLICY, policy))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CACHE_CONTROL, kept))
}

/// Adds the tag of the content, and tells whether the caller has this content already.
fn tagged(answer: &mut HttpResponseBuilder, request: &HttpRequest, sha256: String) -> bool {
    let tag = EntityTag::new_strong(sha256);
    let is_known = match IfNoneMatch::parse(request) {
        Ok(IfNoneMatch::Any) => true,
        Ok(IfNoneMatch::Items(known)) => known.iter().any(|one| one.weak_eq(&tag)),
        Err(_) => false,
    };
    answer.insert_header(ETag(tag));
    is_known
}
