//! `portal-api serve` (the default), `portal-api migrate`, `portal-api openapi`, which prints the API's description, and
//! `portal-api reconcile`, which holds what this service knows of businesses against what the others know.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    // It needs no settings, and so no database: a machine that only builds the docs has none.
    if chassis::told_to("openapi").is_some() {
        std::io::stdout().write_all(portal_api::openapi_document()?.as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(rest) = chassis::told_to("reconcile") {
        return Ok(portal_api::reconcile(&rest, &mut std::io::stdout().lock()));
    }
    chassis::main(portal_api::MIGRATIONS, portal_api::start).map(|()| ExitCode::SUCCESS)
}
