//! A proxy for `CONNECT`.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// Connects to every address that it is asked for, until the test's runtime ends.
pub struct ConnectProxy {
    pub address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl ConnectProxy {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let heads = Arc::new(Mutex::new(Vec::new()));
        let asked = heads.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, asked.clone()));
            }
        });
        Self { address, heads }
    }

    /// The heads of its requests.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn serve(mut client: TcpStream, heads: Arc<Mutex<Vec<String>>>) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    heads.lock().unwrap_or_else(PoisonError::into_inner).push(head);
    match TcpStream::connect(&target).await {
        Ok(mut server) => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
            copy_bidirectional(&mut client, &mut server).await?;
            Ok(())
        }
        Err(_) => client.write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n").await,
    }
}
