//! `order-api`: see `order-api --help`.

use std::process::ExitCode;

use order_api::cli::{self, Own};

fn main() -> anyhow::Result<ExitCode> {
    chassis::main(order_api::store::TABLES, order_api::start::start, |own: Own| cli::run(own))
}
