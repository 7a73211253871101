//! The security headers of pages.

use actix_web::HttpResponseBuilder;
use actix_web::http::header::{self, HeaderName};
use url::Url;

/// One year. Does not include subdomains, which may belong to other services of the operator.
const HSTS: &str = "max-age=31536000";

#[derive(Clone, Debug)]
pub(super) struct PageHeaders {
    content_security_policy: String,
    requires_tls: bool,
}

impl PageHeaders {
    /// Allows content from our own origin only, and nothing inline. Exceptions: inline styles, which the component library
    /// sets at run time, and the origins of the payment provider.
    pub(super) fn new(public: &Url, payment_origins: &[&str]) -> Self {
        let payment: String = payment_origins.iter().map(|origin| format!(" {origin}")).collect();
        let frames = if payment.is_empty() { " 'none'" } else { payment.as_str() };
        Self {
            content_security_policy: format!(
                "default-src 'none'; script-src 'self'{payment}; style-src 'self' 'unsafe-inline'; \
                 img-src 'self' data:{payment}; font-src 'self'; connect-src 'self'{payment}; frame-src{frames}; \
                 manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
            ),
            requires_tls: public.scheme() == "https",
        }
    }

    pub(super) fn add_to(&self, response: &mut HttpResponseBuilder) {
        response
            .insert_header((header::CONTENT_SECURITY_POLICY, self.content_security_policy.as_str()))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header((header::REFERRER_POLICY, "no-referrer"))
            // For browsers without support for frame-ancestors.
            .insert_header((header::X_FRAME_OPTIONS, "DENY"))
            .insert_header((
                HeaderName::from_static("cross-origin-opener-policy"),
                "same-origin-allow-popups",
            ))
            .insert_header((HeaderName::from_static("cross-origin-resource-policy"), "same-origin"));
        if self.requires_tls {
            response.insert_header((header::STRICT_TRANSPORT_SECURITY, HSTS));
        }
    }
}
