//! `make run`: starts a local stack and runs the demo on it.

mod run;

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    run::run().await.unwrap_or_else(|error| {
        eprintln!("\nerror: {error:#}");
        ExitCode::FAILURE
    })
}
