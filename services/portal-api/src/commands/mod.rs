//! Use cases that write, one per file.

pub(crate) mod announce;
pub(crate) mod mail_warning;
pub(crate) mod prune;
pub(crate) mod publish_portal_change;
