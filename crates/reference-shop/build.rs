//! Makes cargo compile the crate again when a migration is added or removed. The macro that embeds migrations names
//! only the files that it found.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
