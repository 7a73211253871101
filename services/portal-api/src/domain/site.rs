//! What a listener serves to browsers, and which pages may call it.

use identity::Realm;
use serde::Serialize;
use url::Url;

use crate::domain::Origins;

/// The address of the console's first page. Its other pages are below.
const CONSOLE: &str = "/operator";

/// A part of the portal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Part {
    /// For businesses.
    Portal,
    /// For the operator's staff.
    Console,
}

impl Part {
    /// For the people of this realm.
    pub(crate) fn of(realm: Realm) -> Self {
        match realm {
            Realm::User => Self::Portal,
            Realm::Staff => Self::Console,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Portal => "portal",
            Self::Console => "console",
        }
    }
}

/// The site of one listener.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) parts: &'static [Part],
    pub(crate) origins: Origins,
}

impl Site {
    pub(crate) fn new(url: Url, parts: &'static [Part]) -> Self {
        Self { parts, origins: Origins::new(url) }
    }

    pub(crate) fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// Where `/` leads: at the console's own origin it is no page.
    pub(crate) fn redirect_of(&self, path: &str) -> Option<&'static str> {
        (path == "/" && !self.has(Part::Portal)).then_some(CONSOLE)
    }

    /// Whether it has the page at this path. Every site has `/`, which leads to its first page.
    pub(crate) fn has_page(&self, path: &str) -> bool {
        let below = path.strip_prefix(CONSOLE);
        let is_of_console = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        path == "/" || self.has(if is_of_console { Part::Console } else { Part::Portal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_of_one_part() {
        let site = |parts| Site::new(Url::parse("https://portal.example.com").unwrap(), parts);
        let (portal, console) = (site(&[Part::Portal]), site(&[Part::Console]));
        let both = site(&[Part::Portal, Part::Console]);
        for (path, of_portal, of_console) in [
            ("/", true, true),
            ("/log-in", true, false),
            ("/orders/ord_1", true, false),
            ("/operators", true, false),
            ("/operator", false, true),
            ("/operator/", false, true),
            ("/operator/password", false, true),
        ] {
            assert_eq!(portal.has_page(path), of_portal, "{path}");
            assert_eq!(console.has_page(path), of_console, "{path}");
            assert!(both.has_page(path), "{path}");
            assert!(portal.redirect_of(path).is_none() && both.redirect_of(path).is_none(), "{path}");
            assert_eq!(console.redirect_of(path).is_some(), path == "/", "{path}");
        }
    }
}
