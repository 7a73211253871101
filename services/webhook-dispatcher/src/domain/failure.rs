//! Why an attempt failed. The messages are for the developer of the receiver.

use std::io;
use std::time::Duration;

use outbound::TargetRefused;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{}", status_message(*.0))]
    Status(u16),
    #[error(
        "your server returned {0}, a redirect; redirects are not followed, so set the URL to the final address"
    )]
    Redirect(u16),
    #[error("no complete answer in {} s; answer at once and do the work afterwards", .0.as_secs_f32())]
    Timeout(Duration),
    #[error("the name {0} cannot be resolved; check the host in the URL, and its DNS records")]
    UnknownName(String),
    #[error("not sent: {0}")]
    Refused(#[from] TargetRefused),
    #[error("the URL is no longer usable: {0}")]
    UnusableUrl(String),
    #[error("the connection was refused: nothing listens at that address and port")]
    ConnectionRefused,
    #[error("the host cannot be reached")]
    Unreachable,
    #[error("{}", .0.message())]
    Proxy(ProxyFault),
    #[error("TLS: the handshake failed: it timed out; does the port speak https?")]
    HandshakeTimeout,
    #[error("the connection was closed before a complete answer arrived")]
    ConnectionClosed,
    #[error("TLS: {0}")]
    Tls(String),
    #[error("the answer is not valid HTTP")]
    NotHttp,
    #[error("the answer's headers are too large or too many; a status is answer enough")]
    HeadTooLarge,
    #[error("the connection failed: {0}")]
    Other(&'static str),
}

/// Why the operator's proxy gave no connection. The text is for the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ProxyFault {
    #[error("the proxy cannot be reached: {0}")]
    Unreachable(io::ErrorKind),
    #[error("the proxy did not answer in time")]
    NoAnswer,
    #[error("the proxy answered with status {0}")]
    Status(u16),
    #[error("the proxy broke off, or does not speak HTTP")]
    Broken,
}

impl ProxyFault {
    /// Whether the endpoint may be the cause.
    pub(crate) fn is_of_target(self) -> bool {
        matches!(self, Self::NoAnswer | Self::Status(502..=504))
    }

    /// For the developer, whom neither the proxy's address nor its answer concerns.
    fn message(self) -> &'static str {
        if self.is_of_target() {
            "our proxy could not connect to your server; check that it runs and accepts connections from our addresses"
        } else {
            "not sent: our proxy failed; nothing is wrong with your server"
        }
    }
}

fn status_message(status: u16) -> String {
    let advice = match status {
        304 => ": that is no answer to a POST, and only a 2xx status counts as received",
        400 | 422 => ": it did not accept the body",
        401 | 403 => ": it refused the webhook; check its signing secret and its own access rules",
        404 => ": check the path of the URL",
        405 => ": the URL must accept POST",
        410 => ": the endpoint is gone for good, and was disabled",
        413 => ": it does not take bodies of this size",
        415 => ": it must accept application/json",
        429 => ": it asks for fewer requests",
        500 | 501 => "; see its log",
        502..=504 => ": a proxy in front of it could not reach it",
        505..=599 => "",
        _ => ": only a 2xx status counts as received",
    };
    format!("your server returned {status}{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_to_do() {
        for (failure, words) in [
            (Failure::Status(404), "your server returned 404: check the path of the URL"),
            (Failure::Status(500), "your server returned 500; see its log"),
            (Failure::Status(599), "your server returned 599"),
            (
                Failure::Status(304),
                "your server returned 304: that is no answer to a POST, and only a 2xx status counts as received",
            ),
            (Failure::Status(418), "your server returned 418: only a 2xx status counts as received"),
            (
                Failure::Timeout(Duration::from_secs(10)),
                "no complete answer in 10 s; answer at once and do the work afterwards",
            ),
            (
                TargetRefused::NotPublic { host: "intranet.example".into() }.into(),
                "not sent: intranet.example leads to an address that is not public",
            ),
            (
                Failure::Proxy(ProxyFault::Status(407)),
                "not sent: our proxy failed; nothing is wrong with your server",
            ),
            (
                Failure::Proxy(ProxyFault::Status(502)),
                "our proxy could not connect to your server; check that it runs and accepts connections from our addresses",
            ),
        ] {
            assert_eq!(failure.to_string(), words);
        }
    }
}
