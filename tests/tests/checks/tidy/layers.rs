//! Dependencies inside a crate point downwards. A service with many files is divided by feature first, with the same layers inside each
//! feature; a small one by layer only.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Imports, of_all_crates};
use super::{none, sources};

/// The largest group of files that may import each other.
const CIRCLE_MAX: usize = 3;

/// A service with more files has features.
const FILES_WITHOUT_FEATURES: usize = 150;
/// The layers that features have.
const LAYERS: &[&str] = &["routes", "commands", "queries", "store", "domain"];
/// Of the routes of all features.
const SHARED_ROUTES: &str = "http";

/// The folders of a service that a folder must not import. Named subsystems are between commands and store; circles are
/// forbidden for all folders.
const UPWARDS: &[(&[&str], &[&str])] = &[
    (&["routes", "pages", "consumers", "workers"], &["start", "store"]),
    (&["commands", "queries"], &["start", "routes", "pages", "consumers", "workers"]),
    (&["store"], &["start", "state", "routes", "pages", "consumers", "workers", "commands", "queries"]),
    (
        &["domain"],
        &["start", "state", "routes", "pages", "consumers", "workers", "commands", "queries", "store"],
    ),
    (&["state"], &["start", "routes", "pages", "consumers", "workers", "commands", "queries"]),
];

/// The crates that a folder of a service must not use.
const FOREIGN: &[(&[&str], &[&str])] = &[
    (&["domain"], &["actix_web", "internal_api", "web"]),
    (&["commands", "queries"], &["actix_web"]),
    (&["store"], &["actix_web", "internal_api", "web"]),
];

/// The first folder within `src`, or the file's name.
fn folder(file: &str) -> String {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs").to_owned()
}

/// The feature that a file belongs to, if its folder has layers inside.
fn feature<'f>(imports: &Imports, file: &'f str) -> Option<&'f str> {
    let (feature, _) = file.split_once('/')?;
    let inside = |layer: &&str| imports.of.contains_key(&format!("{feature}/{layer}/mod.rs"));
    LAYERS.iter().any(inside).then_some(feature)
}

/// The layer of a file: its first folder, or the one within its feature.
fn layer(imports: &Imports, file: &str) -> String {
    match feature(imports, file) {
        Some(feature) => folder(&file[feature.len() + 1..]),
        None => folder(file).replace(SHARED_ROUTES, "routes"),
    }
}

type Crates = BTreeMap<String, Imports>;

fn services(crates: &Crates) -> impl Iterator<Item = (&String, &Imports)> {
    crates.iter().filter(|(home, _)| home.starts_with("services/"))
}

/// One test, because to read the imports takes longer than to compare them with all rules.
#[test]
fn imports_follow_the_layers() {
    let crates = of_all_crates();
    files_form_no_large_circle(&crates);
    folders_form_no_circle(&crates);
    services_import_downwards(&crates);
    features_keep_their_tables_to_themselves(&crates);
    services_with_many_files_have_features(&crates);
    settings_stay_above_commands(&crates);
}

fn files_form_no_large_circle(crates: &Crates) {
    let circles = crates.iter().flat_map(|(home, imports)| {
        let large = imports.circles(str::to_owned).into_iter().filter(|circle| circle.len() > CIRCLE_MAX);
        large
            .map(move |circle| format!("{home}: {}", circle.into_iter().collect::<Vec<_>>().join(", ")))
            .collect::<Vec<_>>()
    });
    none(circles.collect(), "These files import each other in a circle. Move what they share below them:");
}

fn folders_form_no_circle(crates: &Crates) {
    let circles = services(crates).flat_map(|(home, imports)| {
        let circles = imports.circles(|file| layer(imports, file)).into_iter();
        circles
            .map(move |circle| format!("{home}: {}", circle.into_iter().collect::<Vec<_>>().join(", ")))
            .collect::<Vec<_>>()
    });
    none(circles.collect(), "These folders import each other in a circle. Move what they share below them:");
}

fn services_import_downwards(crates: &Crates) {
    let mut breaches = Vec::new();
    for (home, imports) in services(crates) {
        for (file, targets) in &imports.of {
            let forbidden = UPWARDS
                .iter()
                .filter(|(from, _)| from.contains(&&*layer(imports, file)))
                .flat_map(|(_, to)| *to);
            let forbidden: Vec<_> = forbidden.collect();
            let upwards = targets.iter().filter(|target| forbidden.contains(&&&*layer(imports, target)));
            breaches.extend(upwards.map(|target| format!("{home}/src/{file} → {target}")));
        }
    }
    none(breaches, "These imports point upwards or skip a layer; see ARCHITECTURE.md, layers:");
}

fn features_keep_their_tables_to_themselves(crates: &Crates) {
    let mut breaches = Vec::new();
    for (home, imports) in services(crates) {
        for (file, targets) in &imports.of {
            let Some(own) = feature(imports, file) else { continue };
            let is_foreign = |target: &&String| {
                layer(imports, target) == "store" && feature(imports, target).is_some_and(|of| of != own)
            };
            breaches.extend(
                targets.iter().filter(is_foreign).map(|target| format!("{home}/src/{file} → {target}")),
            );
        }
    }
    none(
        breaches,
        "Use a command or query of the feature, or move a table that several features use to src/store:",
    );
}

fn services_with_many_files_have_features(crates: &Crates) {
    let breaches = services(crates)
        .filter(|(_, imports)| {
            let features: BTreeSet<&str> =
                imports.of.keys().filter_map(|file| feature(imports, file)).collect();
            features.is_empty() == (imports.of.len() > FILES_WITHOUT_FEATURES)
        })
        .map(|(home, imports)| format!("{home}: {} files", imports.of.len()));
    none(breaches.collect(), "Divide a service by feature above 150 files, and by layer only up to that:");
}

#[test]
fn layers_use_no_foreign_types() {
    let mut breaches = Vec::new();
    for (path, text) in sources(&["rs"]).into_iter() {
        let Some(file) = path.strip_prefix("services/").and_then(|path| Some(path.split_once("/src/")?.1))
        else {
            continue;
        };
        // Of the features too.
        let layer = file.split('/').find(|part| LAYERS.contains(part)).unwrap_or_default();
        for (folders, foreign) in FOREIGN.iter().filter(|(folders, _)| folders.contains(&layer)) {
            let used = foreign.iter().filter(|name| uses_crate(&text, name));
            breaches.extend(used.map(|name| format!("{path} uses {name} in {}", folders.join(", "))));
        }
    }
    none(breaches, "Convert these types in the layer above:");
}

fn uses_crate(text: &str, name: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.into_iter().any(|line| {
        line.match_indices(&format!("{name}::")).any(|(at, _)| {
            !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':')
        })
    })
}

/// Only the start of a service reads its settings; all other code receives values.
fn settings_stay_above_commands(crates: &Crates) {
    const READERS: &[&str] = &["start", "settings", "lib", "main", "cli"];
    let breaches = services(crates)
        .flat_map(|(home, imports)| {
            let below = imports.of.iter().filter(|(file, _)| !READERS.contains(&&*folder(file)));
            let using = below.filter(|(_, targets)| {
                targets.contains("settings.rs") || targets.contains("settings/mod.rs")
            });
            using.map(move |(file, _)| format!("{home}/src/{file}")).collect::<Vec<_>>()
        })
        .collect();
    none(breaches, "Pass values to these files instead of the settings tree:");
}
