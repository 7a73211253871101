//! A closed loop of callers over plain HTTP/1.1: so small that the caller costs little of the machine it shares with what
//! it measures.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Where the orders go, and with which key.
pub(crate) struct Target {
    address: String,
    key: String,
    /// The body, but for its reference.
    details: String,
}

/// What was measured.
pub(crate) struct Measured {
    pub(crate) per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
}

impl Target {
    pub(crate) fn new(origin: &str, key: &str) -> anyhow::Result<Self> {
        let address = origin.strip_prefix("http://").context("the origin is plain http")?.to_owned();
        let mut body =
            serde_json::to_value(reference_shop::NewOrder::sample("")).context("the sample order")?;
        body.as_object_mut().context("an object")?.remove("orderReference");
        let details = body.to_string();
        Ok(Self { address, key: key.to_owned(), details: details.trim_start_matches('{').to_owned() })
    }

    fn request(&self, reference: &str) -> String {
        let body = format!("{{\"orderReference\":\"{reference}\",{}", self.details);
        format!(
            "POST /v1/integration/orders HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nIdempotency-Key: {reference}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            self.key,
            body.len()
        )
    }
}

/// Places orders over `connections` connections, each one after the other, for `time`.
pub(crate) async fn run(
    target: Arc<Target>,
    name: &str,
    connections: usize,
    time: Duration,
) -> anyhow::Result<Measured> {
    let end = Instant::now() + time;
    let mut callers = JoinSet::new();
    for caller in 0..connections {
        callers.spawn(call_until(Arc::clone(&target), format!("{name}-{caller}"), end));
    }
    let mut latencies = Vec::new();
    while let Some(caller) = callers.join_next().await {
        latencies.extend(caller??);
    }
    latencies.sort_unstable();
    let at = |part: f64| latencies.get((latencies.len() as f64 * part) as usize).copied().unwrap_or_default();
    let per_second = latencies.len() as f64 / time.as_secs_f64();
    Ok(Measured { per_second, p50: at(0.50), p99: at(0.99) })
}

async fn call_until(target: Arc<Target>, name: String, end: Instant) -> anyhow::Result<Vec<Duration>> {
    let mut stream = TcpStream::connect(&target.address).await?;
    stream.set_nodelay(true)?;
    let mut latencies = Vec::new();
    let mut answer = Vec::with_capacity(4_096);
    for number in 0_u64.. {
        if Instant::now() >= end {
            break;
        }
        let request = target.request(&format!("{name}-{number}"));
        let begun = Instant::now();
        stream.write_all(request.as_bytes()).await?;
        read_answer(&mut stream, &mut answer).await?;
        latencies.push(begun.elapsed());
    }
    Ok(latencies)
}

/// Reads one answer whole; any but 201 ends the measurement.
async fn read_answer(stream: &mut TcpStream, answer: &mut Vec<u8>) -> anyhow::Result<()> {
    answer.clear();
    loop {
        ensure!(stream.read_buf(answer).await? > 0, "the connection was closed");
        let Some(head) = answer.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let text = std::str::from_utf8(&answer[..head])?.to_ascii_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.context("no content-length")?.trim().parse()?;
        if answer.len() < head + 4 + length {
            continue;
        }
        if !text.starts_with("http/1.1 201") {
            bail!("{}", String::from_utf8_lossy(answer));
        }
        return Ok(());
    }
}
