//! Thin clients of the public APIs, one per kind of caller. Callers see every status and body.

mod api;
mod fleet;
mod integration;
mod operator;
mod portal;

pub use api::{Api, Reply};
pub use fleet::{COD_DELIVERY, Fleet, PREPAID_DELIVERY};
pub use integration::Integration;
pub use operator::Operator;
pub use portal::Portal;
