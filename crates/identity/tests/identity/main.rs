//! Tests of identity with a real PostgreSQL. Each rule holds in both realms, so each test is a loop over both.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod accounts;
mod attempts;
mod challenges;
mod enrolled;
mod passkeys;
mod password_links;
mod second_factors;
mod sessions;
mod single_sign_on;
mod world;
