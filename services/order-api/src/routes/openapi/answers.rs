//! Parts of answers: examples, headers, and each error with the status, message and fields that the service gives it.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use serde::Serialize;
use serde_json::Value;
use utoipa::openapi::example::{Example, ExampleBuilder};
use utoipa::openapi::{Content, Ref, RefOr, Response, ResponseBuilder, Schema};
use web::ApiError;

const REQUEST_ID: &str = "req_01KG9J8W0ZQ6T1M4V7X2B5N8CD";

/// The name of an example, its summary, and its JSON.
pub(super) type Sample = (&'static str, &'static str, String);

/// The JSON of an answer, whose fields are in the order in which the service writes them.
pub(super) fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The document keeps a sample's JSON as a text until `components::ordered` replaces it.
fn example(summary: &str, json: String) -> RefOr<Example> {
    ExampleBuilder::new().summary(summary).value(Some(Value::String(json))).build().into()
}

/// # Errors
/// When two samples have one name.
pub(super) fn add_samples(content: &mut Content, samples: Vec<Sample>) -> anyhow::Result<()> {
    for (name, summary, json) in samples {
        let former = content.examples.insert(name.to_owned(), example(summary, json));
        anyhow::ensure!(former.is_none(), "two examples are named {name:?}");
    }
    Ok(())
}

pub(super) fn add_headers(response: &mut Response, names: &[&str]) {
    for name in names {
        // The component has the name without hyphens.
        let header = Ref::new(format!("#/components/headers/{}", name.replace('-', "")));
        response.headers.insert((*name).to_owned(), RefOr::Ref(header));
    }
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
            content.examples.insert(name, example(error.code(), text_of(&body(error))));
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
    match status.as_u16() {
        400 => "The request is malformed or not valid. `errors` names every error at once.",
        401 => "The caller is not known.",
        402 => {
            "The wallet does not hold the delivery fee. Nothing was created: top up, and retry with the same key."
        }
        403 => "The caller may not do this.",
        404 => "It does not exist, or it is not yours.",
        405 => "The address does not take this method.",
        408 => "The request did not arrive in time.",
        409 => "The request conflicts with the current state.",
        413 => "The body is larger than 256 KiB.",
        414 => "The address is too long.",
        415 => "The body is not JSON.",
        422 => "The key or id was used for another request.",
        429 => "Too many calls. Wait as long as `Retry-After` says.",
        431 => "The headers are too many or too large.",
        503 => {
            "The outcome is unknown, or the service cannot answer at the moment. Retry after `Retry-After`."
        }
        _ => "An internal error. It was recorded under the request id.",
    }
}
