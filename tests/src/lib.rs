//! End-to-end stories, fault tests and the tidy check.
