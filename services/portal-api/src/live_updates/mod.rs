//! Pushes changes to the pages that are open on this instance: orders, status changes, and the end of sessions.

mod channels;
mod open_pages;
mod orders;
mod sessions;
mod status;

pub(crate) use open_pages::OpenPages;
pub(crate) use orders::{OrderStream, OrderStreams, OrderUpdate, StreamItem};
pub(crate) use sessions::{SessionKey, SessionMonitor, SessionStatus, WatchedSession};
pub(crate) use status::{StatusStream, StatusStreams};
