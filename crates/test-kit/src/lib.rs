//! Helpers that the tests of several packages share. Helpers of a single package belong to that package.
//!
//! Helpers panic when a test cannot continue.
#![expect(clippy::expect_used, reason = "a helper ends a test that cannot continue")]

mod authenticator;
mod background;
mod calls;
mod connect_proxy;
mod directory;
mod gate;
mod http;
mod json_schema;
mod metrics;
mod orders;
mod own_broker;
mod passkey_device;
mod program;
mod servers;
mod wait;

pub use local_stack::Service;

pub use authenticator::Authenticator;
pub use background::in_background;
pub use calls::{invalid_fields, peer, refusal, refused};
pub use connect_proxy::ConnectProxy;
pub use directory::Directory;
pub use gate::Gate;
pub use http::{client, is_ready, serve, url};
pub use json_schema::JsonSchema;
pub use metrics::metrics;
pub use orders::smallest_order;
pub use own_broker::OwnBroker;
pub use passkey_device::PasskeyDevice;
pub use program::{Program, service_command};
pub use servers::{
    broker, database, database_of, database_url, listeners, nowhere, unreachable_broker,
    unreachable_database, vhost,
};
pub use wait::{PATIENCE, eventually, until};
