//! A hostile name server over UDP and TCP, with responses that the test chooses.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinHandle;

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;
/// The size limit over UDP. Longer responses are truncated, and the client repeats the query over TCP.
const UDP_BYTES_MAX: usize = 1_232;

/// The response for a name.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    /// Addresses of both kinds; of each, those that were asked for are answered.
    Addresses(Vec<IpAddr>),
    /// Another name, and in the same answer the addresses of that one.
    Alias(&'static str, Vec<IpAddr>),
    /// Addresses of a name that was not asked for.
    Others(&'static str, Vec<IpAddr>),
    /// No such name.
    Nothing,
    /// `SERVFAIL`.
    Failure,
    /// No answer at all.
    Silence,
}

type Zone = dyn Fn(&str) -> Said + Send + Sync;

struct Shared {
    zone: Box<Zone>,
    asked: Mutex<HashMap<(String, u16), usize>>,
}

/// A running name server.
pub(crate) struct NameServer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    tasks: [JoinHandle<()>; 2],
}

impl NameServer {
    pub(crate) async fn start(zone: impl Fn(&str) -> Said + Send + Sync + 'static) -> Self {
        let shared = Arc::new(Shared { zone: Box::new(zone), asked: Mutex::default() });
        let (udp, tcp) = sockets().await;
        let address = udp.local_addr().unwrap();
        let tasks = [
            tokio::spawn(over_udp(udp, Arc::clone(&shared))),
            tokio::spawn(over_tcp(tcp, Arc::clone(&shared))),
        ];
        Self { address, shared, tasks }
    }

    /// The number of queries for the name's IPv4 addresses.
    pub(crate) fn asked(&self, name: &str) -> usize {
        let asked = self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.get(&(name.to_owned(), A)).copied().unwrap_or_default()
    }
}

impl Drop for NameServer {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// On the same port.
async fn sockets() -> (UdpSocket, TcpListener) {
    loop {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        if let Ok(udp) = UdpSocket::bind(tcp.local_addr().unwrap()).await {
            return (udp, tcp);
        }
    }
}

async fn over_udp(socket: UdpSocket, shared: Arc<Shared>) {
    let mut buffer = [0; 2_048];
    while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
        let Some(answer) = shared.answer(&buffer[..length]) else { continue };
        let answer = if answer.len() > UDP_BYTES_MAX { truncated(answer) } else { answer };
        socket.send_to(&answer, from).await.unwrap();
    }
}

async fn over_tcp(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        // The client may close the connection at any time.
        tokio::spawn(async move { converse(stream, &shared).await.ok() });
    }
}

async fn converse(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    loop {
        let length = stream.read_u16().await?;
        let mut question = vec![0; length.into()];
        stream.read_exact(&mut question).await?;
        if let Some(answer) = shared.answer(&question) {
            stream.write_u16(u16::try_from(answer.len()).unwrap()).await?;
            stream.write_all(&answer).await?;
        }
    }
}

impl Shared {
    fn answer(&self, question: &[u8]) -> Option<Vec<u8>> {
        let (name, end) = read_name(question)?;
        let kind = u16::from_be_bytes([*question.get(end)?, *question.get(end + 1)?]);
        *self
            .asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry((name.clone(), kind))
            .or_default() += 1;
        let (code, records) = match (self.zone)(&name) {
            Said::Silence => return None,
            Said::Nothing => (3, Vec::new()),
            Said::Failure => (2, Vec::new()),
            Said::Addresses(addresses) => (0, addresses_of(&name, kind, &addresses)),
            Said::Others(other, addresses) => (0, addresses_of(other, kind, &addresses)),
            Said::Alias(other, addresses) => {
                let mut records = vec![record(&name, CNAME, &labels(other))];
                records.extend(addresses_of(other, kind, &addresses));
                (0, records)
            }
        };
        let mut answer = question[..2].to_vec();
        answer.extend([0x81, 0x80 | code, 0, 1]);
        answer.extend(u16::try_from(records.len()).unwrap().to_be_bytes());
        answer.extend([0, 0, 0, 0]);
        answer.extend(&question[12..end + 4]);
        answer.extend(records.concat());
        Some(answer)
    }
}

/// Without records, and with the mark that there are more.
fn truncated(mut answer: Vec<u8>) -> Vec<u8> {
    let (_, end) = read_name(&answer).unwrap();
    answer.truncate(end + 4);
    answer[2] |= 0x02;
    answer[6..8].fill(0);
    answer
}

/// The name that is asked about, in lower case, and where it ends.
fn read_name(message: &[u8]) -> Option<(String, usize)> {
    let mut labels = Vec::new();
    let mut at = 12;
    loop {
        let length = usize::from(*message.get(at)?);
        let label = message.get(at + 1..at + 1 + length)?;
        at += 1 + length;
        if length == 0 {
            return Some((labels.join("."), at));
        }
        labels.push(String::from_utf8_lossy(label).to_ascii_lowercase());
    }
}

fn labels(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.').filter(|label| !label.is_empty()) {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes
}

/// With a time to live of 0: nobody may keep it.
fn record(name: &str, kind: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = labels(name);
    bytes.extend(kind.to_be_bytes());
    bytes.extend([0, 1, 0, 0, 0, 0]);
    bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    bytes.extend(data);
    bytes
}

fn addresses_of(name: &str, kind: u16, addresses: &[IpAddr]) -> Vec<Vec<u8>> {
    let of_kind = addresses.iter().filter_map(|address| match (address, kind) {
        (IpAddr::V4(address), A) => Some(record(name, A, &address.octets())),
        (IpAddr::V6(address), AAAA) => Some(record(name, AAAA, &address.octets())),
        _ => None,
    });
    of_kind.collect()
}
