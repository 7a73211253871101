//! HTTP.

pub(crate) mod status;
pub(crate) mod status_stream;
