//! JSON whose fields keep their order. A document is read by people too, and an answer's example should look like the
//! answer; `serde_json` sorts the fields of an object.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Number, Value};

#[derive(Clone, Debug, PartialEq)]
pub(in crate::routes) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// An object, with its fields in the order in which they are written.
macro_rules! object {
    ($($key:literal : $value:expr),* $(,)?) => {
        $crate::routes::openapi::ordered::Json::Object(
            vec![$(($key.to_owned(), $crate::routes::openapi::ordered::Json::from($value))),*]
        )
    };
}
pub(in crate::routes) use object;

impl Json {
    /// What a value of ours serializes to, in the order of its fields.
    pub(in crate::routes) fn of(value: &impl Serialize) -> Self {
        // A value that cannot be written shows up as null, which no schema of the document allows.
        let text = serde_json::to_vec(value).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or(Self::Null)
    }

    /// An object of fields that are not known by name here.
    pub(in crate::routes) fn object(fields: impl IntoIterator<Item = (String, Json)>) -> Self {
        Self::Object(fields.into_iter().collect())
    }

    /// With one more field at the end.
    #[must_use]
    pub(in crate::routes) fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        if let Self::Object(fields) = &mut self {
            fields.push((key.to_owned(), value.into()));
        }
        self
    }

    pub(in crate::routes) fn get(&self, key: &str) -> Option<&Json> {
        self.fields().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Of an object; of anything else there are none.
    pub(in crate::routes) fn fields(&self) -> &[(String, Json)] {
        match self {
            Self::Object(fields) => fields,
            _ => &[],
        }
    }

    pub(in crate::routes) fn items(&self) -> &[Json] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    pub(in crate::routes) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Indented, for people and for line-wise comparison.
    pub(in crate::routes) fn pretty(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).unwrap_or_default())
    }
}

macro_rules! from {
    ($($type:ty: $value:ident => $json:expr),* $(,)?) => {
        $(impl From<$type> for Json {
            fn from($value: $type) -> Self {
                $json
            }
        })*
    };
}

from! {
    &str: text => Self::Text(text.to_owned()),
    String: text => Self::Text(text),
    bool: value => Self::Bool(value),
    i32: number => Self::Number(number.into()),
    i64: number => Self::Number(number.into()),
    u16: number => Self::Number(number.into()),
    usize: number => Self::Number(number.into()),
    f64: number => Number::from_f64(number).map_or(Self::Null, Self::Number),
    Value: value => Self::of(&value),
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Json>, const N: usize> From<[T; N]> for Json {
    fn from(items: [T; N]) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Array(items) => items.serialize(serializer),
            Self::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (key, value) in fields {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Json, E> {
        Ok(Json::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(entry) = entries.next_entry::<String, Json>()? {
            fields.push(entry);
        }
        Ok(Json::Object(fields))
    }
}
