//! `wallet serve` (the default), `wallet migrate`, and `wallet reconcile`, which proves the books.

use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("reconcile") {
        let rest: Vec<String> = arguments.collect();
        return Ok(wallet::reconcile(&rest, &mut std::io::stdout().lock()));
    }
    chassis::main(wallet::MIGRATIONS, wallet::start).map(|()| ExitCode::SUCCESS)
}
