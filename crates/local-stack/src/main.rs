//! `local-stack reset` and `local-stack with-servers`, for `make reset` and `make test`.

mod with_servers;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use local_stack::say;

/// Servers for a development machine
#[derive(Parser)]
enum Arguments {
    /// Delete the data of `make run`
    Reset,
    /// Run a command with one PostgreSQL and one RabbitMQ for all its tests
    WithServers {
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let result = match Arguments::parse() {
        Arguments::Reset => reset(),
        Arguments::WithServers { command } => with_servers::with_servers(&command).await,
    };
    result.unwrap_or_else(|error| {
        eprintln!("\nerror: {error:#}");
        ExitCode::FAILURE
    })
}

fn reset() -> anyhow::Result<ExitCode> {
    let directory = local_stack::local_stack_directory();
    if local_stack::forget(&directory)? {
        say("Deleted the data of the local stack.");
    } else {
        say("The local stack has no data to delete.");
    }
    Ok(ExitCode::SUCCESS)
}
