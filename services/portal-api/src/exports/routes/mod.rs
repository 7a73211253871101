//! Endpoints.

mod caller;
mod export_view;
pub(crate) mod exports;
