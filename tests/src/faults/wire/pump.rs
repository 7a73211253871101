//! Forwards one connection message by message until one side closes it or it is cut.

use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;
use tokio::time::sleep;

use super::moment::{Instant, Moment};
use super::proxy::{Behaviour, Go, State, Tap};

/// Why a connection ends. The caller drops the sockets.
struct Ended;

impl From<std::io::Error> for Ended {
    fn from(_closed_by_a_side: std::io::Error) -> Self {
        Self
    }
}

/// Both directions. When one ends, both do.
pub(super) async fn join(client: TcpStream, server: TcpStream, tap: Tap, state: &State) {
    let cuts = state.behaviour().borrow().cuts;
    let (_, _) = (client.set_nodelay(true), server.set_nodelay(true));
    let (client_reads, client_writes) = client.into_split();
    let (server_reads, server_writes) = server.into_split();
    let tap = Mutex::new(tap);
    let there = Pump { from_client: true, reads: client_reads, writes: server_writes, tap: &tap, state };
    let back = Pump { from_client: false, reads: server_reads, writes: client_writes, tap: &tap, state };
    tokio::select! {
        Err(Ended) = there.carry() => {}
        Err(Ended) = back.carry() => {}
        () = cut(state.behaviour(), cuts) => {}
    }
}

async fn cut(mut behaviour: watch::Receiver<Behaviour>, cuts: u64) {
    // An error means that the proxy has been dropped.
    let _gone = behaviour.wait_for(|behaviour| behaviour.cuts != cuts).await;
}

struct Pump<'a> {
    from_client: bool,
    reads: OwnedReadHalf,
    writes: OwnedWriteHalf,
    tap: &'a Mutex<Tap>,
    state: &'a State,
}

impl Pump<'_> {
    async fn carry(mut self) -> Result<(), Ended> {
        let mut read = Vec::with_capacity(64 * 1024);
        loop {
            if self.reads.read_buf(&mut read).await? == 0 {
                return Err(Ended);
            }
            let done = self.pass(&read).await?;
            read.drain(..done);
        }
    }

    /// Forwards complete messages. Returns the number of bytes.
    async fn pass(&mut self, bytes: &[u8]) -> Result<usize, Ended> {
        let (mut done, mut sent) = (0, 0);
        while let Some((length, moment)) = self.next(&bytes[done..]) {
            let awaits = |instant| moment.filter(|moment| self.state.is_awaited(*moment, instant));
            if let Some(moment) = awaits(Instant::Held) {
                self.send(&bytes[sent..done]).await?;
                sent = done;
                self.meet(moment, Instant::Held).await?;
            }
            done += length;
            if let Some(moment) = moment.filter(|moment| self.state.is_awaited(*moment, Instant::Passed)) {
                self.send(&bytes[sent..done]).await?;
                sent = done;
                self.meet(moment, Instant::Passed).await?;
            }
        }
        self.send(&bytes[sent..done]).await?;
        Ok(done)
    }

    fn next(&self, bytes: &[u8]) -> Option<(usize, Option<Moment>)> {
        let mut tap = self.tap.lock().unwrap_or_else(PoisonError::into_inner);
        let length = tap.frame(self.from_client, bytes)?;
        Some((length, tap.see(self.from_client, &bytes[..length])))
    }

    async fn meet(&self, moment: Moment, instant: Instant) -> Result<(), Ended> {
        match self.state.meet(moment, instant).await {
            Go::On => Ok(()),
            Go::Cut => Err(Ended),
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), Ended> {
        let Behaviour { delay, is_silent, .. } = *self.state.behaviour().borrow();
        if is_silent || bytes.is_empty() {
            return Ok(());
        }
        if !delay.is_zero() {
            sleep(delay).await;
        }
        Ok(self.writes.write_all(bytes).await?)
    }
}
