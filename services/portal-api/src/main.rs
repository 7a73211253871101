//! Accounts, sessions, business profile, go-live and status indicators: the back end of the portal.

fn main() -> anyhow::Result<()> {
    chassis::main(portal_api::MIGRATIONS, portal_api::start)
}
