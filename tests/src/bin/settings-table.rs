//! Prints `proto-docs/SETTINGS.md`.

use std::io::Write as _;

fn main() -> anyhow::Result<()> {
    std::io::stdout().write_all(waybill_tests::settings_table::render()?.as_bytes())?;
    Ok(())
}
