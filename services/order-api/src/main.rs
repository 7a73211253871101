//! `order-api serve` (the default), `order-api migrate`, `order-api openapi`, which prints the API's description, and
//! `order-api erase-personal-data`, which erases what orders tell of people.

use std::io::Write as _;
use std::process::ExitCode;

use settings::Brand;
use url::Url;

/// Where the description's examples lead when it is not served: an address that nobody has.
const NOWHERE: &str = "https://delivery.example";

fn main() -> anyhow::Result<ExitCode> {
    // It needs no settings, and so no database: a machine that only builds the docs has none.
    if std::env::args().nth(1).as_deref() == Some("openapi") {
        let document = order_api::routes::openapi_document(&Brand::default(), &Url::parse(NOWHERE)?)?;
        std::io::stdout().write_all(document.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(rest) = chassis::told_to("erase-personal-data") {
        return Ok(order_api::erase_personal_data(&rest, &mut std::io::stdout().lock()));
    }
    chassis::main(order_api::store::MIGRATIONS, order_api::app::start).map(|()| ExitCode::SUCCESS)
}
