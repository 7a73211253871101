//! The integrator's side, as a separate process: it accepts every webhook, notes its arrival, and answers at once, or
//! after the milliseconds in its path (`/after/15000/7`). Handwritten over plain HTTP/1.1 on one thread, to use little
//! of the machine.

use std::fmt::Write;
use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context;
use local_stack::say;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The longest head or body.
const REQUEST_BYTES_MAX: usize = 1024 * 1024;
const ANSWER: &str = "{\"received\":true}";

/// The received webhooks.
#[derive(Default)]
struct Noted {
    count: usize,
    /// One line each: path, microseconds since 1970, event, order, sequence.
    lines: String,
}

type Shared = Arc<Mutex<Noted>>;

/// Serves until its standard input closes, which happens when its parent ends.
pub(crate) fn serve() -> anyhow::Result<()> {
    std::thread::spawn(|| {
        // The parent has ended, whatever the reason.
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

/// One connection until its end.
async fn converse(mut stream: TcpStream, noted: Shared) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(8 * 1024);
    while let Some((head, length)) = read_request(&mut stream, &mut buffer).await? {
        let arrived = super::now_micros();
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

/// Reads a complete request. Returns the end of its head and the length of its body; `None` at the end of the
/// connection.
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

/// The text between the first `start` and the next `end`; a dash if there is none.
fn text_after<'a>(text: &'a str, start: &str, end: char) -> &'a str {
    let rest = text.split_once(start).map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once(end)).map_or("-", |(found, _)| found)
}

fn lock(noted: &Shared) -> MutexGuard<'_, Noted> {
    noted.lock().unwrap_or_else(PoisonError::into_inner)
}
