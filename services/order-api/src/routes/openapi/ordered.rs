//! JSON whose fields keep their order. People read the document too, and an example should look like the real answer;
//! `serde_json` sorts the fields of an object.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Number;

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub(in crate::routes) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Array(Vec<Json>),
    Object(IndexMap<String, Json>),
}

impl Json {
    /// # Errors
    /// When the value cannot be written as JSON.
    pub(in crate::routes) fn of(value: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::from_str(&serde_json::to_string(value)?)
    }

    pub(in crate::routes) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Self::Object(fields) => fields.get(key),
            _ => None,
        }
    }

    /// Replaces a value within objects, or adds it.
    pub(super) fn set(&mut self, path: &[&str], value: Json) {
        match (self, path) {
            (Self::Object(fields), [last]) => {
                fields.insert((*last).to_owned(), value);
            }
            (Self::Object(fields), [first, rest @ ..]) => {
                fields.entry((*first).to_owned()).or_insert(Self::Null).set(rest, value);
            }
            _ => {}
        }
    }

    /// The same with each text replaced.
    pub(super) fn map_texts(self, map: &impl Fn(String) -> String) -> Self {
        match self {
            Self::Text(text) => Self::Text(map(text)),
            Self::Array(items) => Self::Array(items.into_iter().map(|item| item.map_texts(map)).collect()),
            Self::Object(fields) => {
                Self::Object(fields.into_iter().map(|(name, value)| (name, value.map_texts(map))).collect())
            }
            other => other,
        }
    }

    /// Indented, for people and for line-wise comparison.
    pub(in crate::routes) fn pretty(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&serde_json::to_string(self).unwrap_or_default())
    }
}
