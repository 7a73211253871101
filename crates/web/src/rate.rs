//! The headers of rate limits, from draft-ietf-httpapi-ratelimit-headers.

use std::num::NonZeroU32;

use actix_web::http::header::{HeaderName, HeaderValue};

pub const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// A limit, for `RateLimit-Policy`: a leaking bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    pub name: &'static str,
    pub per_second: NonZeroU32,
    pub burst: NonZeroU32,
}

/// The state of a caller's bucket after a call, for `RateLimit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub policy: Policy,
    pub remaining: u32,
    /// Until the bucket is full again. After a refusal: until the next call can succeed.
    pub resets_in_s: u64,
}

/// The bucket is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exceeded(pub Standing);

impl Policy {
    /// `"default";q=200;w=4`: a bucket of `q` calls that refills in `w` seconds.
    pub fn header(&self) -> String {
        let window_s = self.burst.get().div_ceil(self.per_second.get());
        format!("\"{}\";q={};w={window_s}", self.name, self.burst)
    }
}

impl Standing {
    /// `"default";r=199;t=1`
    pub fn header(&self) -> String {
        format!("\"{}\";r={};t={}", self.policy.name, self.remaining, self.resets_in_s)
    }

    /// Both headers.
    pub fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let texts = [(RATE_LIMIT_POLICY, self.policy.header()), (RATE_LIMIT, self.header())];
        texts
            .into_iter()
            .filter_map(|(name, text)| HeaderValue::try_from(text).ok().map(|value| (name, value)))
    }
}
