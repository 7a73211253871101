//! The structure of the repository. Each test enforces one rule and says how to fix a breach.
#![expect(clippy::expect_used, reason = "an unreadable tree fails the test")]

mod features;
mod imports;
mod layers;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

/// The complete list of imports between crates, without tests. Services may import every crate except
/// [`NOT_FOR_SERVICES`]. No crate imports a service.
const IMPORTS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("events", &["domain"]),
    ("settings", &[]),
    ("telemetry", &["settings"]),
    // TLS for the connections to the database, the broker and endpoints, and for internal listeners.
    ("tls", &[]),
    ("messaging", &["domain", "events", "settings", "telemetry", "tls"]),
    ("postgres", &["settings", "tls"]),
    ("outbox", &["domain", "events", "messaging", "postgres", "telemetry"]),
    ("web", &["domain", "postgres", "settings", "telemetry"]),
    ("internal-api", &["domain", "settings", "telemetry", "web"]),
    // Calls of webhook-dispatcher and portal-api to URLs of strangers.
    ("outbound", &["settings"]),
    ("reconciliation", &[]),
    // Accounts and how their people prove who they are; portal-api decides who may do what.
    ("identity", &["domain", "outbound", "postgres", "settings", "web"]),
    // The common parts of all five services.
    ("chassis", &["domain", "messaging", "outbox", "postgres", "settings", "telemetry", "tls", "web"]),
    // webhook-dispatcher and the events feed of order-api render the same bytes.
    ("webhook-body", &["domain", "events"]),
    ("webhook-signature", &[]),
    // Integrators install it without this repository.
    ("waybill-client", &[]),
    ("local-stack", &["domain", "settings"]),
    // A demo of the public APIs, whose receiver verifies webhooks as integrators do.
    ("demo", &["domain", "local-stack", "waybill-client"]),
    // The Rust programs of the guides.
    ("guide-shop", &["waybill-client"]),
    // Helpers for tests; no program contains them.
    ("test-kit", &["domain", "internal-api", "local-stack", "settings", "telemetry"]),
];
const NOT_FOR_SERVICES: &[&str] = &["demo", "guide-shop", "local-stack", "test-kit", "waybill-client"];

/// Crates without I/O.
const PURE: &[&str] = &["domain", "events", "webhook-body", "webhook-signature"];
/// Crates that no pure crate may depend on, directly or indirectly.
const IMPURE: &[&str] = &["actix-web", "diesel", "diesel-async", "lapin", "reqwest", "tokio"];

/// Libraries that only one crate of ours may use, because it wraps them. Tests are exempt.
const WRAPPED: &[(&str, &[&str])] = &[("lapin", &["messaging"]), ("config", &["settings"])];

/// The complete top level, without dotfiles.
const TOP_LEVEL: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "Makefile",
    "README.md",
    "crates",
    "services",
    "deploy",
    "proto-docs",
    "tests",
];
/// Created by programs and ignored by git.
const TOP_LEVEL_MADE: &[&str] = &["target"];

const FILE_LINES_MAX: usize = 450;
/// Files that may be longer, with the reason.
const LONG_FILES: &[(&str, &str)] = &[
    (
        "services/portal-api/migrations/2026-11-28-000500_release_1_0/up.sql",
        "one migration creates all tables",
    ),
    ("services/wallet/migrations/2026-11-28-000300_release_1_0/up.sql", "one migration creates all tables"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository")
}

/// The workspace with the dependencies for this machine. Those of other systems are not downloaded.
fn metadata() -> Metadata {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let version = String::from_utf8(rustc.stdout).expect("rustc speaks UTF-8");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(["--filter-platform".to_owned(), host.to_owned()])
        .exec()
        .expect("cargo metadata succeeds")
}

fn is_service(package: &Package) -> bool {
    package.manifest_path.strip_prefix(root()).is_ok_and(|path| path.starts_with("services"))
}

/// The workspace crates that `package` imports: outside of tests, and in tests only.
fn imports<'a>(package: &'a Package, members: &BTreeSet<&str>) -> (BTreeSet<&'a str>, BTreeSet<&'a str>) {
    let ours = package.dependencies.iter().filter(|dependency| members.contains(dependency.name.as_str()));
    let (for_tests, shipped): (Vec<_>, Vec<_>) =
        ours.partition(|dependency| dependency.kind == DependencyKind::Development);
    let names =
        |imports: Vec<&'a cargo_metadata::Dependency>| imports.into_iter().map(|i| i.name.as_str()).collect();
    (names(shipped), names(for_tests))
}

/// Every file of the repository with one of these extensions, by its path from the root.
fn sources(extensions: &[&str]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // A link leads to files that are found in their own folder.
            if path.is_symlink() {
                continue;
            }
            if path.is_dir()
                && !name.starts_with('.')
                && !matches!(&*name, "target" | "node_modules" | "dist")
            {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted))
            {
                let text =
                    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let path = path.strip_prefix(root()).expect("found below the root");
                found.insert(path.to_string_lossy().into_owned(), text);
            }
        }
    }
    assert!(!found.is_empty(), "no {extensions:?} files found; is the walk broken?");
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("a readable entry").path()).collect()
}

#[track_caller]
fn none(breaches: Vec<String>, what_to_do: &str) {
    assert!(breaches.is_empty(), "{what_to_do}\n  {}", breaches.join("\n  "));
}

#[test]
fn crates_import_each_other_as_declared() {
    let metadata = metadata();
    let members = metadata.workspace_packages();
    let names: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let services: BTreeSet<&str> =
        members.iter().filter(|member| is_service(member)).map(|service| service.name.as_str()).collect();
    let mut breaches = Vec::new();
    for package in members {
        let listed =
            IMPORTS.iter().find(|(name, _)| *name == package.name.as_str()).map(|(_, allowed)| *allowed);
        let (shipped, for_tests) = imports(package, &names);
        let allowed = |import: &str| match listed {
            _ if services.contains(import) => false,
            Some(allowed) => allowed.contains(&import),
            None if is_service(package) => !NOT_FOR_SERVICES.contains(&import),
            None => package.name.as_str() == "waybill-tests",
        };
        // Tests may use every crate except services.
        let strange = for_tests.into_iter().filter(|import| services.contains(import));
        let strange = strange.chain(shipped.iter().copied().filter(|import| !allowed(import)));
        breaches.extend(strange.map(|import| format!("{} → {import}", package.name)));
        let gone = listed.unwrap_or_default().iter().filter(|import| !shipped.contains(*import));
        breaches.extend(
            gone.map(|import| format!("{} → {import} is listed in IMPORTS but not used", package.name)),
        );
    }
    none(breaches, "These imports differ from IMPORTS. Move the code, or change IMPORTS with a reason:");
}

#[test]
fn pure_crates_depend_on_no_io() {
    let metadata = metadata();
    let names: BTreeMap<&PackageId, &str> =
        metadata.packages.iter().map(|p| (&p.id, p.name.as_str())).collect();
    let resolve = metadata.resolve.as_ref().expect("cargo metadata resolves");
    let mut breaches = Vec::new();
    for pure in PURE {
        let start =
            metadata.workspace_packages().iter().find(|p| p.name.as_str() == *pure).map(|p| p.id.clone());
        let mut to_visit =
            vec![start.unwrap_or_else(|| panic!("{pure} is not a member of the workspace; correct PURE"))];
        let mut visited = BTreeSet::new();
        while let Some(id) = to_visit.pop() {
            if IMPURE.contains(&names[&id]) {
                breaches.push(format!("{pure} depends on {}", names[&id]));
            }
            let shipped = |kinds: &[cargo_metadata::DepKindInfo]| {
                kinds.iter().any(|k| k.kind == DependencyKind::Normal)
            };
            for next in resolve[&id].deps.iter().filter(|next| shipped(&next.dep_kinds)) {
                if visited.insert(next.pkg.clone()) {
                    to_visit.push(next.pkg.clone());
                }
            }
        }
    }
    none(breaches, "These crates are pure. Pass the results of I/O to them instead:");
}

#[test]
fn wrapped_libraries_stay_wrapped() {
    let metadata = metadata();
    let mut breaches = Vec::new();
    for (library, owners) in WRAPPED {
        for package in metadata.workspace_packages() {
            let ships = |kind| kind != DependencyKind::Development;
            let uses = package.dependencies.iter().any(|used| used.name == *library && ships(used.kind));
            if uses && !owners.contains(&package.name.as_str()) {
                breaches.push(format!("{} → {library}; {} wraps it", package.name, owners.join(", ")));
            }
        }
    }
    none(breaches, "Use the crate that wraps the library. Extend it if it lacks something:");
}

#[test]
fn every_member_inherits_the_lints() {
    let without = metadata()
        .workspace_packages()
        .iter()
        .map(|package| package.manifest_path.to_string())
        .filter(|manifest| {
            let text = fs::read_to_string(manifest).expect("cargo has read it");
            !text.contains("[lints]\nworkspace = true\n")
        })
        .collect();
    none(without, "Add `[lints]` with `workspace = true` to:");
}

/// What a service's `src` may contain in addition to the folders of its named subsystems.
const SERVICE_FILES: &[&str] = &["main.rs", "lib.rs", "start.rs", "state.rs", "settings.rs"];

#[test]
fn every_service_has_the_same_folders() {
    let mut breaches = Vec::new();
    for package in metadata().workspace_packages().into_iter().filter(|package| is_service(package)) {
        let home =
            package.manifest_path.parent().expect("a manifest is in a folder").as_std_path().to_owned();
        let needed = ["main.rs", "start.rs", "state.rs", "commands/mod.rs", "store/mod.rs", "domain/mod.rs"];
        // A service that is divided by feature has `http` for the routes of all features.
        if !["routes/mod.rs", "http/mod.rs"].iter().any(|file| home.join("src").join(file).exists()) {
            breaches.push(format!("{}/src/routes/mod.rs is missing", home.display()));
        }
        let missing = needed.iter().map(|file| home.join("src").join(file)).chain([home.join("migrations")]);
        breaches.extend(
            missing.filter(|path| !path.exists()).map(|path| format!("{} is missing", path.display())),
        );
        let loose = entries(&home.join("src")).into_iter().filter(|path| path.is_file());
        let loose = loose.filter(|path| !SERVICE_FILES.iter().any(|file| path.ends_with(file)));
        breaches.extend(loose.map(|path| format!("{} belongs in a folder", path.display())));
    }
    none(breaches, "All services have the same folders; see ARCHITECTURE.md, layers:");
}

#[test]
fn the_top_level_contains_nothing_else() {
    let strange = entries(root())
        .iter()
        .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.'))
        .filter(|name| !TOP_LEVEL.contains(&&**name) && !TOP_LEVEL_MADE.contains(&&**name))
        .collect();
    none(strange, "The top level contains only TOP_LEVEL and dotfiles. Move these elsewhere:");
}

#[test]
fn files_are_short() {
    let files = sources(&["rs", "sh", "sql"]);
    for (path, reason) in LONG_FILES {
        let lines = files.get(*path).map_or(0, |text| text.lines().count());
        assert!(lines > FILE_LINES_MAX, "{path} is short or deleted; remove it from LONG_FILES ({reason})");
    }
    let long = files
        .iter()
        .filter(|(path, _)| !LONG_FILES.iter().any(|(long, _)| long == path))
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > FILE_LINES_MAX)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    none(long, "Split these files by topic (450 lines at most), or give a reason in LONG_FILES:");
}

#[test]
fn every_module_has_a_purpose_comment() {
    let silent = sources(&["rs"])
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(path, _)| path)
        .collect();
    none(silent, "Begin these files with a `//! ` sentence about their purpose:");
}

#[test]
fn no_todo_marks_are_left() {
    // Written in two halves, so that this file does not report itself.
    let marks =
        [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("unimplemented", "!("), concat!("todo", "!(")];
    let mut breaches = Vec::new();
    for (path, text) in sources(&["rs", "sh", "sql", "toml", "ts", "yaml", "yml"]) {
        for (index, line) in
            text.lines().enumerate().filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)))
        {
            breaches.push(format!("{path}:{}: {}", index + 1, line.trim()));
        }
    }
    none(breaches, "Finish it now, or open an issue and remove the mark:");
}

#[test]
fn only_settings_reads_the_environment() {
    let reads = [concat!("env", "::var"), concat!("env", "::set_var"), concat!("option_", "env!")];
    let elsewhere = sources(&["rs"])
        .into_iter()
        // Cargo passes values to build scripts by environment variables.
        .filter(|(path, _)| !path.starts_with("crates/settings/") && !path.ends_with("/build.rs"))
        // Integrators install the client without our crates.
        .filter(|(path, _)| !path.starts_with("proto-docs/clients/rust/"))
        .filter(|(_, text)| reads.iter().any(|read| text.contains(read)))
        .map(|(path, _)| path)
        .collect();
    none(elsewhere, "Use a section of crates/settings instead of reading the environment:");
}

#[test]
fn migrations_go_up_and_down() {
    let files = sources(&["sql"]);
    let folders: BTreeSet<&str> = files
        .keys()
        .filter(|path| path.contains("/migrations/"))
        .filter_map(|path| path.rsplit_once('/'))
        .map(|(folder, _)| folder)
        .collect();
    let lacks = |folder: &str, file: &str| {
        files.get(&format!("{folder}/{file}")).is_none_or(|sql| sql.trim().is_empty())
    };
    let mut breaches = Vec::new();
    for folder in folders {
        for file in ["up.sql", "down.sql"].into_iter().filter(|file| lacks(folder, file)) {
            breaches.push(format!("{folder}/{file}"));
        }
    }
    none(breaches, "Every migration needs up and down; add:");
}
