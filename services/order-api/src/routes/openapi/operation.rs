//! Completes each operation with what its macro does not describe: security, headers, examples and errors.

use actix_web::http::StatusCode;
use utoipa::openapi::link::Link;
use utoipa::openapi::path::Operation as Described;
use utoipa::openapi::{
    Components, ContentBuilder, OpenApi, PathItem, Ref, RefOr, Response, SecurityRequirement,
};
use web::ApiError;

use super::answers::{Sample, add_headers, add_samples, refusals};
use super::schema::string;

/// Operations with the same caller. `name` begins the names of their shared answers.
struct Area {
    tag: &'static str,
    name: &'static str,
    scheme: Option<&'static str>,
    /// Every answer has these headers.
    headers: &'static [&'static str],
}

const AREAS: [Area; 3] = [
    Area {
        tag: "Orders",
        name: "Integration",
        scheme: Some("apiKey"),
        headers: &["Request-Id", "RateLimit", "RateLimit-Policy"],
    },
    Area { tag: "Fleet", name: "Fleet", scheme: Some("fleetToken"), headers: &["Request-Id"] },
    Area { tag: "Tracking", name: "Tracking", scheme: None, headers: &["Request-Id"] },
];

/// Complements a described operation.
#[derive(Default)]
pub(super) struct Operation {
    id: &'static str,
    bodies: Vec<Sample>,
    answers: Vec<Sample>,
    headers: &'static [&'static str],
    links: Vec<(&'static str, Link)>,
    errors: Vec<ApiError>,
}

impl Operation {
    pub(super) fn new(id: &'static str) -> Self {
        Self { id, ..Self::default() }
    }

    /// Adds an example of the request's body.
    pub(super) fn body(mut self, name: &'static str, summary: &'static str, json: impl Into<String>) -> Self {
        self.bodies.push((name, summary, json.into()));
        self
    }

    /// Adds an example of the success.
    pub(super) fn answer(mut self, name: &'static str, summary: &'static str, json: String) -> Self {
        self.answers.push((name, summary, json));
        self
    }

    /// Further headers of the success.
    pub(super) fn headers(self, headers: &'static [&'static str]) -> Self {
        Self { headers, ..self }
    }

    pub(super) fn links(self, links: Vec<(&'static str, Link)>) -> Self {
        Self { links, ..self }
    }

    pub(super) fn errors(mut self, errors: impl IntoIterator<Item = ApiError>) -> Self {
        self.errors.extend(errors);
        self
    }
}

/// Completes the operations of the document, and moves answers that several of one area have to the components.
///
/// # Errors
/// When an operation is unknown, or two of its examples have one name.
pub(super) fn complete(document: &mut OpenApi, mut operations: Vec<Operation>) -> anyhow::Result<()> {
    for described in document.paths.paths.values_mut().flat_map(methods) {
        let id = described.operation_id.as_deref();
        let known = operations.iter().position(|operation| Some(operation.id) == id);
        let known = known.ok_or_else(|| anyhow::anyhow!("no examples of the operation {id:?}"))?;
        let area = area(described).ok_or_else(|| anyhow::anyhow!("no area of the operation {id:?}"))?;
        complete_one(described, operations.swap_remove(known), area)?;
    }
    let OpenApi { paths, components, .. } = document;
    let mut described: Vec<&mut Described> = paths.paths.values_mut().flat_map(methods).collect();
    share(&mut described, components.get_or_insert_default());
    Ok(())
}

fn methods(item: &mut PathItem) -> impl Iterator<Item = &mut Described> {
    [&mut item.get, &mut item.post].into_iter().flatten()
}

fn area(described: &Described) -> Option<&'static Area> {
    AREAS.iter().find(|area| described.tags.iter().flatten().any(|tag| tag == area.tag))
}

fn complete_one(described: &mut Described, operation: Operation, area: &Area) -> anyhow::Result<()> {
    let required = area.scheme.map(|scheme| SecurityRequirement::new::<_, [&str; 0], _>(scheme, []));
    described.security = Some(required.into_iter().collect());
    if let Some(RefOr::T(body)) = &mut described.request_body
        && let Some(RefOr::T(content)) = body.content.get_mut("application/json")
    {
        add_samples(content, operation.bodies)?;
    }
    for (status, response) in &mut described.responses.responses {
        let RefOr::T(response) = response else { continue };
        add_headers(response, area.headers);
        add_headers(response, operation.headers);
        if matches!(status.as_str(), "429" | "503") {
            add_headers(response, &["Retry-After"]);
        }
        let links = operation.links.iter().map(|(name, link)| ((*name).to_owned(), link.clone().into()));
        response.links.extend(links);
        if let Some(RefOr::T(content)) = response.content.get_mut("application/json") {
            add_samples(content, operation.answers.clone())?;
        }
        if let Some(page) = response.content.get_mut("text/html") {
            let example = "<!doctype html><html lang=\"en\">…</html>";
            *page =
                RefOr::T(ContentBuilder::new().schema(Some(string())).example(Some(example.into())).build());
        }
    }
    let refusals = refusals(&operation.errors, area.headers);
    let refusals = refusals.into_iter().map(|(status, refusal)| (status, RefOr::T(refusal)));
    described.responses.responses.extend(refusals);
    Ok(())
}

/// Replaces each answer that several operations of an area have by a reference to one component.
fn share(operations: &mut [&mut Described], components: &mut Components) {
    let all: Vec<(Option<&str>, RefOr<Response>)> = operations
        .iter()
        .flat_map(|described| {
            let name = area(described).map(|area| area.name);
            described.responses.responses.values().map(move |answer| (name, answer.clone()))
        })
        .collect();
    for described in operations {
        let Some(Area { name, .. }) = area(described) else { continue };
        for (status, answer) in &mut described.responses.responses {
            if all.iter().filter(|(area, known)| *area == Some(name) && known == answer).count() < 2 {
                continue;
            }
            let status = status.parse().ok().and_then(|status| StatusCode::from_u16(status).ok());
            let reason = status.and_then(|status| status.canonical_reason()).unwrap_or("Answer");
            let component = format!("{name}{}", reason.replace(' ', ""));
            let known = components.responses.entry(component.clone()).or_insert_with(|| answer.clone());
            // Of two different answers with the same status, the second one stays with its operations.
            if known == answer {
                *answer = RefOr::Ref(Ref::from_response_name(component));
            }
        }
    }
}
