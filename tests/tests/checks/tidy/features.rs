//! One build of each dependency for all selections of packages.

use std::collections::BTreeSet;
use std::process::Command;

use super::{none, root};

/// What `make run` builds.
const PROGRAMS: &[&str] =
    &["demo", "key-management", "local-stack", "order-api", "portal-api", "wallet", "webhook-dispatcher"];

/// Each package with its version and features, as cargo builds it for this selection.
fn built(selection: &[&str]) -> BTreeSet<String> {
    let tree = ["tree", "--locked", "--prefix", "none", "--format", "{p} {f}"];
    let tree = Command::new("cargo").args(tree).args(selection).current_dir(root()).output();
    let tree = tree.expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    // A package that came before has a mark.
    let lines = String::from_utf8(tree.stdout).expect("cargo speaks UTF-8");
    lines.lines().map(|line| line.trim_end_matches(" (*)").trim_end().to_owned()).collect()
}

#[test]
fn programs_and_tests_share_each_dependency() {
    let of_programs: Vec<&str> = PROGRAMS.iter().flat_map(|program| ["--package", program]).collect();
    let programs = built(&[&["--edges", "normal,build"], &*of_programs].concat());
    let all = built(&["--edges", "normal,build,dev", "--workspace"]);
    let twice = programs.difference(&all).cloned().collect();
    none(
        twice,
        "`make test` would compile these again, because tests use more of their features. Add the features to \
         [workspace.dependencies]:",
    );
}
