//! A release has one version: that of the workspace, wherever a file names it.

use std::fs;
use std::path::Path;

/// Files, and what stands before the version in them.
const PLACES: [(&str, &str); 12] = [
    ("deploy/.env.example", "WAYBILL_VERSION="),
    ("deploy/compose.yaml", "${WAYBILL_VERSION:-"),
    ("deploy/chart/Chart.yaml", "\nversion: "),
    ("deploy/chart/Chart.yaml", "appVersion: "),
    ("proto-docs/clients/medusa/package.json", "\"@waybill/client\": \""),
    ("proto-docs/clients/medusa/package.json", "\"version\": \""),
    ("proto-docs/clients/python/src/waybill/_version.py", "__version__ = \""),
    ("proto-docs/clients/typescript/package.json", "\"version\": \""),
    ("proto-docs/clients/typescript/src/version.ts", "VERSION = \""),
    ("proto-docs/integrators/first-order.md", "/waybill-client-"),
    ("proto-docs/integrators/webhooks.md", "/waybill-"),
    ("services/portal-web/package.json", "\"version\": \""),
];

#[test]
fn the_version_is_the_same_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository");
    for (file, before) in PLACES {
        let text = fs::read_to_string(root.join(file)).expect("a file");
        let named: Vec<_> = text.split(before).skip(1).collect();
        assert!(!named.is_empty(), "{file} has no \"{before}\"");
        for rest in named {
            let version =
                rest.split(|next: char| !next.is_ascii_digit() && next != '.').next().expect("a part");
            assert_eq!(version.trim_end_matches('.'), env!("CARGO_PKG_VERSION"), "{file}: \"{before}\"");
        }
    }
}
