//! One operation of the API, as the document describes it.

use web::ApiError;

use super::answers::{self, header};
use super::ordered::{Json, object};
use super::schema::{self, words};

/// Who calls, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Area {
    Integration,
    Fleet,
    Tracking,
}

impl Area {
    /// The tag that the operations are listed under.
    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::Integration => "Orders",
            Self::Fleet => "Fleet",
            Self::Tracking => "Tracking",
        }
    }

    /// Names the answers that operations of this area share.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Integration => "Integration",
            Self::Fleet => "Fleet",
            Self::Tracking => "Tracking",
        }
    }

    fn security(self) -> Json {
        match self {
            Self::Integration => Json::from(vec![object! { "apiKey": Json::Array(Vec::new()) }]),
            Self::Fleet => Json::from(vec![object! { "fleetToken": Json::Array(Vec::new()) }]),
            Self::Tracking => Json::Array(Vec::new()),
        }
    }

    /// What every answer carries.
    pub(super) fn headers(self) -> &'static [&'static str] {
        match self {
            Self::Integration => &["Request-Id", "RateLimit", "RateLimit-Policy"],
            Self::Fleet | Self::Tracking => &["Request-Id"],
        }
    }
}

pub(super) struct Operation {
    pub(super) area: Area,
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    pub(super) parameters: Vec<Json>,
    pub(super) body: Option<Json>,
    /// Statuses of success, with their answers.
    pub(super) answers: Vec<(u16, Json)>,
    pub(super) errors: Vec<ApiError>,
}

impl Operation {
    /// Every answer by its status.
    pub(super) fn all_answers(&self) -> Vec<(u16, Json)> {
        let mut all = self.answers.clone();
        all.extend(answers::errors(&self.errors, self.area.headers()));
        all
    }

    pub(super) fn describe(self, answers: Json) -> Json {
        let mut operation = object! {
            "operationId": self.id,
            "tags": [self.area.tag()],
            "summary": self.summary,
            "description": self.description,
            "security": self.area.security(),
        };
        if !self.parameters.is_empty() {
            operation = operation.with("parameters", self.parameters);
        }
        if let Some(body) = self.body {
            operation = operation.with("requestBody", body);
        }
        operation.with("responses", answers)
    }
}

/// A JSON body with its examples.
pub(super) fn body<const N: usize>(
    required: bool,
    schema: &str,
    description: &str,
    examples: [(&str, &str, Json); N],
) -> Json {
    let content = answers::content(schema::reference(schema), examples);
    object! {
        "description": description, "required": required, "content": object! { "application/json": content },
    }
}

pub(super) fn in_path(name: &str, schema: Json, example: &str) -> Json {
    object! { "name": name, "in": "path", "required": true, "schema": schema, "example": example }
}

pub(super) fn in_query(name: &str, description: &str, schema: Json) -> Json {
    object! { "name": name, "in": "query", "description": description, "schema": schema }
}

/// `limit` and `startingAfter`, as every list takes them.
pub(super) fn page(cursor: Json) -> [Json; 2] {
    let limit = object! {
        "type": "integer", "minimum": 1, "maximum": web::PAGE_LIMIT_MAX, "default": web::PAGE_LIMIT_DEFAULT,
    };
    [
        in_query("limit", "How many at most.", limit),
        in_query("startingAfter", "Where the page before ended. An unknown one is refused with 400.", cursor),
    ]
}

pub(super) fn status_filter() -> Json {
    use domain::DeliveryStatus;
    use strum::VariantArray;
    let statuses = words(DeliveryStatus::VARIANTS.iter().map(|s| s.as_str()), "A delivery status.");
    in_query("status", "Only orders with this status.", statuses)
}

/// What an answer of a success says in its headers, one more or less.
pub(super) fn with_headers(answer: Json, names: &[&str]) -> Json {
    match answer {
        Json::Object(mut fields) => {
            for (name, value) in &mut fields {
                if let ("headers", Json::Object(headers)) = (name.as_str(), value) {
                    headers.extend(names.iter().map(|name| header(name)));
                }
            }
            Json::Object(fields)
        }
        other => other,
    }
}
