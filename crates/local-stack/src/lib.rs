//! A private PostgreSQL and RabbitMQ, and the services as child processes: for `make run`, tests and benchmarks.
//!
//! Nothing that is started here outlives the process that started it, however that process ends; nothing is shared
//! with servers that the machine already runs.

mod account;
mod authority;
mod http;
mod launch;
mod part;
mod places;
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
pub use places::{built_program, local_stack_directory};
pub use ports::free_port;
pub use postgres::{Postgres, PostgresOptions, postgres_program};
pub use rabbitmq::{RabbitMq, RabbitMqOptions, RabbitMqPorts};
pub use say::say;
pub use sql::query;
pub use stack::{Demo, Detour, Instance, Link, Progress, Stack, StackOptions, forget};
pub use supervised::{Listener, Notice};
pub use test_servers::{Servers, TestServers};
