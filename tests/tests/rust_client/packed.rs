//! The packed crate in an empty folder, with the dependencies and the programs of the guides. It compiles everything, so only
//! `make test-long` runs it.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use test_kit::Directory;

const PROGRAM: &str = r##"
use waybill_client::webhooks::{Secrets, VerifyOptions, construct_event, sign_test_event};
fn main() {
    let secrets = Secrets::new(["whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="]).unwrap();
    let (body, options) = (br#"{"id":"evt_1","event":"order.delivered"}"#, VerifyOptions::default());
    let headers = sign_test_event(body, &secrets, &options).unwrap();
    println!("{}", construct_event(body, headers.as_slice(), &secrets, &options).unwrap().event);
    let key = "sk_test_waybill_0123456789";
    waybill_client::Waybill::new(key, "https://delivery.example/v1", Default::default()).unwrap();
}
"##;

#[test]
fn packed_crate_works_in_an_empty_folder() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the repository")?;
    let directory = Directory::new("packed");
    let folder = directory.path();
    let target = folder.join("target");
    let package = ["package", "--package", "waybill-client", "--no-verify", "--allow-dirty", "--offline"];
    run(Command::new("cargo").args(package).arg("--target-dir").arg(&target).current_dir(root))?;
    let name = concat!("waybill-client-", env!("CARGO_PKG_VERSION"));
    let packed = target.join("package").join(format!("{name}.crate"));
    let files = run(Command::new("tar").arg("-tf").arg(&packed))?;
    let expected = |file: &str| {
        let file = file.trim_start_matches(name).trim_start_matches('/');
        ["examples/", "src/"].iter().any(|folder| file.starts_with(folder))
            || matches!(
                file,
                "README.md" | "Cargo.toml" | "Cargo.toml.orig" | "Cargo.lock" | ".cargo_vcs_info.json"
            )
    };
    ensure!(files.lines().all(expected), "{files}");

    run(Command::new("tar").arg("-xf").arg(&packed).current_dir(folder))?;
    // The versions that were downloaded for this repository.
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    for guide in ["first-order", "webhooks"] {
        follow(&root.join(format!("proto-docs/integrators/{guide}.md")), folder)?;
    }
    std::fs::write(folder.join("src/bin/packed.rs"), PROGRAM)?;
    cargo(&["build", "--quiet"], folder, &target)?;
    let printed = cargo(&["run", "--quiet", "--bin", "packed"], folder, &target)?;
    ensure!(printed == "order.delivered\n", "{printed}");
    Ok(())
}

/// Adds the dependencies of a guide, and saves its programs.
fn follow(guide: &Path, folder: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(guide)?;
    for command in text.lines().filter_map(|line| line.strip_prefix("cargo ")) {
        if !command.starts_with("run ") {
            cargo(&command.split(' ').collect::<Vec<_>>(), folder, &folder.join("target"))?;
        }
    }
    std::fs::create_dir_all(folder.join("src/bin"))?;
    for block in text.split("```rust\n// ").skip(1) {
        let (file, rest) = block.split_once('\n').context("a block without code")?;
        std::fs::write(folder.join(file), rest.split("```").next().unwrap_or_default())?;
    }
    Ok(())
}

fn cargo(arguments: &[&str], folder: &Path, target: &Path) -> anyhow::Result<String> {
    run(Command::new("cargo")
        .args(arguments)
        .arg("--offline")
        .env("CARGO_TARGET_DIR", target)
        .current_dir(folder))
}

fn run(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output()?;
    let (stdout, stderr) = (String::from_utf8(output.stdout)?, String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{command:?}: {stderr}");
    Ok(stdout)
}
