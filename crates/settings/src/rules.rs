//! Rules for values beyond their types, derived from a setting's schema: the length of secrets and the allowed URLs.
//! They apply to every setting, so that no new setting can be forgotten.

use schemars::Schema;
use serde_json::{Map, Value};
use url::{Position, Url};

use crate::Secret;

/// The rule of a setting.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rule {
    Nothing,
    /// A secret: it authenticates somebody or protects something.
    Secret {
        least_bytes: usize,
    },
    /// One to [`SECRETS_MAX`] secrets, separated by commas.
    Secrets,
    Url(UrlRule),
}

/// The allowed schemes, and whether only a host and a port are allowed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UrlRule {
    schemes: Vec<String>,
    is_origin: bool,
    /// Browsers or integrators send requests to it.
    is_published: bool,
}

/// Allows only these schemes in a URL setting (`schemars(transform = …)`).
pub(crate) fn amqp(schema: &mut Schema) {
    schema.insert("format".into(), "uri".into());
    schema.insert(SCHEMES.into(), vec!["amqp", "amqps"].into());
}

/// For a URL setting that has its own parser and is not a secret as a whole.
pub(crate) fn validated_by_its_own_parser(schema: &mut Schema) {
    schema.insert("format".into(), "uri".into());
    schema.insert(SCHEMES.into(), Vec::<String>::new().into());
}

/// For a URL that must be an origin, because it is a prefix of other URLs or is compared with callers' origins
/// (`schemars(transform = settings::origin)`).
pub fn origin(schema: &mut Schema) {
    schema.insert(ORIGIN.into(), true.into());
    published(schema);
}

/// For a URL that browsers or integrators send requests to (`schemars(transform = settings::published)`). Every origin
/// is one.
pub fn published(schema: &mut Schema) {
    schema.insert(PUBLISHED.into(), true.into());
}

/// For a list of secrets, separated by commas.
pub(crate) fn secrets(schema: &mut Schema) {
    schema.insert(SECRETS.into(), true.into());
}

/// The former, the present and the next one.
const SECRETS_MAX: usize = 3;
const SECRETS: &str = "x-secrets";
const SCHEMES: &str = "x-schemes";
const ORIGIN: &str = "x-origin";
const PUBLISHED: &str = "x-published";
const WEB: [&str; 2] = ["http", "https"];

impl Rule {
    pub(crate) fn of(schema: &Map<String, Value>, is_secret: bool) -> Self {
        let schemes = schema.get(SCHEMES).and_then(Value::as_array);
        let is_url = schema.get("format").and_then(Value::as_str) == Some("uri");
        match schemes {
            Some(none) if none.is_empty() => Self::Nothing,
            Some(some) => {
                let schemes = some.iter().filter_map(Value::as_str).map(str::to_owned).collect();
                Self::Url(UrlRule { schemes, is_origin: false, is_published: false })
            }
            None if is_url => Self::Url(UrlRule {
                schemes: WEB.map(str::to_owned).to_vec(),
                is_origin: schema.contains_key(ORIGIN),
                is_published: schema.contains_key(PUBLISHED),
            }),
            None if schema.contains_key(SECRETS) => Self::Secrets,
            None if is_secret => {
                let least = schema.get("minLength").and_then(Value::as_u64);
                let least_bytes = least.and_then(|least| usize::try_from(least).ok());
                Self::Secret { least_bytes: least_bytes.unwrap_or(Secret::BYTES_MIN) }
            }
            None => Self::Nothing,
        }
    }

    /// The error of a value, if any. It never contains the value.
    pub(crate) fn error(&self, value: &str, is_production: bool) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Url(rule) if !rule.allows(value) => Some(rule.to_string()),
            Self::Url(rule) => (is_production && rule.is_unencrypted(value))
                .then(|| "must begin with https:// in production: it carries keys and passwords".into()),
            Self::Secret { .. } if value.trim().is_empty() => Some("is empty".into()),
            Self::Secret { .. } if value.trim().chars().any(char::is_control) => {
                Some("must be one line, without control characters".into())
            }
            Self::Secret { .. } if is_production && is_published(value) => {
                Some("still has its published default, which production refuses".into())
            }
            Self::Secret { least_bytes } => (value.trim().len() < *least_bytes)
                .then(|| format!("must be at least {least_bytes} bytes long")),
            Self::Secrets if value.split(',').count() > SECRETS_MAX => {
                Some(format!("must be at most {SECRETS_MAX} secrets, separated by commas"))
            }
            Self::Secrets => {
                let rule = Self::Secret { least_bytes: Secret::BYTES_MIN };
                let errors = value.split(',').map(|entry| rule.error(entry, is_production));
                (1..).zip(errors).find_map(|(number, error)| Some(format!("entry {number} {}", error?)))
            }
        }
    }
}

/// One published secret in a list is enough.
fn is_published(value: &str) -> bool {
    value.split(',').any(|part| part.trim().starts_with(Secret::LOCAL_PREFIX))
}

impl UrlRule {
    fn allows(&self, text: &str) -> bool {
        let Ok(url) = Url::parse(text) else { return false };
        let is_reachable = self.schemes.iter().any(|scheme| scheme == url.scheme())
            && url.host_str().is_some_and(|host| !host.is_empty())
            && url.port() != Some(0);
        // A broker's URL has a user, a virtual host and options.
        let is_web = WEB.contains(&url.scheme());
        let is_plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && (!self.is_origin || matches!(&url[Position::BeforePath..], "" | "/"));
        is_reachable && (!is_web || is_plain)
    }
}

impl UrlRule {
    /// Whether requests of browsers and integrators would be sent without encryption.
    fn is_unencrypted(&self, text: &str) -> bool {
        self.is_published
            && Url::parse(text).is_ok_and(|url| {
                url.scheme() == "http" && !url.host_str().is_some_and(crate::is_this_machine)
            })
    }
}

impl std::fmt::Display for UrlRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let schemes =
            self.schemes.iter().map(|scheme| format!("{scheme}://")).collect::<Vec<_>>().join(" or ");
        let rest = match (self.is_origin, self.schemes.iter().any(|scheme| WEB.contains(&scheme.as_str()))) {
            (true, _) => " and a port at most, such as https://portal.example",
            (false, true) => ", and neither a user, a query nor a fragment",
            (false, false) => "",
        };
        write!(f, "must be a URL that begins with {schemes}, with a host{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_taken(rule: &UrlRule, text: &str) -> bool {
        Rule::Url(rule.clone()).error(text, true).is_none()
    }

    #[test]
    fn urls_are_of_the_named_schemes_and_have_a_host() {
        let schemes = vec!["amqp".into(), "amqps".into()];
        let amqp = UrlRule { schemes, is_origin: false, is_published: false };
        for good in ["amqp://h", "amqps://u:p@h:5671/waybill?heartbeat=5", "amqp://127.0.0.1:1/%2f"] {
            assert!(is_taken(&amqp, good), "{good}");
        }
        for bad in ["", "garbage", "http://x", "amqp:", "amqp:///vhost", "amqp://u:p@/vhost", "amqp://h:0/"] {
            assert!(!is_taken(&amqp, bad), "{bad}");
        }
        let schemes = WEB.map(str::to_owned).to_vec();
        let web = UrlRule { schemes, is_origin: false, is_published: false };
        assert!(is_taken(&web, "https://h:1/v1/traces"));
        for bad in ["ftp://x", "https://u:p@h/", "https://h/?a=b", "https://h/#a", "https://"] {
            assert!(!is_taken(&web, bad), "{bad}");
        }
        assert!(is_taken(&web, "http://collector:4318/v1/traces"), "no outside caller uses it");
        let published = UrlRule { is_published: true, ..web };
        assert!(is_taken(&published, "https://h/v1") && is_taken(&published, "http://127.0.0.1:8081/v1"));
        let api = |is_production| Rule::Url(published.clone()).error("http://h/v1", is_production);
        assert!(api(false).is_none() && api(true).unwrap().contains("https:// in production"));
        let origin = UrlRule { is_origin: true, ..published.clone() };
        assert!(is_taken(&origin, "https://h:8443") && is_taken(&origin, "http://127.0.0.1:8084/"));
        let open = |is_production| Rule::Url(origin.clone()).error("http://h/", is_production);
        assert!(open(false).is_none() && open(true).unwrap().contains("https:// in production"));
        assert!(!is_taken(&origin, "https://h/path") && !is_taken(&origin, "https://h/?"));
    }

    #[test]
    fn secrets_are_not_empty_weak_or_published() {
        let rule = Rule::Secret { least_bytes: 16 };
        let (published, own) = ("local-secret-of-the-local-stack", "0123456789abcdef");
        assert_eq!(rule.error(published, false), None);
        assert!(rule.error(published, true).unwrap().contains("published default"));
        assert!(rule.error(&format!("{own}, {published}"), true).is_some());
        for is_production in [false, true] {
            assert_eq!(rule.error(own, is_production), None);
            assert_eq!(rule.error("  ", is_production).unwrap(), "is empty");
            assert!(rule.error(&format!("{own}\n{own}"), is_production).unwrap().contains("one line"));
            assert_eq!(rule.error(&format!("{own}\n"), is_production), None, "as a file ends");
            assert_eq!(rule.error(&own[1..], is_production).unwrap(), "must be at least 16 bytes long");
            assert!(
                rule.error(&format!("y{}", " ".repeat(20)), is_production).is_some(),
                "spaces do not count"
            );
        }
    }

    #[test]
    fn each_secret_of_a_list_has_the_rules_of_a_secret() {
        let (one, published) = ("0123456789abcdef", "local-secret-of-the-local-stack");
        let error = |entries: &[&str]| Rule::Secrets.error(&entries.join(","), true);
        for good in [&[one][..], &[one, one, one]] {
            assert_eq!(error(good), None);
        }
        for (bad, expected) in [
            (&[""][..], "entry 1 is empty"),
            (&[one, " "], "entry 2 is empty"),
            (&[one, &one[1..]], "entry 2 must be at least 16 bytes long"),
            (&[published, one], "entry 1 still has its published default, which production refuses"),
            (&[one, one, one, one], "must be at most 3 secrets, separated by commas"),
        ] {
            assert_eq!(error(bad).as_deref(), Some(expected));
        }
    }

    #[test]
    fn the_schema_marks_published_urls() {
        let rule = |transform: fn(&mut Schema)| {
            let mut schema = schemars::json_schema!({ "type": "string", "format": "uri" });
            transform(&mut schema);
            Rule::of(schema.as_object().unwrap(), false)
        };
        for transform in [origin as fn(&mut Schema), published] {
            assert!(rule(transform).error("http://h", true).is_some());
            assert_eq!(rule(transform).error("http://h", false), None);
        }
        assert_eq!(rule(|_| {}).error("http://h", true), None);
    }
}
