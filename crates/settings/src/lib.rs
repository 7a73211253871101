//! Layered, typed configuration; the one place that reads environment variables.
