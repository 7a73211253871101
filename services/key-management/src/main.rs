//! `key-management`: see `key-management --help`.

use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    chassis::main(key_management::TABLES, key_management::start, |own: chassis::NoCommands| match own {})
}
