//! The internal endpoints of the services: their request and response types, and a typed client per service. Internal
//! endpoints have their own listeners and require the internal token.
//!
//! A caller's own input, such as a webhook URL, is forwarded unchanged. The service that owns the rule validates it,
//! and its errors reach the caller unchanged.

pub mod attention;
pub mod cash;
mod client;
mod erasure;
mod error;
pub mod keys;
pub mod ordering;
pub mod orders;
mod page;
pub mod remittances;
pub mod wallet;
pub mod webhooks;

pub use client::{Peer, PeerOptions};
pub use erasure::ErasureProgress;
pub use error::{CallError, Refusal};
pub use page::Page;
pub use web::PageQuery;
