//! Maps responses and errors to failures that a developer understands.

use std::error::Error;
use std::io;

use chrono::DateTime;
use domain::indian_time;
use outbound::ResolveError;
use rustls::CertificateError;

use super::connector::ConnectError;
use crate::domain::Failure;

/// None if the status counts as received.
pub(super) fn failure_of_status(status: u16) -> Option<Failure> {
    match status {
        200..=299 => None,
        // 304 is not a redirect.
        300..=303 | 305..=399 => Some(Failure::Redirect(status)),
        _ => Some(Failure::Status(status)),
    }
}

/// Why there is no response.
pub(super) fn failure_of_error(error: &(dyn Error + 'static)) -> Failure {
    if let Some(error) = cause::<ConnectError>(error) {
        return failure_of_connection(error);
    }
    if let Some(tls) = cause::<rustls::Error>(error) {
        return Failure::Tls(tls_message(tls));
    }
    match cause::<hyper::Error>(error) {
        // hyper's clients tell it by the text only.
        Some(error) if error.is_parse() && error.to_string().contains("too large") => Failure::HeadTooLarge,
        Some(error) if error.is_parse() => Failure::NotHttp,
        Some(error) if error.is_incomplete_message() || error.is_closed() => Failure::ConnectionClosed,
        _ if io_kind(error).is_some_and(is_closed) => Failure::ConnectionClosed,
        _ => Failure::Other("the exchange broke off"),
    }
}

fn failure_of_connection(error: &ConnectError) -> Failure {
    const NONE: Failure = Failure::Other("no connection could be made");
    match error {
        ConnectError::Resolve(ResolveError::Refused(refused)) => refused.clone().into(),
        ConnectError::Resolve(ResolveError::Unknown(name)) => Failure::UnknownName(name.clone()),
        ConnectError::Proxy(fault) => Failure::Proxy(*fault),
        ConnectError::TimedOut => Failure::Unreachable,
        ConnectError::HandshakeTimedOut => Failure::HandshakeTimeout,
        ConnectError::Tcp(error) => match io_kind(error.as_ref()) {
            Some(io::ErrorKind::ConnectionRefused) => Failure::ConnectionRefused,
            Some(
                io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable | io::ErrorKind::TimedOut,
            ) => Failure::Unreachable,
            Some(kind) if is_closed(kind) => Failure::ConnectionClosed,
            _ => NONE,
        },
        ConnectError::Tls(error) => match cause::<rustls::Error>(error) {
            Some(tls) => Failure::Tls(tls_message(tls)),
            None if is_closed(error.kind()) => {
                Failure::Tls("the server closed the connection during the handshake".to_owned())
            }
            None => NONE,
        },
    }
}

fn is_closed(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof
    )
}

/// The first error of this type in the chain of causes. `source` does not return the error inside an `io::Error`.
fn cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        let carried = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = carried.and_then(|carried| cause(carried)) {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn io_kind(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    let found = cause::<io::Error>(error)?;
    // `Other` only wraps another error.
    let carried = found.get_ref().filter(|_| found.kind() == io::ErrorKind::Other);
    carried.and_then(|carried| io_kind(carried)).or_else(|| Some(found.kind()))
}

fn tls_message(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(error) => certificate_message(error),
        rustls::Error::NoCertificatesPresented => "the server shows no certificate".to_owned(),
        rustls::Error::AlertReceived(alert) => format!("the server broke off with the alert {alert:?}"),
        rustls::Error::InvalidMessage(_) => {
            "the server does not speak TLS on this port; is this an http port?".to_owned()
        }
        rustls::Error::PeerIncompatible(_) => {
            "the server supports none of the TLS versions and ciphers in use today".to_owned()
        }
        _ => "the handshake failed".to_owned(),
    }
}

fn certificate_message(error: &CertificateError) -> String {
    match error {
        CertificateError::ExpiredContext { not_after, .. } => {
            let day = i64::try_from(not_after.as_secs()).ok().and_then(|at| DateTime::from_timestamp(at, 0));
            let on = day.map(|day| format!(" on {}", indian_time(day).format("%-d %B %Y (IST)")));
            let on = on.unwrap_or_default();
            format!("the certificate expired{on}")
        }
        CertificateError::Expired => "the certificate has expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the certificate is not valid yet".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate is for another host name".to_owned()
        }
        CertificateError::UnknownIssuer => {
            "no known authority issued the certificate: it is self-signed, or an intermediate certificate is \
             missing from the chain"
                .to_owned()
        }
        // rustls exposes only the name of webpki's error.
        CertificateError::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "the certificate is self-signed: it is a CA certificate that no known authority issued".to_owned()
        }
        CertificateError::Revoked => "the certificate has been revoked".to_owned(),
        _ => "the certificate is not valid".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_2xx_counts_as_received() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(failure_of_status(status), None, "{status}");
        }
        for status in [300, 301, 302, 303, 307, 308] {
            assert_eq!(failure_of_status(status), Some(Failure::Redirect(status)));
        }
        for status in [100, 199, 304, 400, 404, 410, 429, 500, 503, 599, 600, 999] {
            assert_eq!(failure_of_status(status), Some(Failure::Status(status)));
        }
    }

    #[test]
    fn messages_say_why_a_certificate_is_not_trusted() {
        /// Named as in webpki.
        #[derive(Debug)]
        struct CaUsedAsEndEntity;
        impl std::fmt::Display for CaUsedAsEndEntity {
            fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                Ok(())
            }
        }
        impl Error for CaUsedAsEndEntity {}
        let authority = rustls::OtherError(std::sync::Arc::new(CaUsedAsEndEntity));
        for (error, words) in [
            (CertificateError::UnknownIssuer, "self-signed"),
            (CertificateError::Other(authority), "self-signed"),
            (CertificateError::NotValidForName, "another host name"),
            (CertificateError::BadEncoding, "the certificate is not valid"),
        ] {
            let message = tls_message(&rustls::Error::InvalidCertificate(error));
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn causes_are_found_behind_io_errors() {
        let tls = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let wrapped = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, tls));
        assert!(cause::<rustls::Error>(&wrapped).is_some());
        assert!(cause::<ResolveError>(&wrapped).is_none());
    }
}
