//! Rules without I/O.

mod days_left;

pub(crate) use days_left::days_left;
