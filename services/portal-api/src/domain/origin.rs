//! Which origins may send writing calls (SPECIFICATION §13: a foreign or `null` `Origin` is 403).

use url::{Origin, Url};

/// The own origin of a listener.
#[derive(Clone, Debug)]
pub(crate) struct Origins {
    public: Url,
}

impl Origins {
    pub(crate) fn new(public: Url) -> Self {
        Self { public }
    }

    /// Whether this is a URL of the site.
    pub(crate) fn is_own(&self, url: &Url) -> bool {
        url.origin() == self.public.origin()
    }

    /// Whether a page of `origin` may write. `host` is the `Host` of the call: pages from the same host may write, because
    /// the portal may be reachable under several names. The scheme must match the public URL, so that nobody on the network
    /// path can impersonate the portal over plain HTTP.
    pub(crate) fn allow(&self, origin: &str, host: Option<&str>) -> bool {
        let Ok(given) = Url::parse(origin) else { return false };
        if !matches!(given.origin(), Origin::Tuple(..)) || given.origin().ascii_serialization() != origin {
            // `null`, or a URL with more than an origin.
            return false;
        }
        if given.origin() == self.public.origin() {
            return true;
        }
        let same_host = host.is_some_and(|host| {
            Url::parse(&format!("{}://{host}/", given.scheme()))
                .is_ok_and(|own| own.origin() == given.origin())
        });
        same_host && given.scheme() == self.public.scheme()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_portal_may_write() {
        let origins = Origins::new(Url::parse("https://portal.example.com/").unwrap());
        let host = Some("portal.internal:8443");
        for (origin, host, allowed) in [
            ("https://portal.example.com", None, true),
            ("https://portal.example.com", host, true),
            ("https://portal.internal:8443", host, true),
            ("http://portal.internal:8443", host, false),
            ("https://portal.internal", host, false),
            ("http://portal.example.com", None, false),
            ("https://portal.example.com:444", None, false),
            ("https://portal.example.com/", None, false),
            ("https://portal.example.com.evil.example", None, false),
            ("https://evil.example", host, false),
            ("https://evil.example", Some("evil.example@portal.example.com"), false),
            ("null", None, false),
            ("null", Some("null"), false),
            ("", None, false),
            ("file://", None, false),
            ("data:text/html,x", None, false),
        ] {
            assert_eq!(origins.allow(origin, host), allowed, "{origin} {host:?}");
        }
    }
}
