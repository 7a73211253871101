//! Recompiles the crate when a migration is added or removed. The macro that embeds migrations tracks only the existing
//! files.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
