//! All errors at once, values from files, and the list of settings.

use std::collections::HashMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::load::check_from;
use crate::{Environment, Networks, Secret, SettingErrors, Settings, describe, load_from};

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Bakery {
    /// The kind of installation.
    #[serde(default)]
    environment: Environment,
    oven: Oven,
    #[serde(default)]
    shop: Shop,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Oven {
    /// The door's address.
    #[schemars(example = &"127.0.0.1:1")]
    door: std::net::SocketAddr,
    /// The code of the lighter.
    #[schemars(example = &"spark")]
    lighter: Secret,
    /// The number of loaves.
    #[serde(default = "loaves")]
    #[schemars(range(min = 1, max = 40))]
    loaves: u32,
}

fn loaves() -> u32 {
    12
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct Shop {
    /// Whether it is open.
    open: bool,
    /// The safe's code.
    code: Secret,
    /// The proxies in front.
    proxies: Networks,
    /// The folder for bread.
    shelf: Option<PathBuf>,
    /// The temperature.
    #[schemars(range(min = 5, max = 30))]
    degrees: f64,
    /// The key of the back door.
    back_door: Option<Secret>,
    /// The web site.
    #[schemars(transform = crate::origin)]
    site: Option<Url>,
}

impl Default for Shop {
    fn default() -> Self {
        Self {
            open: true,
            code: Secret::new("local-code-of-the-local-shop"),
            proxies: Networks::default(),
            shelf: None,
            degrees: 20.0,
            back_door: None,
            site: None,
        }
    }
}

impl Settings for Bakery {
    fn check(&self, errors: &mut SettingErrors) {
        if self.oven.lighter.expose() == "spark" {
            errors.add("WAYBILL_OVEN__LIGHTER", "must not be the example");
        }
    }
}

fn load(variables: &[(&str, &str)]) -> Result<Bakery, String> {
    let variables: HashMap<_, _> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    load_from(variables).map_err(|error| error.to_string())
}

/// As long as the shortest secret.
const MATCH: &str = "a-match-and-no-less";
const LEAST: [(&str, &str); 2] = [("WAYBILL_OVEN__DOOR", "127.0.0.1:8"), ("WAYBILL_OVEN__LIGHTER", MATCH)];

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&LEAST[..], more].concat()
}

/// A file with this text; removed when the value is dropped.
struct TextFile(PathBuf);

impl TextFile {
    fn new(name: &str, text: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("waybill-settings-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for TextFile {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

#[test]
fn given_values_override_defaults() {
    let bakery = load(&with(&[("WAYBILL_OVEN__LOAVES", "40"), ("WAYBILL_SHOP__OPEN", "false")])).unwrap();
    assert_eq!((bakery.oven.loaves, bakery.shop.open), (40, false));
    assert_eq!(load(&LEAST).unwrap().oven.loaves, 12);
}

#[test]
fn all_errors_are_reported_at_once() {
    let text = load(&[
        ("WAYBILL_ENVIRONMENT", "production"),
        ("WAYBILL_OVEN__DOOR", "the big one"),
        ("WAYBILL_OVEN__LOAVES", "41"),
        ("WAYBILL_SHOP__OPEN", "perhaps"),
        ("WAYBILL_SHOP__PROXIES", "10.0.0.0/99"),
        ("WAYBILL_SHOP__DEGREES", "nan"),
        ("WAYBILL_SHOP__BACK_DOOR", "ajar"),
        ("WAYBILL_SHOP__SITE", "ftp://bakery.example"),
    ])
    .unwrap_err();
    for error in [
        "WAYBILL_OVEN__DOOR: ",
        "WAYBILL_OVEN__LIGHTER: is missing; set it, for example to spark",
        "WAYBILL_OVEN__LOAVES: must be between 1 and 40",
        "WAYBILL_SHOP__OPEN: ",
        "WAYBILL_SHOP__PROXIES: ",
        "WAYBILL_SHOP__CODE: still has its published default",
        "WAYBILL_SHOP__DEGREES: must be between 5 and 30",
        "WAYBILL_SHOP__BACK_DOOR: must be at least 16 bytes long",
        "WAYBILL_SHOP__SITE: must be a URL that begins with http:// or https://",
    ] {
        assert_eq!(text.matches(error).count(), 1, "{error} in {text}");
    }
    assert!(!text.contains("must not be the example"), "the placeholder is not validated: {text}");
}

#[test]
fn a_value_can_come_from_a_file() {
    let lighter = TextFile::new("lighter", b"a-match-and-no-less\n");
    let bakery =
        load(&[("WAYBILL_OVEN__DOOR", "127.0.0.1:8"), ("WAYBILL_OVEN__LIGHTER_FILE", lighter.path())])
            .unwrap();
    assert_eq!(bakery.oven.lighter.expose(), MATCH);
}

#[test]
fn empty_variables_count_as_unset() {
    let empty = TextFile::new("empty", b"");
    let bakery = load(&with(&[
        ("WAYBILL_OVEN__LOAVES", ""),
        ("WAYBILL_SHOP__OPEN", ""),
        ("WAYBILL_SHOP__PROXIES_FILE", ""),
        ("WAYBILL_SHOP__BACK_DOOR", ""),
        ("WAYBILL_SHOP__SHELF_FILE", empty.path()),
        ("WAYBILL_SETTINGS_FILE", ""),
    ]))
    .unwrap();
    assert_eq!((bakery.oven.loaves, bakery.shop.open), (12, true));
    assert!(bakery.shop.back_door.is_none() && bakery.shop.shelf.is_none());
    let text = load(&[LEAST[0], ("WAYBILL_OVEN__LIGHTER", "")]).unwrap_err();
    assert!(text.contains("WAYBILL_OVEN__LIGHTER: is missing"), "{text}");
}

#[test]
fn an_empty_secret_is_not_replaced_by_its_published_default() {
    let (empty, toml) = (TextFile::new("void", b"\n"), TextFile::new("void.toml", b"[shop]\ncode = \"\""));
    for variable in [
        ("WAYBILL_SHOP__CODE", ""),
        ("WAYBILL_SHOP__CODE_FILE", empty.path()),
        ("WAYBILL_SETTINGS_FILE", toml.path()),
    ] {
        let text = load(&[LEAST[0], LEAST[1], variable]).unwrap_err();
        assert!(text.contains("  WAYBILL_SHOP__CODE: is empty"), "{text}");
    }
}

#[test]
fn a_settings_file_is_read_and_its_errors_do_not_show_its_text() {
    let good = TextFile::new("good.toml", b"[oven]\nloaves = 3\ndoor = \"127.0.0.1:1\"\n");
    let bakery = load(&[("WAYBILL_SETTINGS_FILE", good.path()), LEAST[0], LEAST[1]]).unwrap();
    assert_eq!((bakery.oven.loaves, bakery.oven.door.port()), (3, 8), "variables win");
    let others = [("WAYBILL_SHOP__OPEN", "perhaps"), ("WAYBILL_SHOP__DEGREES", "90")];
    let load = |path: &str| load(&[&[("WAYBILL_SETTINGS_FILE", path)], &others[..]].concat()).unwrap_err();
    for (name, line, at) in [
        ("unclosed", "lighter=\"TOMLSECRET@x/y", "line 2, column "),
        ("unquoted", "lighter = TOMLSECRET", "line 2, column "),
        ("key", "TOMLSECRET", "line 2, column "),
        ("escape", "lighter = \"TOMLSECRET\\q TOMLSECRET\"", "line 2, column "),
        ("twice", "lighter = \"TOMLSECRET\"\nlighter = \"TOMLSECRET\"", "line 3, column "),
        ("number", "loaves = 99TOMLSECRET", "line 2, column "),
        ("array", "lighter = [\"TOMLSECRET\"", "line 2, column "),
    ] {
        let file = TextFile::new(&format!("{name}.toml"), format!("[oven]\n{line}\n").as_bytes());
        let text = load(file.path());
        let error = format!("WAYBILL_SETTINGS_FILE: names {}, which is not TOML at {at}", file.path());
        assert!(text.contains(&error), "{name}: {text}");
        assert!(!text.contains("TOMLSECRET"), "{name}: {text}");
        assert!(text.contains("SHOP__OPEN: must be one of") && text.contains("SHOP__DEGREES: "), "{text}");
        assert!(!text.contains("LIGHTER") && !text.contains("DOOR"), "they may be in the file: {text}");
    }
    let none = load("/nowhere/settings.toml");
    assert!(
        none.contains("WAYBILL_SETTINGS_FILE: names /nowhere/settings.toml, which cannot be read"),
        "{none}"
    );
    let text = self::load(&with(&[("WAYBILL_ENVIRONMENT", "xml")])).unwrap_err();
    assert!(text.contains("WAYBILL_ENVIRONMENT: must be one of `local`, `production`"), "{text}");
}

#[test]
fn unknown_names_in_a_section_are_reported() {
    let check = |more: &[(&str, &str)]| {
        let variables = with(more).into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        check_from::<Bakery>(variables.collect()).map_err(|error| error.to_string())
    };
    let file =
        TextFile::new("misspelt.toml", b"[shop]\nopne = true\n[oven]\nloaves = 3\n[mill]\nstones = 2\n");
    let given =
        [("WAYBILL_SETTINGS_FILE", file.path()), ("WAYBILL_OVEN__LOAFS", "3"), ("WAYBILL_MILL__WIND", "1")];
    let text = check(&given).unwrap_err();
    for name in ["WAYBILL_SHOP__OPNE", "WAYBILL_OVEN__LOAFS"] {
        assert_eq!(text.matches(&format!("{name}: is not a setting")).count(), 1, "{name} in {text}");
    }
    assert!(!text.contains("MILL"), "the section is another service's: {text}");
    let text = check(&[given[1], ("WAYBILL_OVEN__LOAVES", "41")]).unwrap_err();
    assert!(text.contains("LOAFS") && text.contains("must be between 1 and 40"), "all at once: {text}");
    let lighter = TextFile::new("known-lighter", b"a-match-and-no-less\n");
    let by_file = [LEAST[0], ("WAYBILL_OVEN__LIGHTER_FILE", lighter.path())];
    let by_file = by_file.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert!(check_from::<Bakery>(by_file.into()).is_ok());
    assert!(load(&with(&given)).is_ok(), "a start only warns");
}

#[test]
fn unreadable_files_are_errors() {
    let long = TextFile::new("long", &[b'x'; 70_000]);
    let text = load(&[
        LEAST[0],
        LEAST[1],
        ("WAYBILL_OVEN__DOOR_FILE", long.path()),
        ("WAYBILL_SHOP__CODE_FILE", "/nowhere/at/all"),
        ("WAYBILL_SHOP__SHELF_FILE", long.path()),
    ])
    .unwrap_err();
    assert!(text.contains("WAYBILL_OVEN__DOOR_FILE: is set together with WAYBILL_OVEN__DOOR"), "{text}");
    assert!(text.contains("WAYBILL_SHOP__CODE_FILE: names /nowhere/at/all, which cannot be read"), "{text}");
    assert!(
        text.contains("WAYBILL_SHOP__SHELF_FILE: ") && text.contains("longer than 65536 bytes"),
        "{text}"
    );
    let none = load(&[LEAST[0], ("WAYBILL_OVEN__LIGHTER_FILE", "/nowhere")]).unwrap_err();
    assert_eq!(none.matches("LIGHTER").count(), 1, "{none}");
}

#[test]
fn errors_contain_no_secrets() {
    let text = load(&with(&[("WAYBILL_SHOP", "hunter2")])).unwrap_err();
    assert!(text.contains("WAYBILL_SHOP: is a section, not a setting"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    let text = load(&with(&[("WAYBILL_SHOP__CODE", "hunter2")])).unwrap_err();
    assert!(text.contains("WAYBILL_SHOP__CODE: must be at least 16 bytes long"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    let shown = format!("{:?}", load(&with(&[("WAYBILL_SHOP__CODE", "hunter2-hunter2-hunter2")])).unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn the_list_describes_every_setting() {
    let list = describe::<Bakery>().unwrap();
    let rows: Vec<_> = list
        .iter()
        .map(|setting| {
            let (variable, kind) = (setting.variable.as_str(), setting.kind.as_str());
            (variable, kind, setting.required, setting.secret, setting.default.as_deref())
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("WAYBILL_ENVIRONMENT", "`local`, `production`", false, false, Some("local")),
            ("WAYBILL_OVEN__DOOR", "text", true, false, None),
            ("WAYBILL_OVEN__LIGHTER", "text", true, true, None),
            ("WAYBILL_OVEN__LOAVES", "1 to 40", false, false, Some("12")),
            ("WAYBILL_SHOP__BACK_DOOR", "text", false, true, None),
            ("WAYBILL_SHOP__CODE", "text", false, true, Some("local-code-of-the-local-shop")),
            ("WAYBILL_SHOP__DEGREES", "5 to 30", false, false, Some("20.0")),
            ("WAYBILL_SHOP__OPEN", "`true`, `false`", false, false, Some("true")),
            ("WAYBILL_SHOP__PROXIES", "text", false, false, Some("")),
            ("WAYBILL_SHOP__SHELF", "text", false, false, None),
            ("WAYBILL_SHOP__SITE", "URL", false, false, None),
        ]
    );
    assert_eq!(list[3].description, "The number of loaves.");
    assert_eq!(list[1].example.as_deref(), Some("127.0.0.1:1"));
}
