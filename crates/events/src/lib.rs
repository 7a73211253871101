//! The contract on the broker: one [`Envelope`] per message, its payloads, and the routing keys they travel under.
//! Readers ignore fields they do not know, so a field may be added; one may not be renamed, retyped or dropped.

mod envelope;
mod order;
pub mod queues;
mod routing;

pub use envelope::{
    ApiKeyRevoked, Body, EndpointDisabled, EndpointFailing, Envelope, PersonalDataErased, WalletLowBalance,
};
pub use order::{Driver, OrderEvent, OrderSnapshot, ProgressData};
pub use routing::{EXCHANGE, RoutingKey, binding};
