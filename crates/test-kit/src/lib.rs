//! What the tests of several packages share. A helper that only one package needs stays with that package.

mod wait;

pub use wait::{PATIENCE, until};
