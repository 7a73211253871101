//! The page of the API: the introduction, then each operation with its fields, responses and examples.

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pulldown_cmark::{Options, Parser, html};
use sha2::{Digest, Sha256};
use url::Url;

use super::fields::{Row, bounds, kind, resolve, rows};
use super::guides;
use super::prose::{Prose, prose};
use crate::routes::openapi::ordered::Json;

pub(super) const STYLE: &str = include_str!("../../../templates/docs.css");

#[derive(Template)]
#[template(path = "docs.html")]
struct Page<'a> {
    brand: &'a str,
    initial: String,
    style: &'static str,
    portal: Option<&'a str>,
    guides: Vec<(&'static str, &'static str)>,
    title: &'a str,
    summary: &'a str,
    server: &'a str,
    introduction: String,
    chapters: Vec<(String, String)>,
    groups: Vec<Group<'a>>,
}

struct Group<'a> {
    name: &'a str,
    description: String,
    operations: Vec<Operation<'a>>,
}

struct Operation<'a> {
    id: &'a str,
    method: &'a str,
    path: &'a str,
    summary: &'a str,
    description: String,
    caller: &'static str,
    parameters: Vec<Parameter<'a>>,
    body: Vec<Row>,
    examples: Vec<Example>,
    curl: Option<String>,
    answers: Vec<Answer<'a>>,
}

struct Parameter<'a> {
    name: &'a str,
    place: &'a str,
    required: bool,
    kind: String,
    description: String,
    bounds: String,
}

struct Answer<'a> {
    status: &'a str,
    is_good: bool,
    description: String,
    headers: Vec<&'a str>,
    rows: Vec<Row>,
    examples: Vec<Example>,
}

struct Example {
    title: String,
    text: String,
}

/// The hash of the style, for the content security policy.
pub(super) fn style_hash() -> String {
    STANDARD.encode(Sha256::digest(STYLE.as_bytes()))
}

/// # Errors
/// When the template cannot be filled.
pub(super) fn render(brand: &str, portal: Option<&Url>, document: &Json) -> Result<String, askama::Error> {
    let text = |path: &[&str]| {
        path.iter().try_fold(document, |at, name| at.get(name)).and_then(Json::as_str).unwrap_or_default()
    };
    let Prose { html: introduction, chapters } = prose(text(&["info", "description"]));
    let servers = document.get("servers").map(Json::items).unwrap_or_default();
    let server =
        servers.first().and_then(|server| server.get("url")).and_then(Json::as_str).unwrap_or_default();
    let page = Page {
        brand,
        initial: initial(brand),
        style: STYLE,
        portal: portal.map(Url::as_str),
        guides: guides::list(),
        title: text(&["info", "title"]),
        summary: text(&["info", "summary"]),
        server,
        introduction,
        chapters,
        groups: groups(document, server),
    };
    page.render()
}

/// The letter that represents the brand.
pub(super) fn initial(brand: &str) -> String {
    brand.trim().chars().next().map(|first| first.to_uppercase().to_string()).unwrap_or_default()
}

fn groups<'a>(document: &'a Json, server: &str) -> Vec<Group<'a>> {
    let tags = document.get("tags").map(Json::items).unwrap_or_default();
    let all = ["paths", "webhooks"].into_iter().filter_map(|section| document.get(section));
    let all: Vec<(&str, &str, &Json)> = all
        .flat_map(Json::fields)
        // POST before GET: an order is created before it is read.
        .flat_map(|(path, methods)| {
            methods.fields().rev().map(move |(method, described)| (path, method, described))
        })
        .collect();
    let group = |tag: &'a Json| {
        let name = tag.get("name").and_then(Json::as_str).unwrap_or_default();
        let ours = all.iter().filter(|(_, _, described)| {
            described
                .get("tags")
                .map(Json::items)
                .unwrap_or_default()
                .iter()
                .any(|tag| tag.as_str() == Some(name))
        });
        Group {
            name,
            description: field_html(tag, "description"),
            operations: ours
                .map(|(path, method, described)| operation(document, server, path, method, described))
                .collect(),
        }
    };
    tags.iter().map(group).collect()
}

fn operation<'a>(
    document: &'a Json,
    server: &str,
    path: &'a str,
    method: &'a str,
    described: &'a Json,
) -> Operation<'a> {
    let field = |name: &str| described.get(name).and_then(Json::as_str).unwrap_or_default();
    let security = described.get("security").map(Json::items).unwrap_or_default();
    let caller = match security.first().and_then(|scheme| scheme.fields().next()) {
        Some(("apiKey", _)) => "API key",
        Some(_) => "fleet token",
        None => "",
    };
    let media = described
        .get("requestBody")
        .and_then(|body| body.get("content"))
        .and_then(|content| content.get("application/json"));
    let parameters: Vec<Parameter<'a>> = described
        .get("parameters")
        .map(Json::items)
        .unwrap_or_default()
        .iter()
        .map(|one| parameter(document, one))
        .collect();
    let examples = media.map(examples).unwrap_or_default();
    let shortest = examples.iter().min_by_key(|example| example.text.len());
    let is_call = path.starts_with('/');
    Operation {
        id: field("operationId"),
        curl: is_call.then(|| curl(server, path, method, caller, described, shortest)),
        path: if is_call { path } else { "your endpoint" },
        method,
        summary: field("summary"),
        description: field_html(described, "description"),
        caller,
        parameters,
        body: media
            .and_then(|media| media.get("schema"))
            .map(|schema| rows(document, schema))
            .unwrap_or_default(),
        examples,
        answers: answers(document, described),
    }
}

fn parameter<'a>(document: &'a Json, described: &'a Json) -> Parameter<'a> {
    let field = |name: &str| described.get(name).and_then(Json::as_str).unwrap_or_default();
    let schema = described.get("schema").unwrap_or(&Json::Null);
    let own = described.get("description").or_else(|| schema.get("description"));
    Parameter {
        name: field("name"),
        place: field("in"),
        required: described.get("required") == Some(&Json::Bool(true)),
        kind: kind(document, schema),
        description: own.and_then(Json::as_str).map(markdown_line).unwrap_or_default(),
        bounds: bounds(schema),
    }
}

fn answers<'a>(document: &'a Json, described: &'a Json) -> Vec<Answer<'a>> {
    let all = described.get("responses").into_iter().flat_map(Json::fields);
    all.map(|(status, answer)| {
        let answer = resolve(document, answer);
        let media = answer.get("content").and_then(|content| content.get("application/json"));
        let is_good = status.starts_with('2');
        let schema = media.and_then(|media| media.get("schema")).filter(|_| is_good);
        let headers = answer.get("headers").into_iter().flat_map(Json::fields);
        Answer {
            status,
            is_good,
            description: field_html(answer, "description"),
            headers: headers.map(|(name, _)| name).collect(),
            rows: schema.map(|schema| rows(document, schema)).unwrap_or_default(),
            examples: media.map(examples).unwrap_or_default(),
        }
    })
    .collect()
}

fn examples(media: &Json) -> Vec<Example> {
    let all = media.get("examples").into_iter().flat_map(Json::fields);
    all.map(|(name, example)| Example {
        title: example.get("summary").and_then(Json::as_str).unwrap_or(name).to_owned(),
        text: example.get("value").map(Json::pretty).unwrap_or_default(),
    })
    .collect()
}

/// A `curl` call that works after the key is inserted.
fn curl(
    server: &str,
    path: &str,
    method: &str,
    caller: &str,
    described: &Json,
    body: Option<&Example>,
) -> String {
    let mut path = path.to_owned();
    let mut headers = Vec::new();
    match caller {
        "API key" => headers.push("Authorization: Bearer $API_KEY".to_owned()),
        "fleet token" => headers.push("Authorization: Bearer $FLEET_TOKEN".to_owned()),
        _ => {}
    }
    for parameter in described.get("parameters").map(Json::items).unwrap_or_default() {
        let field = |name: &str| parameter.get(name).and_then(Json::as_str).unwrap_or_default();
        match field("in") {
            "path" => path = path.replace(&format!("{{{}}}", field("name")), field("example")),
            "header" => headers.push(format!("{}: {}", field("name"), field("example"))),
            _ => {}
        }
    }
    let mut lines = vec![format!("curl -sS \"{server}{path}\"")];
    if method != "get" && body.is_none() {
        lines.push(format!("-X {}", method.to_uppercase()));
    }
    if body.is_some() {
        headers.push("Content-Type: application/json".to_owned());
    }
    lines.extend(headers.into_iter().map(|header| format!("-H \"{header}\"")));
    lines.extend(body.map(|body| format!("-d '{}'", body.text)));
    lines.join(" \\\n  ")
}

fn field_html(schema: &Json, name: &str) -> String {
    schema.get(name).and_then(Json::as_str).map(markdown).unwrap_or_default()
}

fn markdown(text: &str) -> String {
    let mut out = String::new();
    html::push_html(&mut out, Parser::new_ext(text, Options::ENABLE_TABLES));
    out
}

/// One paragraph of Markdown, without the surrounding `<p>`.
pub(super) fn markdown_line(text: &str) -> String {
    markdown(text).trim().trim_start_matches("<p>").trim_end_matches("</p>").to_owned()
}
