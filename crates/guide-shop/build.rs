//! Extracts the Rust files of the guides, so that the compiler reads the same text as an integrator.

use std::path::Path;
use std::{env, fs, io};

const GUIDES: &str = "../../proto-docs/integrators";
/// The first line of a block names its file.
const BLOCK: &str = "```rust\n// src/";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={GUIDES}");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    for guide in fs::read_dir(GUIDES)? {
        let text = fs::read_to_string(guide?.path())?;
        for block in text.split(BLOCK).skip(1) {
            let (name, rest) = block.split_once('\n').unwrap_or_default();
            let code = rest.split_once("```").unwrap_or_default().0;
            fs::write(Path::new(&out).join(name.replace('/', "-")), code)?;
        }
    }
    Ok(())
}
