//! A proxy in front of the service that fails as networks do.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use reqwest::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// Closes the connection before the service sees the request.
    CutBefore,
    /// Closes the connection when the service has answered.
    CutAfter,
    /// Closes the connection within the answer.
    CutBody,
    /// Never answers after the service has.
    Hang,
    /// Answers this status without asking the service.
    Status(u16),
}

/// A body and its Idempotency-Key.
pub(crate) type Seen = (Vec<u8>, Option<String>);

pub(crate) struct FaultyProxy {
    pub(crate) base_url: String,
    state: Arc<State>,
}

struct State {
    target: Url,
    http: reqwest::Client,
    faults: Mutex<VecDeque<Fault>>,
    seen: Mutex<Vec<Seen>>,
    retry_after: Mutex<String>,
    said: Mutex<String>,
}

impl FaultyProxy {
    pub(crate) async fn start(order_api: &str) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let base_url = format!("http://{}/v1", listener.local_addr()?);
        let state = Arc::new(State {
            target: Url::parse(order_api)?,
            http: test_kit::client(),
            faults: Mutex::default(),
            seen: Mutex::default(),
            retry_after: Mutex::new("0".into()),
            said: Mutex::new("from the proxy".into()),
        });
        let serving = state.clone();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let state = serving.clone();
                // A client that gives up closes its connection.
                tokio::spawn(async move { state.serve(connection).await });
            }
        });
        Ok(Self { base_url, state })
    }

    /// The faults of the next requests. Forgets what was seen.
    pub(crate) fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        *lock(&self.state.faults) = faults.into_iter().collect();
        lock(&self.state.seen).clear();
    }

    pub(crate) fn retry_after(&self, header: &str) {
        *lock(&self.state.retry_after) = header.to_owned();
    }

    pub(crate) fn say(&self, body: &str) {
        *lock(&self.state.said) = body.to_owned();
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        lock(&self.state.seen).clone()
    }
}

fn lock<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl State {
    async fn serve(&self, mut connection: TcpStream) -> anyhow::Result<()> {
        let request = read(&mut connection).await?;
        let key = request.headers.iter().find(|(name, _)| name == "idempotency-key");
        lock(&self.seen).push((request.body.clone(), key.map(|(_, key)| key.clone())));
        let fault = lock(&self.faults).pop_front();
        match fault {
            Some(Fault::CutBefore) => return Ok(()),
            Some(Fault::Status(status)) => {
                let (retry_after, said) = (lock(&self.retry_after).clone(), lock(&self.said).clone());
                let head = format!("HTTP/1.1 {status} Fault\r\nretry-after: {retry_after}\r\n");
                return answer(&mut connection, &head, said.as_bytes(), said.len()).await;
            }
            _ => {}
        }
        let (head, body) = self.forward(request).await?;
        match fault {
            Some(Fault::CutAfter) => Ok(()),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::CutBody) => answer(&mut connection, &head, &body, body.len() / 2).await,
            _ => answer(&mut connection, &head, &body, body.len()).await,
        }
    }

    async fn forward(&self, request: Request) -> anyhow::Result<(String, Vec<u8>)> {
        let url = self.target.join(&request.path)?;
        let mut forwarded = self.http.request(request.method.parse()?, url).body(request.body);
        for (name, value) in request.headers {
            if name != HOST.as_str() && name != CONTENT_LENGTH.as_str() {
                forwarded = forwarded.header(name, value);
            }
        }
        let response = forwarded.send().await?;
        let mut head = format!("HTTP/1.1 {}\r\n", response.status());
        for (name, value) in response.headers() {
            if ![CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(name) {
                head.push_str(&format!("{name}: {}\r\n", value.to_str()?));
            }
        }
        Ok((head, response.bytes().await?.to_vec()))
    }
}

async fn read(connection: &mut TcpStream) -> anyhow::Result<Request> {
    let mut reader = BufReader::new(connection);
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    let mut words = line.split_whitespace();
    let (method, path) = words.next().zip(words.next()).context("no request")?;
    let (method, path) = (method.to_owned(), path.to_owned());
    let mut headers = Vec::new();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        let (name, value) = (name.to_ascii_lowercase(), value.to_owned());
        if name == CONTENT_LENGTH.as_str() {
            length = value.parse()?;
        }
        headers.push((name, value));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await?;
    Ok(Request { method, path, headers, body })
}

async fn answer(connection: &mut TcpStream, head: &str, body: &[u8], sent: usize) -> anyhow::Result<()> {
    let head = format!("{head}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    connection.write_all(head.as_bytes()).await?;
    connection.write_all(&body[..sent]).await?;
    Ok(connection.shutdown().await?)
}
