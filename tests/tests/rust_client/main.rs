//! The Rust client against a whole stack, also through a proxy that fails, and the examples of its README.

mod calls;
mod packed;
mod proxy;
mod readme;
mod receiver;
mod shop;
mod sync;
