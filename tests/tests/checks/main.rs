//! Checks of the repository itself: they read files, run promtool, and need no servers.

mod asyncapi;
mod deployment;
mod expand_only;
mod settings_table;
mod tidy;
