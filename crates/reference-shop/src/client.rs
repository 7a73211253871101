//! The shop's only request: `POST {base_url}/integration/orders` (SPECIFICATION §4.1).

use std::time::Duration;

use reqwest::{StatusCode, header, redirect};
use serde::Deserialize;
use settings::Secret;
use url::Url;

use crate::{DeliveryDetails, LocalOrderId, ShopError, ShopSettings};

/// The longest response that the shop reads.
const ANSWER_MAX_BYTES: usize = 1024 * 1024;
/// Longer error messages are truncated before they are stored.
const MESSAGE_MAX_CHARS: usize = 300;
/// The identifiers and URLs of a valid response are far shorter.
const FIELD_MAX_BYTES: usize = 2_048;

/// The client of the delivery service.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryService {
    http: reqwest::Client,
    orders_url: Url,
}

/// The result of a request.
#[derive(Debug)]
pub(crate) enum Answer {
    Created(DeliveryDetails),
    /// 409 with the details of the delivery that exists under this reference.
    Exists(DeliveryDetails),
    Refused(Refusal),
}

/// Why the request created no delivery, as far as the shop knows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: Option<u16>,
    pub(crate) code: Option<String>,
    pub(crate) message: String,
}

/// The fields of a delivery. Either id field may be present.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OrderBody {
    id: Option<String>,
    service_order_id: Option<String>,
    order_reference: Option<String>,
    tracking_code: Option<String>,
    tracking_url: Option<String>,
    status: Option<String>,
}

#[derive(Deserialize)]
struct ErrorBody {
    message: Option<String>,
    code: Option<String>,
    order: Option<OrderBody>,
}

impl DeliveryService {
    pub(crate) fn new(settings: &ShopSettings) -> Result<Self, ShopError> {
        // Another part of the process may have installed a provider, which is fine.
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
        let mut client = reqwest::Client::builder()
            .timeout(settings.request_timeout())
            .connect_timeout(Duration::from_secs(5))
            // A redirect would send the order to another server.
            .redirect(redirect::Policy::none())
            .no_proxy()
            .user_agent(concat!("waybill-reference-shop/", env!("CARGO_PKG_VERSION")));
        if settings.base_url.scheme() == "http" {
            // Plain HTTP needs no certificates. Loading them fails on a machine without any.
            client = client.tls_certs_only([]);
        }
        let mut orders_url = settings.base_url.clone();
        orders_url.set_path(&format!("{}/integration/orders", orders_url.path().trim_end_matches('/')));
        Ok(Self { http: client.build().map_err(ShopError::Client)?, orders_url })
    }

    /// Requests the delivery of one order. A retry uses the same key and body.
    pub(crate) async fn create_order(
        &self,
        api_key: &Secret,
        idempotency_key: &str,
        id: &LocalOrderId,
        body: String,
    ) -> Answer {
        let request = self
            .http
            .post(self.orders_url.clone())
            // reqwest marks the header as sensitive, so debug output omits it.
            .bearer_auth(api_key.expose())
            .header("Idempotency-Key", idempotency_key)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .body(body);
        match exchange(request).await {
            Ok((status, answer)) => read_answer(status, &answer, id, api_key),
            Err(refusal) => Answer::Refused(refusal),
        }
    }
}

async fn exchange(request: reqwest::RequestBuilder) -> Result<(StatusCode, Vec<u8>), Refusal> {
    let mut response = request.send().await.map_err(|error| no_response(&error))?;
    let mut answer = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| no_response(&error))? {
        if answer.len() + chunk.len() > ANSWER_MAX_BYTES {
            return Err(unusable(Some(response.status())));
        }
        answer.extend_from_slice(&chunk);
    }
    Ok((response.status(), answer))
}

fn read_answer(status: StatusCode, answer: &[u8], id: &LocalOrderId, api_key: &Secret) -> Answer {
    // Any 2xx is success. An unreadable response is retried; the replay returns the same response.
    if status.is_success() {
        return match serde_json::from_slice::<OrderBody>(answer).ok().and_then(|body| body.into_details(id)) {
            Some(details) => Answer::Created(details),
            None => Answer::Refused(unusable(Some(status))),
        };
    }
    let body = serde_json::from_slice(answer).unwrap_or(ErrorBody { message: None, code: None, order: None });
    let existing = body.order.and_then(|order| order.into_details(id));
    if let (StatusCode::CONFLICT, Some(details)) = (status, existing) {
        return Answer::Exists(details);
    }
    let message = body.message.filter(|message| !message.trim().is_empty());
    let message =
        message.unwrap_or_else(|| format!("The delivery service returned status {}.", status.as_u16()));
    Answer::Refused(Refusal {
        status: Some(status.as_u16()),
        code: body.code.map(|code| safe_text(&code, api_key)),
        message: safe_text(&message, api_key),
    })
}

impl OrderBody {
    /// The details if they are complete and belong to this order.
    fn into_details(self, id: &LocalOrderId) -> Option<DeliveryDetails> {
        if self.order_reference.is_some_and(|reference| reference != id.as_str()) {
            return None;
        }
        let usable = |field: &String| !field.is_empty() && field.len() <= FIELD_MAX_BYTES;
        let storable = |field: &String| usable(field) && !field.chars().any(char::is_control);
        Some(DeliveryDetails {
            service_order_id: self.id.or(self.service_order_id).filter(storable)?,
            tracking_code: self.tracking_code.filter(storable)?,
            tracking_url: self.tracking_url.filter(storable)?,
            status: self.status.filter(storable)?,
        })
    }
}

/// Omits the error's own text, because it contains URLs and addresses.
fn no_response(error: &reqwest::Error) -> Refusal {
    let (code, message) = if error.is_timeout() {
        ("timeout", "The delivery service did not answer in time.")
    } else {
        ("unreachable", "The delivery service is unreachable.")
    };
    Refusal { status: None, code: Some(code.into()), message: message.into() }
}

fn unusable(status: Option<StatusCode>) -> Refusal {
    Refusal {
        status: status.map(|status| status.as_u16()),
        code: Some("unusable_answer".into()),
        message: "The shop cannot use the delivery service's response.".into(),
    }
}

/// Makes a text from outside safe to store and show: short, on one line, and without the API key.
fn safe_text(text: &str, api_key: &Secret) -> String {
    text.replace(api_key.expose(), "…")
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .take(MESSAGE_MAX_CHARS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"id":"ord_1","trackingCode":"T1","trackingUrl":"http://t/T1","status":"created"}"#;

    fn read(status: u16, answer: &str) -> Answer {
        let id = LocalOrderId::parse("A-1").unwrap();
        let key = Secret::new("sk_test_waybill_secret");
        read_answer(StatusCode::from_u16(status).unwrap(), answer.as_bytes(), &id, &key)
    }

    fn refused(status: u16, answer: &str) -> Refusal {
        match read(status, answer) {
            Answer::Refused(refusal) => refusal,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn any_2xx_is_success_and_the_id_has_two_names() {
        for answer in [BODY.to_owned(), BODY.replace("\"id\"", "\"serviceOrderId\"")] {
            for status in [200, 201, 202] {
                let Answer::Created(details) = read(status, &answer) else { panic!("{status} {answer}") };
                assert_eq!(details.service_order_id, "ord_1");
                assert_eq!(details.tracking_code, "T1");
            }
        }
    }

    #[test]
    fn a_2xx_without_the_details_is_no_success() {
        for answer in [
            "",
            "{}",
            "null",
            "[]",
            &BODY.replace("T1", ""),
            &BODY.replace('{', r#"{"orderReference":"B-2","#),
        ] {
            assert_eq!(refused(201, answer).code.as_deref(), Some("unusable_answer"), "{answer}");
        }
    }

    #[test]
    fn only_a_409_of_this_order_is_recovered() {
        let existing = format!(r#"{{"message":"exists","code":"order_reference_exists","order":{BODY}}}"#);
        assert!(matches!(read(409, &existing), Answer::Exists(_)));
        assert_eq!(refused(422, &existing).message, "exists");
        assert_eq!(refused(409, r#"{"message":"busy","code":"order_in_progress"}"#).message, "busy");
        let other = existing.replace(r#""id""#, r#""orderReference":"B-2","id""#);
        assert_eq!(refused(409, &other).status, Some(409));
    }

    #[test]
    fn messages_are_made_safe() {
        let refusal = refused(401, "{\"message\":\"The key sk_test_waybill_secret\\nis wrong\"}");
        assert_eq!(refusal.message, "The key … is wrong");
        let long = format!(r#"{{"message":"{}"}}"#, "é".repeat(1_000));
        assert_eq!(refused(500, &long).message.chars().count(), MESSAGE_MAX_CHARS);
        assert_eq!(refused(502, "<html>").message, "The delivery service returned status 502.");
    }
}
