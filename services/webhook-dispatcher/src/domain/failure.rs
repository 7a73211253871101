//! Why an attempt failed. The messages are for the developer of the receiver.

use std::time::Duration;

use outbound::TargetRefused;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{}", status_message(*.0))]
    Status(u16),
    #[error(
        "it answered {0} with a redirect; redirects are not followed, so set the URL to the final address"
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

fn status_message(status: u16) -> String {
    let advice = match status {
        304 => "that is no answer to a POST, and only a 2xx status counts as received",
        400 | 422 => "your endpoint did not accept the body",
        401 | 403 => "your endpoint refused the webhook; check its signing secret and its own access rules",
        404 => "check the path of the URL",
        405 => "the URL must accept POST",
        410 => "the endpoint says that it is gone for good, and was disabled",
        413 => "your endpoint does not take bodies of this size",
        415 => "your endpoint must accept application/json",
        429 => "your endpoint asks for fewer requests",
        500 | 501 => "your endpoint met an error of its own; see its log",
        502..=504 => "a proxy in front of your endpoint could not reach it",
        505..=599 => "your endpoint met an error of its own",
        _ => "only a 2xx status counts as received",
    };
    format!("it answered {status}: {advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_to_do() {
        for (failure, words) in [
            (Failure::Status(404), "it answered 404: check the path of the URL"),
            (Failure::Status(599), "it answered 599: your endpoint met an error of its own"),
            (
                Failure::Status(304),
                "it answered 304: that is no answer to a POST, and only a 2xx status counts as received",
            ),
            (Failure::Status(418), "it answered 418: only a 2xx status counts as received"),
            (
                Failure::Timeout(Duration::from_secs(10)),
                "no complete answer in 10 s; answer at once and do the work afterwards",
            ),
            (
                TargetRefused::NotPublic { host: "intranet.example".into() }.into(),
                "not sent: intranet.example leads to an address that is not public",
            ),
        ] {
            assert_eq!(failure.to_string(), words);
        }
    }
}
