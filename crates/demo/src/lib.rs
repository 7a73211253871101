//! The main job, played through the public APIs: what `make run` shows, and the clients that tests share with it.

pub mod clients;
mod kept;
mod play;
mod progress;

pub use play::{Demonstration, play};
pub use progress::eventually;
