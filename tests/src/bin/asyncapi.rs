//! Prints `proto-docs/asyncapi/events.json`, or the sample messages that each release records.

use std::io::Write as _;

use clap::Parser;

/// Describe the events on the broker
#[derive(Parser)]
struct Arguments {
    /// Print one message of each kind instead of the AsyncAPI document
    #[arg(value_parser = ["samples"])]
    samples: Option<String>,
}

fn main() -> anyhow::Result<()> {
    let printed = match Arguments::parse().samples {
        None => waybill_tests::asyncapi::document()?,
        Some(_) => serde_json::to_value(waybill_tests::asyncapi::samples())?,
    };
    let mut text = serde_json::to_string_pretty(&printed)?;
    text.push('\n');
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}
