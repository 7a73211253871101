//! Gives an error body to requests that violate HTTP: a NUL in a header, a malformed request line, a head that is too
//! large or incomplete. These requests reach no handler and no middleware. Actix answers them with a bare status inside
//! its dispatcher and offers no hook, so this wrapper replaces the response on its way to the socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_web::http::StatusCode;
use domain::RequestId;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::edge::NO_PAGE;
use crate::{ApiError, RequestEdge};

/// The longest request line: the `http` crate accepts addresses of up to 65,534 bytes.
const LINE_MAX: usize = 65_534;

/// A connection that adds a body to each bare error response.
pub(crate) struct WithErrorBodies<S> {
    inner: S,
    edge: RequestEdge,
    /// The response that is being written instead of a bare one.
    replacement: Option<Replacement>,
    line: RequestLine,
}

/// The length of the request line received so far, counted from the last response.
#[derive(Default)]
struct RequestLine {
    length: usize,
    is_over: bool,
}

impl RequestLine {
    fn count(&mut self, arrived: &[u8]) {
        if self.is_over {
            return;
        }
        let end = arrived.iter().position(|byte| *byte == b'\n');
        self.length += end.unwrap_or(arrived.len());
        self.is_over = end.is_some();
    }

    /// Actix answers 400 or 431 when the address is too long. Returns 414 for that case.
    fn refused(&self, status: StatusCode) -> StatusCode {
        match status {
            StatusCode::BAD_REQUEST | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
                if self.length > LINE_MAX =>
            {
                StatusCode::URI_TOO_LONG
            }
            status => status,
        }
    }
}

struct Replacement {
    answer: Vec<u8>,
    written: usize,
    /// The length of the bare response, which is reported to the writer as written.
    bare_length: usize,
}

impl<S> WithErrorBodies<S> {
    pub(crate) fn new(inner: S, edge: RequestEdge) -> Self {
        Self { inner, edge, replacement: None, line: RequestLine::default() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WithErrorBodies<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let known = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        self.line.count(&buf.filled()[known..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WithErrorBodies<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.replacement.is_none() {
            match bare_refusal(buf) {
                None => {
                    this.line = RequestLine::default();
                    return Pin::new(&mut this.inner).poll_write(cx, buf);
                }
                // First write the responses to earlier requests in the same buffer.
                Some((start @ 1.., _)) => return Pin::new(&mut this.inner).poll_write(cx, &buf[..start]),
                Some((_, status)) => {
                    let status = this.line.refused(status);
                    let answer = error_response(&this.edge, &String::from_utf8_lossy(buf), status);
                    this.replacement = Some(Replacement { answer, written: 0, bare_length: buf.len() });
                }
            }
        }
        if let Some(replacement) = &mut this.replacement {
            while replacement.written < replacement.answer.len() {
                let rest = &replacement.answer[replacement.written..];
                match ready!(Pin::new(&mut this.inner).poll_write(cx, rest))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    written => replacement.written += written,
                }
            }
        }
        Poll::Ready(Ok(this.replacement.take().map_or(0, |replacement| replacement.bare_length)))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// The position and status of a bare error response at the end of the buffer. The edge adds a request id to every other
/// response. Actix writes nothing after a bare error, because it has lost its position in the stream.
fn bare_refusal(buf: &[u8]) -> Option<(usize, StatusCode)> {
    // The cheapest check first: a body does not end like this.
    if !buf.ends_with(b"\r\n\r\n") {
        return None;
    }
    let start = buf.windows(7).rposition(|window| window == b"HTTP/1.")?;
    let head = std::str::from_utf8(&buf[start..]).ok()?.to_ascii_lowercase();
    let status = StatusCode::from_bytes(head.get(9..12)?.as_bytes()).ok()?;
    let is_error = status.is_client_error() || status.is_server_error();
    let is_bare = head.contains("\r\ncontent-length: 0\r\n") && !head.contains("\r\nrequest-id:");
    let is_whole = head.find("\r\n\r\n") == Some(head.len() - 4);
    (is_error && is_bare && is_whole).then_some((start, status))
}

/// The status line and headers of the bare response, with a body.
fn error_response(edge: &RequestEdge, bare: &str, status: StatusCode) -> Vec<u8> {
    let id = RequestId::generate(&edge.clock, &edge.entropy).to_string();
    let error = match status {
        StatusCode::BAD_REQUEST => ApiError::malformed_request(),
        status => ApiError::from_status(status),
    };
    let body = error.documented(error.body(&id), edge.error_docs.as_deref()).to_string();
    let mut answer = String::with_capacity(bare.len() + body.len() + 128);
    answer.push_str(&format!("{}{status}\r\n", bare.get(..9).unwrap_or("HTTP/1.1 ")));
    for line in bare.trim_end().split("\r\n").skip(1).filter(|line| !is_content_length(line)) {
        answer.push_str(line);
        answer.push_str("\r\n");
    }
    let length = body.len();
    answer.push_str(&format!(
        "content-type: application/json\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n\
         content-security-policy: {NO_PAGE}\r\nrequest-id: {id}\r\ncontent-length: {length}\r\n\r\n{body}"
    ));
    let labels =
        [("method", String::new()), ("route", "unreadable".into()), ("status", status.as_str().to_owned())];
    metrics::counter!("http_requests_total", &labels).increment(1);
    tracing::info!(request_id = id, status = status.as_u16(), "malformed HTTP request answered");
    answer.into_bytes()
}

fn is_content_length(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, _)| name.eq_ignore_ascii_case("content-length"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Clock, Entropy};
    use tokio::io::AsyncWriteExt;

    const BARE: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

    /// The bytes that arrive at the other end of a connection that passes on a few bytes at a time.
    async fn written(pieces: &[&str]) -> String {
        let (near, mut far) = tokio::io::duplex(7);
        let edge = RequestEdge { clock: Clock::system(), entropy: Entropy::seeded(1), error_docs: None };
        let mut connection = WithErrorBodies::new(near, edge);
        let write = async {
            for piece in pieces {
                connection.write_all(piece.as_bytes()).await.unwrap();
            }
            connection.shutdown().await.unwrap();
        };
        let mut arrived = String::new();
        let read = tokio::io::AsyncReadExt::read_to_string(&mut far, &mut arrived);
        let ((), read) = tokio::join!(write, read);
        read.unwrap();
        arrived
    }

    #[tokio::test]
    async fn a_bare_error_gets_a_body_and_keeps_its_other_headers() {
        let (head, body) = {
            let answer = written(&[BARE]).await;
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            (head.to_owned(), body.to_owned())
        };
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["code"], "malformed_request");
        assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n"), "{head}");
        assert!(head.contains(&format!("request-id: {}", body["requestId"].as_str().unwrap())), "{head}");
        assert_eq!(head.matches("content-length").count(), 1, "{head}");
    }

    #[tokio::test]
    async fn earlier_responses_pass_unchanged() {
        let before = "HTTP/1.1 200 OK\r\nrequest-id: req_1\r\ncontent-length: 2\r\n\r\n{}";
        let answer = written(&[&format!("{before}{BARE}")]).await;
        assert!(answer.starts_with(before), "{answer}");
        assert!(answer.contains("malformed_request"), "{answer}");
    }

    #[tokio::test]
    async fn everything_else_passes_unchanged() {
        for answer in [
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 204 No Content\r\nrequest-id: req_1\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nrequest-id: req_1\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 4\r\n\r\n\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        ] {
            assert_eq!(written(&[answer]).await, answer);
        }
    }
}
