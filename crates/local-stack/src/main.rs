//! `local-stack reset` and `with-servers -- <command…>`: what `make reset` and `make test` call.

mod with_servers;

use std::ffi::OsString;
use std::process::ExitCode;

use local_stack::say;

const USAGE: &str = "usage: local-stack reset | with-servers -- <command> [<argument>...]";

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let result = match words.iter().map(|word| word.to_str().unwrap_or_default()).collect::<Vec<_>>()[..] {
        ["reset"] => reset(),
        ["with-servers", "--", _, ..] => with_servers::with_servers(&words[2..]).await,
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    result.unwrap_or_else(|error| {
        eprintln!("\nerror: {error:#}");
        ExitCode::FAILURE
    })
}

fn reset() -> anyhow::Result<ExitCode> {
    let directory = local_stack::local_stack_directory();
    if local_stack::forget(&directory)? {
        say("The local stack's data is forgotten.");
    } else {
        say("There is no data of a local stack.");
    }
    Ok(ExitCode::SUCCESS)
}
