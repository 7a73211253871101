//! The fields of a webhook's body that the shop reads. It ignores all others, including those of later versions.

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Longer or unusual texts do not come from the service and could not be stored.
const FIELD_MAX_BYTES: usize = 2_048;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct WebhookEvent {
    /// The same for every delivery of the event. Read from the body, because the signature does not cover the
    /// `Event-Id` header. The digest of a body without an id.
    #[serde(default)]
    pub(crate) id: String,
    #[serde(rename = "event")]
    pub(crate) kind: String,
    /// Counts the events of one order from 1.
    pub(crate) sequence: Option<i64>,
    pub(crate) mode: Option<String>,
    /// `None` for an event without an order.
    pub(crate) order: Option<WebhookOrder>,
}

/// The order after the event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookOrder {
    pub(crate) id: Option<String>,
    pub(crate) service_order_id: Option<String>,
    pub(crate) order_reference: Option<String>,
    pub(crate) tracking_code: Option<String>,
    pub(crate) tracking_url: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) cod_status: Option<String>,
}

impl WebhookEvent {
    /// Parses a body with a verified signature; `None` when it is not an event.
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let mut event: Self = serde_json::from_slice(body).ok()?;
        if event.id.is_empty() {
            event.id = digest(body);
        }
        let usable = event.texts().all(|text| storable(text));
        usable.then_some(event)
    }

    fn texts(&self) -> impl Iterator<Item = &String> {
        let order = self.order.iter().flat_map(|order| {
            [
                &order.id,
                &order.service_order_id,
                &order.order_reference,
                &order.tracking_code,
                &order.tracking_url,
                &order.status,
                &order.cod_status,
            ]
        });
        [&self.id, &self.kind].into_iter().chain(self.mode.iter()).chain(order.flatten())
    }
}

fn digest(body: &[u8]) -> String {
    Sha256::digest(body).iter().fold("sha256-".to_owned(), |id, byte| format!("{id}{byte:02x}"))
}

fn storable(text: &str) -> bool {
    text.len() <= FIELD_MAX_BYTES && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_needed_fields_are_read() {
        let body = br#"{"id":"evt_1","event":"order.delivered","sequence":5,"mode":"live","later":{},
            "order":{"id":"ord_1","orderReference":"A-1","status":"delivered","later":1},"data":{"driver":{}}}"#;
        let event = WebhookEvent::parse(body).unwrap();
        assert_eq!((event.kind.as_str(), event.sequence), ("order.delivered", Some(5)));
        assert_eq!(event.order.unwrap().order_reference.as_deref(), Some("A-1"));
        assert!(
            WebhookEvent::parse(br#"{"id":"evt_1","event":"wallet.low_balance","order":null}"#).is_some()
        );
    }

    #[test]
    fn the_fields_of_the_specification_are_enough() {
        let body =
            |kind| format!(r#"{{"event":"{kind}","order":{{"orderReference":"A-1","trackingCode":"T-1"}}}}"#);
        let one = WebhookEvent::parse(body("order.delivered").as_bytes()).unwrap();
        let same = WebhookEvent::parse(body("order.delivered").as_bytes()).unwrap();
        let other = WebhookEvent::parse(body("x.y").as_bytes()).unwrap();
        assert_eq!(one.id, same.id);
        assert_ne!(one.id, other.id);
    }

    #[test]
    fn a_body_that_is_not_an_event_is_none() {
        let long = format!(r#"{{"id":"{}","event":"x"}}"#, "e".repeat(FIELD_MAX_BYTES + 1));
        for body in [
            "",
            "{}",
            "[]",
            "not json",
            r#"{"id":"evt_1"}"#,
            r#"{"id":"evt\u0000","event":"x"}"#,
            r#"{"id":"evt_1","event":"x","order":{"trackingCode":"a\nb"}}"#,
            &long,
        ] {
            assert!(WebhookEvent::parse(body.as_bytes()).is_none(), "{body}");
        }
    }
}
