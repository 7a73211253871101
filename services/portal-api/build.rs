//! A migration that is added or taken away is noticed: the macro that embeds them tells cargo of those alone that it found.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
