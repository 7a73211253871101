//! A closed loop of callers over plain HTTP/1.1, small so that the caller uses little of the machine that it shares
//! with the measured programs.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;
use waybill_tests::figure::percentile;

use crate::compare::millis;

/// The called service.
pub(crate) struct Target {
    /// Host and port.
    address: String,
    expected: Expected,
    request: Box<dyn Fn(&str) -> Request + Send + Sync>,
}

/// The expected response; any other ends the measurement.
#[derive(Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) status: u16,
    /// Part of the body.
    pub(crate) text: &'static str,
}

/// A request without its host and content length.
pub(crate) struct Request {
    /// The method and the path.
    pub(crate) call: String,
    /// Complete lines with their ends.
    pub(crate) headers: String,
    pub(crate) body: String,
}

/// The measured result.
pub(crate) struct Measured {
    /// Of each answered call in milliseconds, sorted.
    latencies: Vec<f64>,
    elapsed: Duration,
}

impl Measured {
    pub(crate) fn calls(&self) -> usize {
        self.latencies.len()
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.calls() as f64 / self.elapsed.as_secs_f64()
    }

    /// The percentiles of the latencies.
    pub(crate) fn text(&self) -> String {
        let [p50, p99] = [0.5, 0.99].map(|part| percentile(&self.latencies, part));
        format!("p50 {p50:.1} ms, p99 {p99:.1} ms")
    }
}

impl Target {
    /// `request` is called for each request of a run, with a unique name.
    pub(crate) fn new(
        origin: &str,
        expected: Expected,
        request: impl Fn(&str) -> Request + Send + Sync + 'static,
    ) -> anyhow::Result<Arc<Self>> {
        let address = origin.strip_prefix("http://").context("the origin is plain http")?.to_owned();
        Ok(Arc::new(Self { address, expected, request: Box::new(request) }))
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        let Request { call, headers, body } = (self.request)(name);
        let (host, length) = (&self.address, body.len());
        format!(
            "{call} HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

/// Calls over `clients` connections, one call after the other on each, for `time`. Calls in flight at the end are
/// awaited and counted.
pub(crate) async fn run(
    target: &Arc<Target>,
    name: &str,
    clients: usize,
    time: Duration,
) -> anyhow::Result<Measured> {
    let begun = Instant::now();
    let mut callers = JoinSet::new();
    for caller in 0..clients {
        callers.spawn(call_until(Arc::clone(target), format!("{name}-{caller}"), begun + time));
    }
    let mut latencies = Vec::new();
    while let Some(caller) = callers.join_next().await {
        latencies.extend(caller??);
    }
    let elapsed = begun.elapsed();
    latencies.sort_unstable_by(f64::total_cmp);
    Ok(Measured { latencies, elapsed })
}

async fn call_until(target: Arc<Target>, name: String, end: Instant) -> anyhow::Result<Vec<f64>> {
    let mut stream = TcpStream::connect(&target.address).await?;
    stream.set_nodelay(true)?;
    let mut latencies = Vec::new();
    let mut answer = Vec::with_capacity(4_096);
    for number in 0_u64.. {
        if Instant::now() >= end {
            break;
        }
        let request = target.bytes(&format!("{name}-{number}"));
        let begun = Instant::now();
        stream.write_all(&request).await?;
        read_answer(&mut stream, target.expected, &mut answer).await?;
        latencies.push(millis(begun.elapsed()));
    }
    Ok(latencies)
}

/// Reads one complete response.
async fn read_answer(stream: &mut TcpStream, expected: Expected, answer: &mut Vec<u8>) -> anyhow::Result<()> {
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
        let status = format!("http/1.1 {}", expected.status);
        let body = std::str::from_utf8(&answer[head + 4..])?;
        if !text.starts_with(&status) || !body.contains(expected.text) {
            bail!("{}", String::from_utf8_lossy(answer));
        }
        return Ok(());
    }
}
