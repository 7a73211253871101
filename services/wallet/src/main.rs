//! `wallet`: see `wallet --help`.

use std::process::ExitCode;

#[derive(clap::Subcommand)]
enum Own {
    /// Compare the ledger with the orders; changes nothing
    ///
    /// Exit codes: 0 clean, 1 findings, 2 could not check.
    Reconcile(reconciliation::Arguments),
}

fn main() -> anyhow::Result<ExitCode> {
    chassis::main(wallet::TABLES, wallet::start, |own| match own {
        Own::Reconcile(arguments) => Ok(wallet::reconcile(arguments, &mut std::io::stdout().lock())),
    })
}
