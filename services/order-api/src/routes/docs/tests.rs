//! The values of an installation in the pages of the site.

use std::fs;

use settings::Brand;
use url::Url;

use super::Site;

/// Runs `check` with the site of a folder with these files.
fn with_site(test: &str, brand: &Brand, files: &[(&str, &str)], check: impl Fn(Option<Site>)) {
    let folder = std::env::temp_dir().join(format!("site-{test}-{}", std::process::id()));
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let [own, portal] =
        ["https://api.acme.example", "https://portal.acme.example"].map(|url| Url::parse(url).unwrap());
    check(Site::load(&folder, brand, &own, Some(&portal)));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn pages_name_this_installation() {
    let brand = Brand {
        name: "\"Acme\" </script>${1} & Söhne\\".into(),
        header_prefix: "Acme-Go".into(),
        key_segment: "acme".into(),
        accent_color: "#123456".into(),
    };
    let page = "OPERATORBRAND|OPERATORPREFIX-Timestamp|operatorprefix-timestamp|https://api.delivery.example/v1|\
                https://portal.delivery.example/|#0d0e0f|sk_test_waybill_|sk_live_waybill_";
    let filled = "”Acme” (/script) (1) + Söhne/|Acme-Go-Timestamp|acme-go-timestamp|https://api.acme.example/v1|\
                  https://portal.acme.example/|#123456|sk_test_acme_|sk_live_acme_";
    with_site("named", &brand, &[("index.html", page), ("font.woff2", page)], |site| {
        let site = site.unwrap();
        assert_eq!(String::from_utf8(site.read("index.html").unwrap()).unwrap(), filled);
        assert_eq!(site.read("font.woff2").unwrap(), page.as_bytes());
    });
}

#[test]
fn addresses_lead_to_files_of_the_folder_only() {
    let files = [("index.html", ""), ("webhooks.html", ""), ("webhooks.md", ""), ("errors/index.html", "")];
    let found = [
        ("", Some("index.html")),
        ("webhooks", Some("webhooks.html")),
        ("webhooks.md", Some("webhooks.md")),
        ("errors/", Some("errors/index.html")),
        ("webhooks/", None),
        ("nothing", None),
        ("../webhooks", None),
        ("/etc/passwd", None),
    ];
    with_site("found", &Brand::default(), &files, |site| {
        let site = site.unwrap();
        for (path, name) in found {
            assert_eq!(site.name_of(path).as_deref(), name, "{path}");
        }
    });
}

#[test]
fn a_folder_without_an_index_is_no_site() {
    with_site("empty", &Brand::default(), &[("notes.txt", "")], |site| assert!(site.is_none()));
}
