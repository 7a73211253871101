//! Dependencies inside a crate point downwards.

use super::imports::of_all_crates;
use super::{none, sources};

/// The largest group of files that may import each other.
const CIRCLE_MAX: usize = 3;

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

#[test]
fn files_form_no_large_circle() {
    let circles = of_all_crates().into_iter().flat_map(|(home, imports)| {
        let large = imports.circles(str::to_owned).into_iter().filter(|circle| circle.len() > CIRCLE_MAX);
        large
            .map(move |circle| format!("{home}: {}", circle.into_iter().collect::<Vec<_>>().join(", ")))
            .collect::<Vec<_>>()
    });
    none(circles.collect(), "These files import each other in a circle. Move what they share below them:");
}

#[test]
fn folders_form_no_circle() {
    let services = of_all_crates().into_iter().filter(|(home, _)| home.starts_with("services/"));
    let circles = services.flat_map(|(home, imports)| {
        let circles = imports.circles(folder).into_iter();
        circles
            .map(move |circle| format!("{home}: {}", circle.into_iter().collect::<Vec<_>>().join(", ")))
            .collect::<Vec<_>>()
    });
    none(circles.collect(), "These folders import each other in a circle. Move what they share below them:");
}

#[test]
fn services_import_downwards() {
    let mut breaches = Vec::new();
    for (home, imports) in of_all_crates().into_iter().filter(|(home, _)| home.starts_with("services/")) {
        for (file, targets) in &imports.of {
            let forbidden =
                UPWARDS.iter().filter(|(from, _)| from.contains(&&*folder(file))).flat_map(|(_, to)| *to);
            let forbidden: Vec<_> = forbidden.collect();
            let upwards = targets.iter().filter(|target| forbidden.contains(&&&*folder(target)));
            breaches.extend(upwards.map(|target| format!("{home}/src/{file} → {target}")));
        }
    }
    none(breaches, "These imports point upwards or skip a layer; see ARCHITECTURE.md, layers:");
}

#[test]
fn layers_use_no_foreign_types() {
    let mut breaches = Vec::new();
    for (path, text) in sources(&["rs"]).into_iter() {
        let Some(file) = path.strip_prefix("services/").and_then(|path| Some(path.split_once("/src/")?.1))
        else {
            continue;
        };
        for (folders, foreign) in FOREIGN.iter().filter(|(folders, _)| folders.contains(&&*folder(file))) {
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
#[test]
fn settings_stay_above_commands() {
    const READERS: &[&str] = &["start", "settings", "lib", "main", "cli"];
    let breaches = of_all_crates()
        .into_iter()
        .filter(|(home, _)| home.starts_with("services/"))
        .flat_map(|(home, imports)| {
            let below = imports.of.into_iter().filter(|(file, _)| !READERS.contains(&&*folder(file)));
            let using = below.filter(|(_, targets)| {
                targets.contains("settings.rs") || targets.contains("settings/mod.rs")
            });
            using.map(move |(file, _)| format!("{home}/src/{file}")).collect::<Vec<_>>()
        })
        .collect();
    none(breaches, "Pass values to these files instead of the settings tree:");
}
