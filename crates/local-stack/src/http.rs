//! Health checks. Only the status line matters, so this crate builds without an HTTP client.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::ports::loopback;

const LIMIT: Duration = Duration::from_secs(3);

/// Whether `GET path` on the loopback port returns 200.
pub(crate) async fn responds_ok(port: u16, path: &str) -> bool {
    matches!(timeout(LIMIT, status_line(port, path)).await, Ok(Ok(line)) if is_ok(&line))
}

async fn status_line(port: u16, path: &str) -> std::io::Result<[u8; 12]> {
    let mut stream = TcpStream::connect(loopback(port)).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut line = [0; 12];
    stream.read_exact(&mut line).await?;
    Ok(line)
}

fn is_ok(line: &[u8]) -> bool {
    line.starts_with(b"HTTP/1.") && line.ends_with(b" 200")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_200_is_ok() {
        assert!(is_ok(b"HTTP/1.1 200"));
        assert!(!is_ok(b"HTTP/1.1 503"));
        assert!(!is_ok(b"AMQP\x00\x00\x09\x01 200"));
    }
}
