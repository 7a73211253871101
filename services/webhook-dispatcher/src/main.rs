//! `webhook-dispatcher serve` (the default), `migrate`, and `rewrap`, which brings all signing secrets under the current key.

use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    if std::env::args().nth(1).as_deref() == Some("rewrap") {
        return Ok(webhook_dispatcher::rewrap(&mut std::io::stdout().lock()));
    }
    chassis::main(webhook_dispatcher::MIGRATIONS, webhook_dispatcher::start).map(|()| ExitCode::SUCCESS)
}
