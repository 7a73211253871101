//! The integrator's side, as a process of its own: it takes every webhook, notes when it came, and answers at once, or after
//! the milliseconds that its path asks for (`/after/15000/7`). By hand over plain HTTP/1.1, on one thread, so that little of
//! the machine goes into it.

use std::fmt::Write;
use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context;
use local_stack::say;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A head or a body longer than this is none of ours.
const REQUEST_BYTES_MAX: usize = 1024 * 1024;
const ANSWER: &str = "{\"received\":true}";

/// What has come.
#[derive(Default)]
struct Noted {
    count: usize,
    /// One line each: path, microseconds since 1970, event, order, sequence.
    lines: String,
}

type Shared = Arc<Mutex<Noted>>;

/// Serves until its standard input ends, which is when whoever started it is gone.
pub(crate) fn serve() -> anyhow::Result<()> {
    std::thread::spawn(|| {
        // Whatever it is that ends the wait, nobody is there any more.
        let _end = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        say(&listener.local_addr()?.port().to_string());
        let noted = Shared::default();
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(converse(stream, Arc::clone(&noted)));
        }
    })
}

/// One connection, for as long as it lasts. How it ends is its other side's matter.
async fn converse(mut stream: TcpStream, noted: Shared) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(8 * 1024);
    while let Some((head, length)) = read_request(&mut stream, &mut buffer).await? {
        let arrived = crate::webhooks::now_micros();
        let (request, body) = (&buffer[..head], &buffer[head..head + length]);
        let line = std::str::from_utf8(request)?.lines().next().unwrap_or_default();
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let answer = match path.as_str() {
            "/count" => lock(&noted).count.to_string(),
            "/lines" => lock(&noted).lines.clone(),
            "/forget" => {
                *lock(&noted) = Noted::default();
                String::new()
            }
            path => {
                note(&noted, path, arrived, body)?;
                tokio::time::sleep(pause(path)).await;
                ANSWER.to_owned()
            }
        };
        let length_of = answer.len();
        let head_of = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length_of}\r\n\r\n"
        );
        stream.write_all((head_of + &answer).as_bytes()).await?;
        buffer.drain(..head + length);
    }
    Ok(())
}

/// Reads until a request is whole; tells where its head ends and how long its body is. None when there is no more.
async fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> anyhow::Result<Option<(usize, usize)>> {
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = std::str::from_utf8(&buffer[..end])?;
            let length = head.lines().filter_map(|line| line.split_once(':'));
            let length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
            let length =
                length.map(|(_, value)| value.trim().parse::<usize>()).next().transpose()?.unwrap_or(0);
            if buffer.len() >= end + 4 + length {
                return Ok(Some((end + 4, length)));
            }
        }
        if buffer.len() > REQUEST_BYTES_MAX || stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

fn pause(path: &str) -> Duration {
    let millis = path.strip_prefix("/after/").and_then(|rest| rest.split('/').next());
    Duration::from_millis(millis.and_then(|text| text.parse().ok()).unwrap_or_default())
}

fn note(noted: &Shared, path: &str, arrived: i64, body: &[u8]) -> anyhow::Result<()> {
    let body = std::str::from_utf8(body)?;
    let event = text_after(body, "\"id\":\"evt_", '"');
    let order = text_after(body, "\"ord_", '"');
    let sequence = text_after(body, "\"sequence\":", ',');
    let mut noted = lock(noted);
    noted.count += 1;
    writeln!(noted.lines, "{path} {arrived} {event} {order} {sequence}").context("noting a webhook")
}

/// What stands between the first `start` and the next `end`; a dash where there is none.
fn text_after<'a>(text: &'a str, start: &str, end: char) -> &'a str {
    let rest = text.split_once(start).map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once(end)).map_or("-", |(found, _)| found)
}

fn lock(noted: &Shared) -> MutexGuard<'_, Noted> {
    noted.lock().unwrap_or_else(PoisonError::into_inner)
}
