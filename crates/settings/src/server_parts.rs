//! The URL of a server from settings for its parts, which may hold any character: `WAYBILL_DATABASE__HOST`, `__PASSWORD` and so
//! on. In a URL, some must be encoded, and a platform keeps the password somewhere else than the host.

use std::net::Ipv6Addr;
use std::num::NonZeroU16;

use config::Config;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::SettingErrors;
use crate::describe::Setting;
use crate::rules::Rule;

/// The shortest password. The servers of others decide about theirs.
const PASSWORD_BYTES_MIN: usize = 8;

/// The value of a part, by its name.
type Parts<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A server whose URL can be set in parts.
struct Server {
    section: &'static str,
    /// In addition to [`PARTS`].
    own_parts: &'static [Part],
    url: fn(Parts<'_>) -> String,
}

struct Part {
    name: &'static str,
    kind: &'static str,
    description: &'static str,
}

const HOST: Part = Part {
    name: "host",
    kind: "text",
    description: "The server, instead of the URL. With it, the other parts apply. PostgreSQL may have several, separated by commas.",
};
const PORT: Part = Part { name: "port", kind: "1 to 65535", description: "The server's port." };
const USER: Part = Part { name: "user", kind: "text", description: "The user." };
const PASSWORD: Part = Part {
    name: "password",
    kind: "text",
    description: "The user's password. It may contain any character.",
};

/// The parts of every server.
const PARTS: [Part; 4] = [HOST, PORT, USER, PASSWORD];

const SERVERS: [Server; 2] = [
    Server {
        section: "database",
        own_parts: &[
            Part { name: "dbname", kind: "text", description: "The database." },
            Part { name: "sslmode", kind: "text", description: "As the URL's option." },
            Part { name: "sslrootcert", kind: "text", description: "As the URL's option." },
        ],
        url: database_url,
    },
    Server {
        section: "broker",
        own_parts: &[
            Part { name: "vhost", kind: "text", description: "The virtual host." },
            Part { name: "tls", kind: "`true`, `false`", description: "Whether to use TLS (`amqps://`)." },
        ],
        url: broker_url,
    },
];

fn database_url(part: Parts<'_>) -> String {
    let option = |name| Some(format!("{name}={}", encoded(&part(name)?)));
    let options: Vec<String> = ["sslmode", "sslrootcert"].into_iter().filter_map(option).collect();
    let mark = if options.is_empty() { "" } else { "?" };
    let dbname = part("dbname").map(|name| encoded(&name)).unwrap_or_default();
    let place = format!("postgres://{}{}/{dbname}", user(part), hosts(part));
    format!("{place}{mark}{}", options.join("&"))
}

fn broker_url(part: Parts<'_>) -> String {
    let scheme = if part("tls").as_deref() == Some("true") { "amqps" } else { "amqp" };
    // Without a path, the virtual host is "/"; an empty path would be one without a name.
    let vhost = part("vhost").map(|name| format!("/{}", encoded(&name))).unwrap_or_default();
    format!("{scheme}://{}{}{vhost}", user(part), hosts(part))
}

fn user(part: Parts<'_>) -> String {
    let Some(user) = part("user") else { return String::new() };
    let password = part("password").map(|password| format!(":{}", encoded(&password))).unwrap_or_default();
    format!("{}{password}@", encoded(&user))
}

fn hosts(part: Parts<'_>) -> String {
    let port = part("port").map(|port| format!(":{port}")).unwrap_or_default();
    let hosts = part("host").unwrap_or_default();
    // In a URL, an IPv6 address is in brackets.
    let named = |host: &str| match host.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]{port}"),
        Err(_) => format!("{host}{port}"),
    };
    let named: Vec<String> = crate::comma_separated_parts(&hosts).map(named).collect();
    named.join(",")
}

/// An IPv6 address, perhaps in brackets already.
fn is_address(host: &str) -> bool {
    host.trim_start_matches('[').trim_end_matches(']').parse::<Ipv6Addr>().is_ok()
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

impl Server {
    fn parts(&self) -> impl Iterator<Item = &'static Part> + use<> {
        PARTS.iter().chain(self.own_parts)
    }

    fn variable(&self, name: &str) -> String {
        format!("WAYBILL_{}__{}", self.section, name).to_uppercase()
    }

    fn of(known: &[Setting]) -> impl Iterator<Item = &'static Self> {
        let has_url = |server: &&Self| known.iter().any(|setting| setting.variable == server.variable("url"));
        SERVERS.iter().filter(has_url)
    }

    fn get(&self, given: &Config, name: &str) -> Option<String> {
        given.get_string(&format!("{}.{name}", self.section)).ok().filter(|value| !value.is_empty())
    }
}

/// The settings of the parts of the URLs among these settings.
pub(crate) fn settings(known: &[Setting]) -> Vec<Setting> {
    let setting = |server: &Server, part: &Part| {
        let is_secret = part.name == PASSWORD.name;
        let rule = if is_secret { Rule::Secret { least_bytes: PASSWORD_BYTES_MIN } } else { Rule::Nothing };
        let path = vec![server.section.to_owned(), part.name.to_owned()];
        Setting::part(path, (part.kind, part.description), is_secret, rule)
    };
    Server::of(known).flat_map(|server| server.parts().map(|part| setting(server, part))).collect()
}

/// The keys and values of the URLs that are set in parts.
pub(crate) fn urls(given: &Config) -> impl Iterator<Item = (String, String)> {
    let is_in_parts =
        |server: &&Server| server.get(given, "url").is_none() && server.get(given, "host").is_some();
    SERVERS
        .iter()
        .filter(is_in_parts)
        .map(|server| (format!("{}.url", server.section), (server.url)(&|name| server.get(given, name))))
}

/// Adds an error for each part that is set together with the URL or without a host, and for each invalid part.
pub(crate) fn check(given: &Config, known: &[Setting], errors: &mut SettingErrors) {
    for server in Server::of(known) {
        let has = |name: &str| server.get(given, name).is_some();
        for part in server.parts() {
            let Some(value) = server.get(given, part.name) else { continue };
            let variable = server.variable(part.name);
            if has("url") {
                errors.add(
                    &variable,
                    format!("is set together with {}; set only one of them", server.variable("url")),
                );
            } else if !has(HOST.name) {
                errors.add(&variable, format!("requires {}", server.variable(HOST.name)));
            } else if part.name == PASSWORD.name && !has(USER.name) {
                errors.add(&variable, format!("requires {}", server.variable(USER.name)));
            } else if server.section == "broker" && part.name == HOST.name && value.contains(',') {
                errors.add(&variable, "must be one host");
            } else if let Some(error) = error_of(part, &value) {
                errors.add(&variable, error);
            }
        }
    }
}

fn error_of(part: &Part, value: &str) -> Option<&'static str> {
    let is_delimiter = |character: char| "/?#@".contains(character) || character.is_whitespace();
    match part.name {
        "host" => crate::comma_separated_parts(value)
            .any(|host| host.contains(is_delimiter) || (host.contains(':') && !is_address(host)))
            .then_some("must be a host name or address"),
        "port" => value.parse::<NonZeroU16>().is_err().then_some("must be between 1 and 65535"),
        "tls" => (!["true", "false"].contains(&value)).then_some("must be one of `true`, `false`"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::{Broker, Database, Settings, load_from};

    #[derive(Debug, Deserialize, Serialize, JsonSchema)]
    struct Depot {
        database: Database,
        broker: Broker,
    }

    impl Settings for Depot {
        fn check(&self, errors: &mut SettingErrors) {
            self.database.check(errors);
        }
    }

    fn load(variables: &[(&str, &str)]) -> Result<Depot, String> {
        let named = |(name, value): &(&str, &str)| (format!("WAYBILL_{name}"), (*value).to_owned());
        load_from(HashMap::from_iter(variables.iter().map(named))).map_err(|error| error.to_string())
    }

    #[test]
    fn parts_may_hold_any_character() {
        let depot = load(&[
            ("DATABASE__HOST", "db-1, fd00::2"),
            ("DATABASE__PORT", "5433"),
            ("DATABASE__USER", "order api"),
            ("DATABASE__PASSWORD", "p@ss/w#rd?%41"),
            ("DATABASE__DBNAME", "orders/live"),
            ("DATABASE__SSLMODE", "verify-full"),
            ("BROKER__HOST", "rabbit"),
            ("BROKER__USER", "order-api"),
            ("BROKER__PASSWORD", "p@ss/w#rd"),
            ("BROKER__VHOST", "/"),
            ("BROKER__TLS", "true"),
        ])
        .unwrap();
        let url = "postgres://order%20api:p%40ss%2Fw%23rd%3F%2541@db-1:5433,[fd00::2]:5433/orders%2Flive";
        assert_eq!(depot.database.url.expose(), format!("{url}?sslmode=verify%2Dfull"));
        let plain = [("BROKER__HOST", "rabbit"), ("DATABASE__HOST", "[::1]")];
        let (database, broker) = load(&plain).map(|depot| (depot.database.url, depot.broker.url)).unwrap();
        assert_eq!((database.expose(), broker.expose()), ("postgres://[::1]/", "amqp://rabbit"));
        assert_eq!(depot.broker.url.expose(), "amqps://order%2Dapi:p%40ss%2Fw%23rd@rabbit/%2F");
    }

    #[test]
    fn parts_that_do_not_apply_are_errors() {
        let broker = ("BROKER__URL", "amqp://h");
        let errors = |variables: &[(&str, &str)]| load(&[variables, &[broker]].concat()).unwrap_err();
        let both = errors(&[("DATABASE__URL", "postgres://h/d"), ("DATABASE__HOST", "h")]);
        assert!(
            both.contains("WAYBILL_DATABASE__HOST: is set together with WAYBILL_DATABASE__URL"),
            "{both}"
        );
        let alone = errors(&[("DATABASE__PORT", "1")]);
        assert!(alone.contains("WAYBILL_DATABASE__PORT: requires WAYBILL_DATABASE__HOST"), "{alone}");
        let nobody = errors(&[("DATABASE__HOST", "h"), ("DATABASE__PASSWORD", "of somebody")]);
        assert!(nobody.contains("WAYBILL_DATABASE__PASSWORD: requires WAYBILL_DATABASE__USER"), "{nobody}");
        let bad = errors(&[
            ("DATABASE__HOST", "h:1"),
            ("DATABASE__PORT", "0"),
            ("DATABASE__USER", "u"),
            ("DATABASE__PASSWORD", "short"),
        ]);
        for wrong in ["HOST: must be a host", "PORT: must be between", "PASSWORD: must be at least 8 bytes"] {
            assert!(bad.contains(wrong), "{bad}");
        }
    }
}
