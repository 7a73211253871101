//! The contract on the broker: one [`Envelope`] per message, its payloads, routing keys and shared queues. Readers
//! ignore unknown fields, so a release may add a field, but must not rename, retype or remove one.

mod envelope;
mod order;
pub mod queues;
mod routing;

pub use envelope::{
    ApiKeyRevoked, AttemptBegun, Body, CashRemitted, EndpointDisabled, EndpointFailing, Envelope,
    PersonalDataErased, WalletLowBalance, WalletMoneyTakenBack,
};
pub use order::{Driver, Evidence, OrderEvent, OrderSnapshot, ProgressData, Remittance, ScheduledAttempt};
pub use routing::{EXCHANGE, RoutingKey, binding};
