//! `POST …/webhook-endpoints/{endpoint}/verify-signature`

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use web::{ApiError, FieldErrors, Fields, JsonBody, TextRule};

use super::errors::from_verify;
use super::{input, path, view};
use crate::domain::{Evidence, Scheme};
use crate::queries;
use crate::state::State;

/// Longer than any valid value, so that the findings can explain long ones.
const HEADER: TextRule = TextRule::line(1_024);

pub(super) async fn verify(
    state: Data<State>,
    ids: Path<(String, String)>,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (business, endpoint) = path::endpoint(&ids)?;
    let evidence = read(&body, &state.header_prefix)?;
    let received = evidence.signature.clone();
    let findings = queries::verify_signature(&state, business, endpoint, evidence).await;
    Ok(HttpResponse::Ok().json(view::of_findings(findings.map_err(from_verify)?, received)))
}

fn read(body: &JsonBody, prefix: &str) -> Result<Evidence, ApiError> {
    let field_errors = FieldErrors::default();
    let evidence = Fields::of_body(&body.0, &field_errors).and_then(|fields| {
        input::refuse_unknown(&fields, &["timestamp", "body", "bodyBase64", "signature", "header", "id"]);
        let timestamp = header(&fields, "timestamp");
        let signature = header(&fields, "signature");
        let id = fields.optional_text("id", HEADER);
        let scheme = match fields.value("header") {
            Some(name) => named_scheme(&fields, name, prefix),
            None => Some(likely_scheme(id.as_deref(), signature.as_deref())),
        };
        if scheme == Some(Scheme::Standard) && id.is_none() {
            fields.missing::<()>("id");
        }
        let body = raw_body(&fields);
        Some(Evidence {
            scheme: scheme?,
            timestamp: timestamp?,
            id: id.unwrap_or_default(),
            signature: signature?,
            body: body?,
            sent: None,
        })
    });
    match evidence {
        Some(evidence) if field_errors.is_empty() => Ok(evidence),
        _ => Err(ApiError::invalid(field_errors)),
    }
}

/// Keeps surrounding white space: it is one of the mistakes to find.
fn header(fields: &Fields<'_>, name: &str) -> Option<String> {
    fields.required_text(name, HEADER)?;
    fields.value(name)?.as_str().map(str::to_owned)
}

/// Used if no header is named: an id and `v1,` indicate Standard Webhooks.
fn likely_scheme(id: Option<&str>, signature: Option<&str>) -> Scheme {
    let is_standard = id.is_some() && signature.is_some_and(|text| text.trim_start().starts_with("v1,"));
    if is_standard { Scheme::Standard } else { Scheme::Service }
}

/// Header names are case-insensitive.
fn named_scheme(fields: &Fields<'_>, name: &Value, prefix: &str) -> Option<Scheme> {
    let own = format!("{prefix}-Signature");
    let next = format!("{own}-Next");
    let is = |wanted: &str| name.as_str().is_some_and(|name| name.trim().eq_ignore_ascii_case(wanted));
    match () {
        () if is(&own) => Some(Scheme::Service),
        () if is(&next) => Some(Scheme::ServiceNext),
        () if is("webhook-signature") => Some(Scheme::Standard),
        () => {
            let message = format!("header must be {own}, {next} or webhook-signature.");
            fields.reject("header", "invalid_value", message);
            None
        }
    }
}

/// Byte for byte, without trimming or restrictions. `bodyBase64` is for bodies that are not text.
fn raw_body(fields: &Fields<'_>) -> Option<Vec<u8>> {
    let wrong = |name: &str, message: &str| {
        fields.reject(name, "invalid_value", message);
        None
    };
    match (fields.value("body"), fields.value("bodyBase64")) {
        (None, None) => fields.missing("body"),
        (Some(_), Some(_)) => wrong("bodyBase64", "Send either body or bodyBase64, not both."),
        (Some(text), None) => match text.as_str() {
            Some(text) => Some(text.as_bytes().to_vec()),
            None => {
                fields.reject(
                    "body",
                    "invalid_type",
                    "body must be a string: the raw text, not the parsed JSON.",
                );
                None
            }
        },
        (None, Some(text)) => match text.as_str().map(|text| STANDARD.decode(text)) {
            Some(Ok(bytes)) => Some(bytes),
            Some(Err(_)) | None => wrong("bodyBase64", "bodyBase64 must be a string in standard base64."),
        },
    }
}
