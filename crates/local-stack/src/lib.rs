//! A private PostgreSQL and RabbitMQ, and the services as child processes: for `make run`, tests and benchmarks.
//!
//! Nothing that this crate starts outlives the process that started it, and nothing is shared with servers that already
//! run on the machine.

mod account;
mod authority;
mod http;
mod launch;
mod part;
mod paths;
mod ports;
mod postgres;
mod rabbitmq;
mod say;
mod sql;
mod stack;
mod supervised;
mod test_servers;
mod wait;

pub use authority::{Authority, Certified};
pub use part::{Part, Service};
pub use paths::{built_program, local_stack_directory};
pub use ports::free_port;
pub use postgres::{Postgres, PostgresOptions, postgres_program};
pub use rabbitmq::{RabbitMq, RabbitMqOptions, RabbitMqPorts};
pub use say::say;
pub use sql::query;
pub use stack::{Demo, Detour, Instance, Link, Progress, Stack, StackOptions, forget};
pub use supervised::{Listener, Notice};
pub use test_servers::{Servers, TestServers};
