//! `order-api serve` (the default) and `order-api migrate`.

fn main() -> anyhow::Result<()> {
    chassis::main(order_api::store::MIGRATIONS, order_api::app::start)
}
