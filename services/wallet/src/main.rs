//! `wallet serve` (the default) and `wallet migrate`.

fn main() -> anyhow::Result<()> {
    chassis::main(wallet::MIGRATIONS, wallet::start)
}
