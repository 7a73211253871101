//! The OpenAPI document, and a comparison of the successes that the tests receive with it.

use std::sync::LazyLock;

use reqwest::{Method, Url};
use serde_json::Value;

pub(crate) static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../proto-docs/openapi/portal-api.json")).unwrap()
});

/// Fails the test if the document does not describe this success of the API.
pub(crate) fn check_success(method: &Method, url: &Url, status: u16) {
    if !url.path().starts_with("/v1/") {
        return;
    }
    let operation = operation(method, url.path());
    let operation = operation.unwrap_or_else(|| panic!("{method} {} is not documented", url.path()));
    let responses = operation["responses"].as_object().unwrap();
    let documented = responses.keys().filter(|code| code.starts_with('2')).collect::<Vec<_>>();
    assert!(
        responses.contains_key(&status.to_string()),
        "{method} {} responded {status}; documented are {documented:?}",
        url.path()
    );
}

/// A path without parameters is preferred to one with parameters.
fn operation(method: &Method, path: &str) -> Option<&'static Value> {
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let found = paths.get(path).or_else(|| {
        let mut matching = paths.iter().filter(|(template, _)| is_match(template, path));
        matching.next().map(|(_, operations)| operations)
    })?;
    found.get(method.as_str().to_lowercase())
}

fn is_match(template: &str, path: &str) -> bool {
    let (template, path) = (template.split('/'), path.split('/'));
    template.clone().count() == path.clone().count()
        && template.zip(path).all(|(expected, actual)| expected.starts_with('{') || expected == actual)
}
