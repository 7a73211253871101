//! The addresses of tracking pages.

use domain::TrackingCode;
use url::Url;

/// Builds tracking URLs from the public origin of this service.
#[derive(Clone, Debug)]
pub struct TrackingUrls {
    origin: String,
}

impl TrackingUrls {
    pub fn new(public_url: &Url) -> Self {
        Self { origin: public_url.as_str().trim_end_matches('/').to_owned() }
    }

    /// The page for everyone who has this code.
    pub fn of(&self, code: &TrackingCode) -> String {
        format!("{}/track/{code}", self.origin)
    }
}
