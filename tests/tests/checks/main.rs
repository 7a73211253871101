//! Checks of the repository. They read files and run promtool; they need no servers.

mod asyncapi;
mod deployment;
mod expand_only;
mod settings_table;
mod tidy;
mod versions;
