//! `order-api`: see `order-api --help`.

use std::io::Write as _;
use std::process::ExitCode;

use settings::Brand;
use url::Url;

/// The host of the printed document's examples: a reserved name that resolves nowhere.
const EXAMPLE_URL: &str = "https://delivery.example";

#[derive(clap::Subcommand)]
enum Own {
    /// Print the OpenAPI document of the integration API
    Openapi,
    /// Erase the personal data of completed orders
    ///
    /// Safe to interrupt and to repeat while the service runs. Exit codes: 0 done, 1 refused, 2 failed.
    ErasePersonalData(order_api::Erasure),
}

fn main() -> anyhow::Result<ExitCode> {
    chassis::main(order_api::store::MIGRATIONS, order_api::app::start, |own| match own {
        Own::Openapi => {
            let document = order_api::routes::openapi_document(&Brand::default(), &Url::parse(EXAMPLE_URL)?)?;
            std::io::stdout().write_all(document.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Own::ErasePersonalData(erasure) => {
            Ok(order_api::erase_personal_data(erasure, &mut std::io::stdout().lock()))
        }
    })
}
