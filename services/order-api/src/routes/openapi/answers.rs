//! The answers of operations: what the macros do not describe. Headers and examples of a success, and each error with the
//! status, message and fields that the service gives it.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use domain::RequestId;
use serde::Serialize;
use serde_json::Value;
use utoipa::PartialSchema;
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Content, ContentBuilder, Ref, RefOr, Response, ResponseBuilder, Schema};
use web::ApiError;

use super::schema::{string, words};

const REQUEST_ID: &str = "req_01KG9J8W0ZQ6T1M4V7X2B5N8CD";

/// The name of an example, its summary, and its JSON.
pub(super) type Sample = (&'static str, &'static str, String);

/// The JSON of an answer, whose fields are in the order in which the service writes them.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The document keeps a sample's JSON as a text until `ordered_examples` replaces it.
pub(super) fn example(summary: &str, json: String) -> RefOr<Example> {
    ExampleBuilder::new().summary(summary).value(Some(Value::String(json))).build().into()
}

pub(super) fn add_samples(content: &mut Content, samples: Vec<Sample>) {
    let samples = samples.into_iter();
    content.examples =
        samples.map(|(name, summary, json)| (name.to_owned(), example(summary, json))).collect();
}

pub(super) fn add_headers(response: &mut Response, names: &[&str]) {
    for name in names {
        let header = Ref::new(format!("#/components/headers/{}", component(name)));
        response.headers.insert((*name).to_owned(), RefOr::Ref(header));
    }
}

/// A header has its name without hyphens as the name of its component.
fn component(header: &str) -> String {
    header.split('-').collect()
}

/// One response for each status of these errors, with an example for each error.
pub(super) fn refusals(errors: &[ApiError], headers: &[&str]) -> BTreeMap<String, Response> {
    let mut by_status: BTreeMap<StatusCode, Vec<&ApiError>> = BTreeMap::new();
    for error in errors {
        by_status.entry(error.status()).or_default().push(error);
    }
    by_status
        .into_iter()
        .map(|(status, errors)| (status.as_str().to_owned(), refusal(status, &errors, headers)))
        .collect()
}

fn refusal(status: StatusCode, errors: &[&ApiError], headers: &[&str]) -> Response {
    let content = |schema: &str, body: &dyn Fn(&ApiError) -> Value| {
        let mut content = Content::new(Some(RefOr::<Schema>::Ref(Ref::from_schema_name(schema))));
        for error in errors {
            // One code can have several forms, such as a single error and many.
            let same = content.examples.keys().filter(|name| name.starts_with(error.code())).count();
            let name =
                if same == 0 { error.code().to_owned() } else { format!("{}_{}", error.code(), same + 1) };
            content.examples.insert(name, example(error.code(), json(&body(error))));
        }
        content
    };
    let mut response = ResponseBuilder::new()
        .description(meaning(status))
        .content("application/json", content("Error", &|error| error.body(REQUEST_ID)))
        .content("application/problem+json", content("Problem", &|error| error.problem(REQUEST_ID)))
        .build();
    add_headers(&mut response, headers);
    for name in ["Retry-After", "WWW-Authenticate", "Allow"] {
        let has = |error: &&ApiError| {
            error.headers().iter().any(|(own, _)| own.as_str().eq_ignore_ascii_case(name))
        };
        if errors.iter().any(has) {
            add_headers(&mut response, &[name]);
        }
    }
    response
}

/// The general meaning of a status.
fn meaning(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => {
            "The request is malformed or not valid. `errors` names every error at once."
        }
        StatusCode::UNAUTHORIZED => "The caller is not known.",
        StatusCode::PAYMENT_REQUIRED => {
            "The wallet does not hold the delivery fee. Nothing was created: top up, and retry with the same key."
        }
        StatusCode::FORBIDDEN => "The caller may not do this.",
        StatusCode::NOT_FOUND => "It does not exist, or it is not yours.",
        StatusCode::METHOD_NOT_ALLOWED => "The address does not take this method.",
        StatusCode::REQUEST_TIMEOUT => "The request did not arrive in time.",
        StatusCode::CONFLICT => "The request conflicts with the current state.",
        StatusCode::PAYLOAD_TOO_LARGE => "The body is larger than 256 KiB.",
        StatusCode::URI_TOO_LONG => "The address is too long.",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "The body is not JSON.",
        StatusCode::UNPROCESSABLE_ENTITY => "The key or id was used for another request.",
        StatusCode::TOO_MANY_REQUESTS => "Too many calls. Wait as long as `Retry-After` says.",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => "The headers are too many or too large.",
        StatusCode::SERVICE_UNAVAILABLE => {
            "The outcome is unknown, or the service cannot answer at the moment. Retry after `Retry-After`."
        }
        _ => "An internal error. It was recorded under the request id.",
    }
}

/// An HTML page.
pub(super) fn html() -> Content {
    let page = "<!doctype html><html lang=\"en\">…</html>";
    ContentBuilder::new().schema(Some(string())).example(Some(page.into())).build()
}

/// The headers of answers, by the names of their components. `policy` is an example of `RateLimit-Policy`.
pub(super) fn headers(policy: &str) -> BTreeMap<String, RefOr<Header>> {
    let seconds = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    let location = "/v1/integration/orders/ord_01KG9J8W0ZQ6T1M4V7X2B5N8CD";
    let all: [(&str, &str, RefOr<Schema>, Value); 10] = [
        (
            "Request-Id",
            "Names the request in our logs. Every answer has one.",
            RequestId::schema(),
            REQUEST_ID.into(),
        ),
        ("Location", "The path of the order.", string().into(), location.into()),
        (
            "Idempotent-Replayed",
            "On the repeated answer to a request that succeeded before; otherwise left out.",
            words(["true"]).into(),
            "true".into(),
        ),
        (
            "RateLimit",
            "The rest of your limit (`r`, calls) and the seconds until it is whole again (`t`); IETF \
             draft-ietf-httpapi-ratelimit-headers.",
            string().into(),
            "\"default\";r=199;t=1".into(),
        ),
        (
            "RateLimit-Policy",
            "The limit: calls at once (`q`) in a window (`w`, seconds).",
            string().into(),
            policy.into(),
        ),
        ("Retry-After", "Seconds to wait before you retry.", seconds.into(), 2.into()),
        ("WWW-Authenticate", "How to authenticate.", string().into(), "Bearer".into()),
        ("Allow", "The methods that the address takes.", string().into(), "GET, POST".into()),
        (
            "Webhook-Header-Prefix",
            "Begins the names of the headers of your webhooks, such as `Service-Signature`.",
            string().into(),
            "Service".into(),
        ),
        ("Cache-Control", "Caches must not keep the answer.", string().into(), "no-store".into()),
    ];
    let headers = all.into_iter().map(|(name, description, schema, example)| {
        let header =
            HeaderBuilder::new().description(Some(description)).schema(Some(schema)).example(Some(example));
        // utoipa has no field for it.
        let required = (name == "Request-Id").then(|| Extensions::from_iter([("required", true)]));
        (component(name), RefOr::T(header.extensions(required).build()))
    });
    headers.collect()
}
