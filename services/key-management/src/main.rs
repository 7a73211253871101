//! `key-management`: see `key-management --help`.

use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    chassis::main(key_management::MIGRATIONS, key_management::start, |own: chassis::NoCommands| match own {})
}
