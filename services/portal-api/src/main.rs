//! `portal-api serve` (the default), `portal-api migrate`, and `portal-api openapi`, which prints the API's description.

use std::io::Write as _;

fn main() -> anyhow::Result<()> {
    // It needs no settings, and so no database: a machine that only builds the docs has none.
    if chassis::told_to("openapi").is_some() {
        std::io::stdout().write_all(portal_api::openapi_document()?.as_bytes())?;
        return Ok(());
    }
    chassis::main(portal_api::MIGRATIONS, portal_api::start)
}
