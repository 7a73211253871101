//! The commands of this program besides those of every service.

mod erase_personal_data;

use std::io::Write as _;
use std::process::ExitCode;

use settings::Brand;
use url::Url;

use crate::routes;

/// The host in the examples of the printed document: a reserved name.
const EXAMPLE_URL: &str = "https://delivery.example";

#[derive(clap::Subcommand)]
pub enum Own {
    /// Print the OpenAPI document of the integration API
    Openapi,
    /// Erase the personal data of completed orders
    ///
    /// Safe to interrupt and to repeat while the service runs. Exit codes: 0 done, 1 refused, 2 failed.
    ErasePersonalData(erase_personal_data::Erasure),
}

/// # Errors
/// When the document cannot be made or printed.
pub fn run(command: Own) -> anyhow::Result<ExitCode> {
    match command {
        Own::Openapi => {
            let document = routes::openapi_document(&Brand::default(), &Url::parse(EXAMPLE_URL)?)?;
            std::io::stdout().write_all(document.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Own::ErasePersonalData(erasure) => {
            Ok(erase_personal_data::main(erasure, &mut std::io::stdout().lock()))
        }
    }
}
