//! The pages of the documentation: guides, header names and links.

use std::collections::BTreeSet;
use std::path::Path;

use settings::Brand;
use url::Url;

use super::{Packages, Rendered};

fn rendered() -> Rendered {
    let brand = Brand { name: "Acme".into(), header_prefix: "Acme-Go".into(), ..Brand::default() };
    let [own, portal] =
        ["https://api.acme.example", "https://portal.acme.example"].map(|url| Url::parse(url).unwrap());
    Rendered::new(&brand, &own, Some(&portal), &Packages::default()).unwrap()
}

#[test]
fn every_guide_of_the_repository_is_served() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto-docs/integrators");
    let written: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .chain(["medusa".to_owned()])
        .collect();
    let served: BTreeSet<String> = rendered().guides.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(served, written);
}

#[test]
fn pages_name_this_installation_s_headers_and_run_nothing() {
    let rendered = rendered();
    let (_, reference) = rendered.guides.iter().find(|(name, _)| *name == "webhook-reference").unwrap();
    for part in ["Acme-Go-Signature-Next", "'acme-go-timestamp'", "<h2 id=\"retries-order-duplicates\">"] {
        assert!(reference.contains(part), "{part}");
    }
    for page in rendered.guides.iter().map(|(_, page)| page).chain([&rendered.page, &rendered.downloads]) {
        assert!(!page.contains("api.delivery.example"));
        assert!(!page.contains("Service-") && !page.contains("service-timestamp"));
        assert!(!page.contains("<script") && !page.contains("style=") && !page.contains("src="));
        assert!(page.contains("href=\"https://portal.acme.example/\""));
    }
}

#[test]
fn links_lead_to_existing_pages_and_chapters() {
    let rendered = rendered();
    let page_of = |name: &str| {
        let guide = rendered.guides.iter().find(|(guide, _)| *guide == name).map(|(_, page)| page);
        guide.or_else(|| (name == "downloads").then_some(&rendered.downloads))
    };
    let mut seen = 0;
    let others = [("", &rendered.page), ("downloads", &rendered.downloads)];
    for (name, page) in rendered.guides.iter().map(|(name, page)| (*name, page)).chain(others) {
        for link in page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap_or_default()) {
            assert!(!link.contains(".md"), "{name}: {link}");
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path.strip_prefix("/docs") {
                Some(rest) if !rest.is_empty() => page_of(rest.trim_start_matches('/')),
                Some(_) => Some(&rendered.page),
                None if path.is_empty() => Some(page),
                None => continue,
            };
            let target = target.unwrap_or_else(|| panic!("{name}: {link} leads nowhere"));
            let has_anchor = [format!("id=\"{anchor}\""), format!("id={anchor}>")];
            assert!(anchor.is_empty() || has_anchor.iter().any(|id| target.contains(id)), "{name}: {link}");
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} links");
}
