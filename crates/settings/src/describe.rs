//! The list of a program's settings, derived from their types. Starts validate against it, and the settings table in
//! the documents is generated from it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::errors::{SettingErrors, SettingsError};
use crate::layers::{Layers, read};
use crate::rules::Rule;
use crate::server_parts;

/// The settings of a program. Their types declare the names, the purpose (the fields' comments), the range of numbers
/// (`schemars(range(…))`) and an example of each setting without default.
pub trait Settings: DeserializeOwned + Serialize + JsonSchema {
    /// Adds the errors that neither the types nor their schemas can express. The length of secrets, published secrets
    /// in production and the format of URLs are validated for all settings.
    fn check(&self, errors: &mut SettingErrors);
}

/// One setting of a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The environment variable.
    pub variable: String,
    /// The path of sections and name.
    pub path: Vec<String>,
    /// The format of a value, such as `URL` or `2 to 200`.
    pub kind: String,
    /// The text of the default; `None` if the setting has none.
    pub default: Option<String>,
    /// Every required setting has an example.
    pub example: Option<String>,
    pub required: bool,
    pub secret: bool,
    /// The purpose, in Markdown.
    pub description: String,
    #[serde(skip)]
    least: Option<f64>,
    #[serde(skip)]
    most: Option<f64>,
    #[serde(skip)]
    rule: Rule,
}

impl Setting {
    /// An optional part of another setting.
    pub(crate) fn part(
        path: Vec<String>,
        (kind, description): (&str, &str),
        is_secret: bool,
        rule: Rule,
    ) -> Self {
        Self {
            variable: variable(&path),
            path,
            kind: kind.to_owned(),
            default: None,
            example: None,
            required: false,
            secret: is_secret,
            description: description.to_owned(),
            least: None,
            most: None,
            rule,
        }
    }

    pub(crate) fn key(&self) -> String {
        self.path.join(".")
    }

    /// The error of its value in these settings, if any. `given` is the text of the value, if there is one.
    pub(crate) fn error(&self, settings: &Value, given: Option<&str>, is_production: bool) -> Option<String> {
        let written = given.or(self.default.as_deref().filter(|default| !default.is_empty()));
        let number = at(settings, &self.path);
        let is_within = |number: f64| {
            self.least.is_none_or(|least| number >= least) && self.most.is_none_or(|most| number <= most)
        };
        // An infinity or `NaN`, which JSON cannot express.
        let is_fit = number.is_none_or(|value| match value {
            Value::Null => given.is_none(),
            other => other.as_f64().is_none_or(is_within),
        });
        match self.range() {
            Some(range) if !is_fit => Some(range),
            _ => self.rule.error(written?, is_production),
        }
    }

    fn range(&self) -> Option<String> {
        match (self.least, self.most) {
            (Some(least), Some(most)) => Some(format!("must be between {least} and {most}")),
            (Some(least), None) => Some(format!("must be at least {least}")),
            (None, Some(most)) => Some(format!("must be at most {most}")),
            (None, None) => None,
        }
    }

    /// The allowed values, for a value that could not be parsed. `None` if its type's own error names them.
    pub(crate) fn allowed(&self) -> Option<String> {
        match &self.rule {
            Rule::Url(rule) => Some(rule.to_string()),
            _ if self.kind.starts_with('`') => Some(format!("must be one of {}", self.kind)),
            _ if self.secret => Some("must be a text".into()),
            _ => self.range().map(|range| format!("is not a valid number; it {range}")),
        }
    }

    /// Whether an empty value is an error instead of a missing value: the published default must not replace a secret
    /// that was left empty by mistake.
    pub(crate) fn must_not_be_empty(&self) -> bool {
        self.secret && self.default.as_deref().is_some_and(|default| !default.is_empty())
    }
}

/// All settings of `S`, sorted by name.
///
/// # Errors
/// When the examples and defaults are not valid settings, which is an error in the types.
pub fn describe<S: Settings>() -> Result<Vec<Setting>, SettingsError> {
    let mut list = Vec::new();
    let generator = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = generator.into_generator().into_root_schema_for::<S>();
    if let Some(root) = schema.as_object() {
        walk(root, &[], &mut list);
    }
    let examples = list.iter().filter(|setting| setting.required);
    let specimen: S =
        read(Layers::default().build(examples.map(Placeholder::example))?).map_err(SettingsError::from)?;
    let specimen = serde_json::to_value(specimen)?;
    for setting in &mut list {
        setting.default =
            if setting.required { None } else { at(&specimen, &setting.path).and_then(as_written) };
    }
    list.extend(server_parts::settings(&list));
    list.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(list)
}

fn variable(path: &[String]) -> String {
    format!("WAYBILL_{}", path.join("__").to_uppercase())
}

/// Replaces a missing or invalid value, so that the other values can be validated.
pub(crate) struct Placeholder {
    pub(crate) key: String,
    pub(crate) value: Option<String>,
}

impl Placeholder {
    /// The setting's example, or its default.
    pub(crate) fn example(setting: &Setting) -> Self {
        Self {
            key: setting.key(),
            value: setting.example.clone().filter(|_| setting.required).or(setting.default.clone()),
        }
    }
}

fn walk(section: &Map<String, Value>, path: &[String], list: &mut Vec<Setting>) {
    let required = section.get("required").and_then(Value::as_array);
    let properties = section.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let Some(schema) = schema.as_object() else { continue };
        let path = [path, std::slice::from_ref(name)].concat();
        if schema.contains_key("properties") {
            walk(schema, &path, list);
            continue;
        }
        let number = |name| schema.get(name).and_then(Value::as_f64);
        let is_secret = is_secret(schema);
        list.push(Setting {
            variable: variable(&path),
            path,
            kind: kind(schema),
            default: None,
            example: schema.get("examples").and_then(|examples| examples.get(0)).and_then(as_written),
            required: required.is_some_and(|names| names.iter().any(|required| required == name)),
            secret: is_secret,
            description: text(schema, "description").unwrap_or_default().replace('\n', " "),
            least: number("minimum"),
            most: number("maximum"),
            rule: Rule::of(schema, is_secret),
        });
    }
}

fn is_secret(schema: &Map<String, Value>) -> bool {
    let says_so = |schema: &Map<String, Value>| schema.get("writeOnly") == Some(&Value::Bool(true));
    says_so(schema) || choices(schema).any(|choice| choice.as_object().is_some_and(says_so))
}

/// The alternatives of an enum or of an optional value.
fn choices(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let listed = ["oneOf", "anyOf"].into_iter().filter_map(|name| schema.get(name).and_then(Value::as_array));
    listed.flatten()
}

fn kind(schema: &Map<String, Value>) -> String {
    let title = text(schema, "title");
    let words: Vec<String> = words(schema);
    if let Some(title) = title {
        return title;
    }
    if !words.is_empty() {
        return words.join(", ");
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let number = |name| schema.get(name).and_then(Value::as_f64);
    if types.contains(&"boolean") {
        return "`true`, `false`".into();
    }
    if types.contains(&"integer") || types.contains(&"number") {
        return match (number("minimum"), number("maximum")) {
            (Some(least), Some(most)) => format!("{least} to {most}"),
            (Some(least), None) if least > 0.0 => format!("at least {least}"),
            _ => "number".into(),
        };
    }
    if text(schema, "format").as_deref() == Some("uri") { "URL".into() } else { "text".into() }
}

/// The values of an enum, formatted as code.
fn words(schema: &Map<String, Value>) -> Vec<String> {
    let plain = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let described = choices(schema).filter_map(|choice| choice.get("const"));
    let nested = choices(schema)
        .filter_map(Value::as_object)
        .flat_map(|choice| choice.get("enum").and_then(Value::as_array).into_iter().flatten());
    plain.chain(described).chain(nested).filter_map(Value::as_str).map(|word| format!("`{word}`")).collect()
}

fn text(schema: &Map<String, Value>, name: &str) -> Option<String> {
    schema.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| value.get(name))
}

/// The text of the value in an environment variable.
fn as_written(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
