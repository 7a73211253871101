//! Accounts, sessions, business profile, go-live and status indicators: the back end of the portal.

fn main() -> anyhow::Result<()> {
    portal_api::main()
}
