//! Prints `proto-docs/asyncapi/events.json`; with `samples`, one message of each kind, as they are kept of each release.

use std::io::Write as _;

fn main() -> anyhow::Result<()> {
    let what = match std::env::args().nth(1).as_deref() {
        None => waybill_tests::asyncapi::document()?,
        Some("samples") => serde_json::to_value(waybill_tests::asyncapi::samples())?,
        Some(other) => anyhow::bail!("{other} is nothing that can be printed; there is samples"),
    };
    let mut text = serde_json::to_string_pretty(&what)?;
    text.push('\n');
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}
