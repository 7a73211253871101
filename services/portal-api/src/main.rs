//! `portal-api`: see `portal-api --help`.

use std::io::Write as _;
use std::process::ExitCode;

#[derive(clap::Subcommand)]
enum PortalCommand {
    /// Print the OpenAPI document of the portal API
    Openapi,
    /// Check the businesses of all services against each other; changes nothing
    ///
    /// Exit codes: 0 clean, 1 findings, 2 could not check.
    Reconcile(reconciliation::RunArguments),
    /// Create an administrator of the operator's console, and print a link that sets the password once
    ///
    /// Runs next to the service, with its variables. Refuses an e-mail address that already has an account.
    CreateOperator(portal_api::CreateOperator),
}

fn main() -> anyhow::Result<ExitCode> {
    chassis::main(portal_api::TABLES, portal_api::start, |command| match command {
        PortalCommand::Openapi => {
            std::io::stdout().write_all(portal_api::openapi_document()?.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        PortalCommand::CreateOperator(arguments) => {
            portal_api::create_operator(arguments, &mut std::io::stdout().lock())?;
            Ok(ExitCode::SUCCESS)
        }
        PortalCommand::Reconcile(arguments) => {
            Ok(portal_api::reconcile(arguments, &mut std::io::stdout().lock()))
        }
    })
}
