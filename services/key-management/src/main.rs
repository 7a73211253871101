//! API keys: create, verify, rotate, revoke.

fn main() -> anyhow::Result<()> {
    chassis::main(key_management::MIGRATIONS, key_management::start)
}
