//! The operator's proxy for webhooks.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use settings::Secret;
use url::Url;

/// An HTTP proxy that opens connections by `CONNECT`.
#[derive(Clone, Debug)]
pub(crate) struct ProxyAddress {
    pub host: String,
    pub port: u16,
    /// The value of `Proxy-Authorization`.
    pub authorization: Option<Secret>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be http://host:port or http://user:password@host:port")]
pub(crate) struct InvalidProxy;

impl ProxyAddress {
    /// # Errors
    /// When the text is not such an address. The error does not contain it.
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidProxy> {
        let url = Url::parse(text.trim()).map_err(|_| InvalidProxy)?;
        let is_plain = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let host = url.host_str().filter(|host| !host.is_empty() && is_plain && url.scheme() == "http");
        let port = url.port_or_known_default().filter(|port| *port != 0);
        let (Some(host), Some(port)) = (host, port) else { return Err(InvalidProxy) };
        Ok(Self { host: host.trim_matches(['[', ']']).to_owned(), port, authorization: authorization(&url)? })
    }
}

/// Basic authentication (RFC 7617).
fn authorization(url: &Url) -> Result<Option<Secret>, InvalidProxy> {
    let (user, password) = (url.username(), url.password().unwrap_or_default());
    if user.is_empty() && password.is_empty() {
        return Ok(None);
    }
    let decoded = |text| percent_decode_str(text).decode_utf8().map_err(|_| InvalidProxy);
    let (user, password) = (decoded(user)?, decoded(password)?);
    // A colon ends the user's name.
    if user.contains(':') {
        return Err(InvalidProxy);
    }
    let encoded = BASE64_STANDARD.encode(format!("{user}:{password}"));
    Ok(Some(Secret::new(format!("Basic {encoded}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_have_credentials() {
        for (text, host, port, authorization) in [
            ("http://proxy.example:3128", "proxy.example", 3128, None),
            ("http://[fd00::1]:3128/", "fd00::1", 3128, None),
            ("http://proxy.example", "proxy.example", 80, None),
            ("http://user:p%40ss@10.0.0.9:8080\n", "10.0.0.9", 8080, Some("Basic dXNlcjpwQHNz")),
        ] {
            let proxy = ProxyAddress::parse(text).unwrap();
            assert_eq!((proxy.host.as_str(), proxy.port), (host, port), "{text}");
            assert_eq!(proxy.authorization.as_ref().map(Secret::expose), authorization, "{text}");
        }
        for bad in [
            "proxy.example:3128",
            "https://proxy.example:3128",
            "socks5://proxy.example:1080",
            "http://proxy.example:0",
            "http://proxy.example:3128/path",
            "http://proxy.example:3128?a",
            "http://a%3Ab:c@proxy.example:3128",
        ] {
            assert_eq!(ProxyAddress::parse(bad).err(), Some(InvalidProxy), "{bad}");
        }
    }
}
