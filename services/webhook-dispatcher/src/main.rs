//! `webhook-dispatcher`: see `webhook-dispatcher --help`.

use std::process::ExitCode;

#[derive(clap::Subcommand)]
enum Own {
    /// Encrypt all signing secrets with the current key
    ///
    /// Safe to interrupt and to repeat while the service runs. Exit codes: 0 done, 1 some secrets cannot be decrypted,
    /// 2 failed.
    Rewrap,
}

fn main() -> anyhow::Result<ExitCode> {
    chassis::main(webhook_dispatcher::TABLES, webhook_dispatcher::start, |own| match own {
        Own::Rewrap => Ok(webhook_dispatcher::rewrap(&mut std::io::stdout().lock())),
    })
}
