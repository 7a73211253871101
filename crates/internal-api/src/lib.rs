//! What the services ask each other: the request and response types of their internal endpoints, and a typed client
//! for each service. Internal endpoints listen apart from the public ones and want the internal token.
//!
//! A caller's own input (a webhook URL, say) is forwarded as it came, so that the service that owns the rule judges
//! it, and its faults reach the caller unchanged.

pub mod cash;
mod client;
mod error;
pub mod keys;
pub mod ordering;
pub mod orders;
mod page;
pub mod wallet;
pub mod webhooks;

pub use client::{Peer, PeerOptions};
pub use error::{CallError, Refusal};
pub use page::Page;
pub use web::PageQuery;
