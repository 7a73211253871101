//! The demo of `make run`: the main job through the public APIs, and clients of these APIs that tests share.

pub mod clients;
mod play;
mod progress;
mod saved_endpoint;

pub use play::{Demonstration, play};
pub use progress::eventually;
