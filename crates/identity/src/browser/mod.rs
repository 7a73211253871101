//! The browser of a person: its address, its name, and whether the person has used it before.

mod address;
mod known;
mod name;

pub use address::CallerAddress;
pub use known::KnownBrowser;
pub use name::browser_name;
