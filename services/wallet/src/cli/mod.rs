//! Commands for people, next to `serve`.

pub(crate) mod reconcile;
