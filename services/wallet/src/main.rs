//! `wallet serve` (the default), `wallet migrate`, and `wallet reconcile`, which proves the books.

use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    if let Some(rest) = chassis::told_to("reconcile") {
        return Ok(wallet::reconcile(&rest, &mut std::io::stdout().lock()));
    }
    chassis::main(wallet::MIGRATIONS, wallet::start).map(|()| ExitCode::SUCCESS)
}
