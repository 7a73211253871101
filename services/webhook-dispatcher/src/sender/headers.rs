//! The headers of an attempt (SPECIFICATION §4.2, §5.5).

use domain::{EventId, Mode};
use hyper::header::{
    ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, InvalidHeaderName,
    USER_AGENT,
};
use serde_json::{Map, Value};
use settings::Brand;
use telemetry::TraceContext;
use url::Url;
use webhook_signature::{MalformedSecret, sign, standard};

use crate::domain::SigningSecrets;

/// Header names that contain the operator's brand.
#[derive(Clone)]
pub(super) struct HeaderNames {
    user_agent: HeaderValue,
    timestamp: HeaderName,
    signature: HeaderName,
    signature_next: HeaderName,
    event_id: HeaderName,
    mode: HeaderName,
}

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

impl HeaderNames {
    /// # Errors
    /// When the brand's prefix is not usable in a header name; the settings check prevents it.
    pub(super) fn new(brand: &Brand) -> Result<Self, InvalidHeaderName> {
        let name = |what: &str| HeaderName::try_from(format!("{}-{what}", brand.header_prefix));
        let user_agent = HeaderValue::from_str(&user_agent(brand));
        Ok(Self {
            user_agent: user_agent.unwrap_or(HeaderValue::from_static("Webhooks/1")),
            timestamp: name("Timestamp")?,
            signature: name("Signature")?,
            signature_next: name("Signature-Next")?,
            event_id: name("Event-Id")?,
            mode: name("Mode")?,
        })
    }

    /// The headers of an attempt at `timestamp` (Unix seconds). During a rotation both secrets sign, so a receiver may
    /// know either one.
    ///
    /// # Errors
    /// When a secret is malformed.
    pub(super) fn signed(
        &self,
        event: EventId,
        mode: Mode,
        timestamp: i64,
        secrets: &SigningSecrets,
        body: &[u8],
    ) -> Result<HeaderMap, MalformedSecret> {
        let id = event.to_string();
        let mut headers = HeaderMap::with_capacity(14);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(USER_AGENT, self.user_agent.clone());
        headers.insert(self.timestamp.clone(), HeaderValue::from(timestamp));
        headers.insert(WEBHOOK_TIMESTAMP, HeaderValue::from(timestamp));
        headers.insert(self.mode.clone(), HeaderValue::from_static(mode.as_str()));
        let mut standard = standard::sign(secrets.current.expose(), &id, timestamp, body)?;
        let mut texts = vec![(self.signature.clone(), sign(secrets.current.expose(), timestamp, body))];
        if let Some(next) = &secrets.next {
            standard.push(' ');
            standard.push_str(&standard::sign(next.expose(), &id, timestamp, body)?);
            texts.push((self.signature_next.clone(), sign(next.expose(), timestamp, body)));
        }
        texts.extend([(WEBHOOK_SIGNATURE, standard), (self.event_id.clone(), id.clone()), (WEBHOOK_ID, id)]);
        for (name, text) in texts {
            headers.insert(name, HeaderValue::from_str(&text).map_err(|_| MalformedSecret)?);
        }
        Ok(headers)
    }
}

/// Propagates the trace to the receiver, without our internal `tracestate`.
pub(super) fn propagate(trace: Option<TraceContext>, headers: &mut HeaderMap) {
    if let Some(trace) = trace
        && let Ok(value) = HeaderValue::from_str(&trace.traceparent)
    {
        headers.insert(TRACEPARENT, value);
    }
}

/// The brand, reduced to the characters of a product token.
pub(super) fn user_agent(brand: &Brand) -> String {
    let words = brand.name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-");
    let name = if name.is_empty() { &brand.header_prefix } else { &name };
    format!("{name}-Webhooks/1")
}

/// A request's headers for the log, including those that the HTTP client adds.
pub(super) fn logged_request(headers: &HeaderMap, url: &str, body: &[u8]) -> String {
    let mut sent = headers.clone();
    sent.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    let host = Url::parse(url).ok().and_then(|url| {
        let host = url.host_str()?;
        let text = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        HeaderValue::from_str(&text).ok()
    });
    if let Some(host) = host {
        sent.insert(HOST, host);
    }
    logged(&sent)
}

/// Headers for the log, as a JSON object: without credentials, and bounded.
pub(super) fn logged(headers: &HeaderMap) -> String {
    const HEADERS_MAX: usize = 64;
    const VALUE_MAX_CHARS: usize = 1_024;
    const ALL_MAX_BYTES: usize = 8 * 1_024;
    const SECRET: [&str; 5] =
        ["set-cookie", "authorization", "www-authenticate", "proxy-authenticate", "authentication-info"];
    let (mut shown, mut room) = (Map::new(), ALL_MAX_BYTES);
    for (name, value) in headers.iter().take(HEADERS_MAX) {
        let text: String = if SECRET.contains(&name.as_str()) {
            "(left out)".to_owned()
        } else {
            String::from_utf8_lossy(value.as_bytes()).chars().take(VALUE_MAX_CHARS).collect()
        };
        let Some(left) = room.checked_sub(name.as_str().len() + text.len()) else { break };
        room = left;
        match shown.entry(name.as_str()) {
            serde_json::map::Entry::Vacant(place) => {
                place.insert(Value::String(text));
            }
            serde_json::map::Entry::Occupied(mut known) => {
                if let Value::String(known) = known.get_mut() {
                    known.push_str(", ");
                    known.push_str(&text);
                }
            }
        }
    }
    Value::Object(shown).to_string()
}

#[cfg(test)]
mod tests {
    use domain::{Clock, Entropy};
    use serde_json::json;
    use webhook_signature::Secret;

    use super::*;

    #[test]
    fn all_signatures_verify_during_and_outside_a_rotation() {
        let (clock, entropy) = (Clock::system(), Entropy::seeded(1));
        let event = EventId::generate(&clock, &entropy);
        let (current, next) = (Secret::generate(entropy.bytes()), Secret::generate(entropy.bytes()));
        let names = HeaderNames::new(&Brand::default()).unwrap();
        let (body, now) = (br#"{"event":"order.delivered"}"#, 1_750_000_000);
        for staged in [None, Some(next)] {
            let secrets = SigningSecrets { current: current.clone(), next: staged.clone() };
            let headers = names.signed(event, Mode::Live, now, &secrets, body).unwrap();
            let text = |name: &str| headers[name].to_str().unwrap();
            assert_eq!(text("service-timestamp"), "1750000000");
            assert_eq!(text("service-mode"), "live");
            assert_eq!(text("service-event-id"), event.to_string());
            assert_eq!(text("content-type"), "application/json");
            assert_eq!(headers.contains_key("service-signature-next"), staged.is_some());
            let own = |secret: &Secret, name: &str| {
                webhook_signature::verify(
                    secret.expose(),
                    text("service-timestamp"),
                    text(name),
                    body,
                    now,
                    5,
                )
            };
            let standard = |secret: &Secret| {
                let (id, at) = (text("webhook-id"), text("webhook-timestamp"));
                standard::verify(secret.expose(), id, at, text("webhook-signature"), body, now, 5)
            };
            assert_eq!((own(&current, "service-signature"), standard(&current)), (Ok(()), Ok(())));
            if let Some(next) = staged {
                assert_eq!((own(&next, "service-signature-next"), standard(&next)), (Ok(()), Ok(())));
                assert!(own(&next, "service-signature").is_err());
            }
        }
    }

    #[test]
    fn header_names_contain_the_brand() {
        let brand =
            Brand { header_prefix: "Acme".into(), name: "Acme & Söhne 24".into(), ..Brand::default() };
        assert_eq!(HeaderNames::new(&brand).unwrap().signature, "acme-signature");
        assert_eq!(user_agent(&brand), "Acme-S-hne-24-Webhooks/1");
        assert_eq!(user_agent(&Brand { name: "डाक".into(), ..brand }), "Acme-Webhooks/1");
    }

    #[test]
    fn the_log_leaves_secrets_out_and_is_bounded() {
        let mut headers = HeaderMap::new();
        headers.insert("set-cookie", HeaderValue::from_static("session=1"));
        headers.append("x-a", HeaderValue::from_static("1"));
        headers.append("x-a", HeaderValue::from_static("2"));
        headers.insert("x-long", HeaderValue::from_str(&"y".repeat(5_000)).unwrap());
        headers.insert("x-raw", HeaderValue::from_bytes(b"\xff").unwrap());
        let shown: Value = serde_json::from_str(&logged(&headers)).unwrap();
        assert_eq!(shown["set-cookie"], json!("(left out)"));
        assert_eq!(shown["x-a"], json!("1, 2"));
        assert_eq!(shown["x-long"].as_str().unwrap().len(), 1_024);
        assert_eq!(shown["x-raw"], json!("\u{fffd}"));
        for number in 0..20 {
            let name = HeaderName::try_from(format!("x-more-{number}")).unwrap();
            headers.insert(name, HeaderValue::from_str(&"y".repeat(1_000)).unwrap());
        }
        assert!((7_000..9_000).contains(&logged(&headers).len()));
    }
}
