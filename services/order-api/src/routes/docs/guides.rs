//! `GET /docs/{guide}`: the guides for integrators, with the address, the header names and the packages of this
//! installation.

use askama::Template;
use settings::Brand;
use url::Url;

use super::packages::Packages;
use super::page::{STYLE, initial};
use super::prose::{Prose, prose};

/// The last path segment, the title and the text of each guide.
const GUIDES: [(&str, &str, &str); 11] = [
    ("first-order", "Your first order", include_str!("../../../../../proto-docs/integrators/first-order.md")),
    ("webhooks", "Webhooks", include_str!("../../../../../proto-docs/integrators/webhooks.md")),
    ("never-twice", "Never twice", include_str!("../../../../../proto-docs/integrators/never-twice.md")),
    ("catching-up", "Catching up", include_str!("../../../../../proto-docs/integrators/catching-up.md")),
    ("go-live", "Going live", include_str!("../../../../../proto-docs/integrators/go-live.md")),
    ("medusa", "Medusa", include_str!("../../../../../proto-docs/clients/medusa/README.md")),
    (
        "webhook-reference",
        "Webhook reference",
        include_str!("../../../../../proto-docs/integrators/webhook-reference.md"),
    ),
    (
        "test-orders",
        "Test orders and timeline",
        include_str!("../../../../../proto-docs/integrators/test-orders.md"),
    ),
    (
        "failed-deliveries",
        "Failed deliveries",
        include_str!("../../../../../proto-docs/integrators/failed-deliveries.md"),
    ),
    ("requests", "Requests and lists", include_str!("../../../../../proto-docs/integrators/requests.md")),
    (
        "wallet-and-cash",
        "Wallet and cash",
        include_str!("../../../../../proto-docs/integrators/wallet-and-cash.md"),
    ),
];

/// The header prefix in the texts of the guides. An installation may use another one.
const PREFIX: &str = "Service";
/// The address in the texts of the guides.
const ORIGIN: &str = "https://api.delivery.example";

#[derive(Template)]
#[template(path = "guide.html")]
struct Page<'a> {
    brand: &'a str,
    initial: String,
    style: &'static str,
    portal: Option<&'a str>,
    title: &'a str,
    name: &'a str,
    guides: Vec<(&'static str, &'static str)>,
    prose: Prose,
}

/// The names and titles of the guides.
pub(super) fn list() -> Vec<(&'static str, &'static str)> {
    GUIDES.iter().map(|(name, title, _)| (*name, *title)).collect()
}

/// The pages of the guides by name.
///
/// # Errors
/// When the template cannot be filled.
pub(super) fn render(
    brand: &Brand,
    public_url: &Url,
    portal: Option<&Url>,
    packages: &Packages,
) -> Result<Vec<(&'static str, String)>, askama::Error> {
    let origin = public_url.as_str().trim_end_matches('/');
    let pages = GUIDES.iter().map(|(name, title, text)| {
        let page = Page {
            brand: &brand.name,
            initial: initial(&brand.name),
            style: STYLE,
            portal: portal.map(Url::as_str),
            title,
            name,
            guides: list(),
            prose: prose(&of_installation(text, origin, &brand.header_prefix, packages)),
        };
        Ok((*name, page.render()?))
    });
    pages.collect()
}

fn of_installation(text: &str, origin: &str, prefix: &str, packages: &Packages) -> String {
    with_prefix(&without_missing(text, packages).replace(ORIGIN, origin), prefix)
}

/// The text without addresses of packages that are not served. Their commands take a file from the operator instead.
fn without_missing(text: &str, packages: &Packages) -> String {
    let downloads = format!("{ORIGIN}/docs/downloads/");
    let lines = text.lines().map(|line| {
        let Some((before, after)) = line.split_once(&downloads) else { return line.to_owned() };
        let name = after.split([' ', '\'']).next().unwrap_or_default();
        if packages.names().any(|served| served == name) {
            return line.to_owned();
        }
        let ask = format!("# Ask your operator for {name}, and save it in this folder.");
        // What would download it.
        if before.starts_with("curl ") { ask } else { format!("{ask}\n{before}./{after}") }
    });
    lines.map(|line| line + "\n").collect()
}

/// The text with the header prefix of this installation.
fn with_prefix(text: &str, prefix: &str) -> String {
    text.replace(&format!("{PREFIX}-"), &format!("{prefix}-"))
        .replace(&format!("`{PREFIX}`"), &format!("`{prefix}`"))
        .replace(&format!("{}-", PREFIX.to_lowercase()), &format!("{}-", prefix.to_lowercase()))
}
