//! The schemas of bodies, where the document differs from what the macros make of the types.

use std::collections::BTreeMap;

use domain::schema::open_words;
use domain::{EventKind, GoLiveItem};
use strum::VariantArray;
use utoipa::openapi::schema::{
    ArrayBuilder, Discriminator, Object, ObjectBuilder, OneOfBuilder, SchemaType, Type,
};
use utoipa::openapi::{Deprecated, Ref, RefOr, Schema};

use super::ordered::Json;
use super::schema::words;
use super::webhooks;

type Schemas = BTreeMap<String, RefOr<Schema>>;

/// Types with another name in the document.
const NAMES: [(&str, &str); 12] = [
    ("OrderView", "Order"),
    ("SimulatedOrderView", "SimulatedOrder"),
    ("SimulationView", "Simulation"),
    ("TimelinePage", "Timeline"),
    ("DeliveryAddress", "Address"),
    ("PickupPlace", "Pickup"),
    ("DriverView", "Driver"),
    ("ReattemptView", "Reattempt"),
    ("CorrectionView", "Correction"),
    ("ProgressData", "EventData"),
    ("WalletLowBalance", "LowBalanceData"),
    ("EvidenceView", "OrderEvidence"),
];

/// Answers that leave a field without a value out. All others write null.
const LEAVE_OUT: [&str; 8] = [
    "Driver",
    "Error",
    "Evidence",
    "FleetOrderList",
    "OrderList",
    "Problem",
    "ProgressData",
    "ScheduledAttempt",
];

pub(super) fn is_of_a_request(name: &str) -> bool {
    let is_report = name.starts_with("Report") && name != "ReportedOrder";
    is_report || name.starts_with("New") || matches!(name, "CancelOrder" | "SimulateProgress")
}

/// Completes the schemas that the macros collected.
pub(super) fn complete(schemas: &mut Schemas) {
    let names: Vec<String> = schemas.keys().filter(|name| !is_of_a_request(name)).cloned().collect();
    for name in names {
        if let Some(RefOr::T(Schema::Object(_) | Schema::AllOf(_))) = schemas.get(&name) {
            let mut merged = object(schemas, &name);
            settle_fields(&name, &mut merged);
            schemas.insert(name, RefOr::T(merged.into()));
        }
    }
    open_sets(schemas);
    let entries = [
        ("status", "StatusEntry", "OrderEventView"),
        ("money", "MoneyEntry", "MoneyView"),
        ("webhook", "WebhookEntry", "WebhookOutcomeView"),
    ];
    for (kind, entry, view) in entries {
        let mut tagged = object(schemas, view);
        tagged.properties.shift_insert(0, "type".to_owned(), words([kind]).into());
        tagged.required.insert(0, "type".to_owned());
        schemas.remove(view);
        schemas.insert(entry.to_owned(), RefOr::T(tagged.into()));
    }
    // Only here, because nothing is marked as deprecated next to a reference.
    let mut state = object(schemas, "DeliveryState");
    state.deprecated = Some(Deprecated::True);
    state.description = Some("The former name of `status`.".to_owned());
    set(schemas, "WebhookEntry", "state", RefOr::T(state.into()));
    // Its fields are part of `WebhookOrder`.
    schemas.remove("OrderSnapshot");
    let description = "One entry of the timeline, by its `type`. Each has an `id` and a `recordedAt`.";
    let entry = union(description, "type", entries.map(|(kind, entry, _)| (kind, entry.to_owned())), None);
    schemas.insert("TimelineEntry".to_owned(), entry);
    let mut cash = object(schemas, "ProgressData");
    cash.required.push("codAmountPaise".to_owned());
    schemas.insert("CashEventData".to_owned(), RefOr::T(cash.into()));
    let form = object(schemas, "WebhookEvent");
    schemas.extend(webhooks::schemas(&form));
}

/// A schema as one object, with the fields of its parts.
fn object(schemas: &Schemas, name: &str) -> Object {
    schemas.get(name).map(|schema| merged(schemas, schema)).unwrap_or_default()
}

fn merged(schemas: &Schemas, schema: &RefOr<Schema>) -> Object {
    match schema {
        RefOr::Ref(Ref { ref_location, .. }) => {
            object(schemas, ref_location.rsplit('/').next().unwrap_or_default())
        }
        RefOr::T(Schema::Object(object)) => object.clone(),
        RefOr::T(Schema::AllOf(whole)) => {
            let mut all = Object::new();
            for part in &whole.items {
                let part = merged(schemas, part);
                all.properties.extend(part.properties);
                all.required.extend(part.required);
            }
            all.description.clone_from(&whole.description);
            all
        }
        RefOr::T(_) => Object::new(),
    }
}

/// A field that can be null is either always there, or left out and never null.
fn settle_fields(name: &str, object: &mut Object) {
    let Object { properties, required, .. } = object;
    for (field, schema) in properties {
        match without_null(schema) {
            Some(value) if LEAVE_OUT.contains(&name) => *schema = value,
            Some(_) if !required.contains(field) => required.push(field.clone()),
            _ => {}
        }
    }
}

/// A nullable schema without null; nothing for one that is not nullable.
pub(super) fn without_null(schema: &RefOr<Schema>) -> Option<RefOr<Schema>> {
    let without = |types: &SchemaType| match types {
        SchemaType::Array(types) if types.contains(&Type::Null) => {
            types.iter().find(|one| **one != Type::Null).cloned().map(SchemaType::Type)
        }
        _ => None,
    };
    let mut schema = schema.clone();
    match &mut schema {
        RefOr::T(Schema::Object(object)) => object.schema_type = without(&object.schema_type)?,
        RefOr::T(Schema::Array(array)) => array.schema_type = without(&array.schema_type)?,
        RefOr::T(Schema::OneOf(forms)) => match forms.items.as_slice() {
            [value, RefOr::T(Schema::Object(null))] if null.schema_type == SchemaType::Type(Type::Null) => {
                return Some(value.clone());
            }
            _ => return None,
        },
        _ => return None,
    }
    Some(schema)
}

/// Clients of this API must accept words that a later release adds; the portal, which shares these types, comes with them.
fn open_sets(schemas: &mut Schemas) {
    let items = GoLiveItem::VARIANTS.iter().map(|item| item.as_str());
    let event = open_words(EventKind::of_orders().map(EventKind::as_str), "What happened.");
    schemas.insert("EventKind".to_owned(), event.into());
    schemas.insert("GoLiveItem".to_owned(), open_words(items, "An item of the go-live list.").into());
    let null = ObjectBuilder::new().schema_type(Type::Null);
    let next = OneOfBuilder::new().item(reference("ProgressKind")).item(null);
    let legal = ArrayBuilder::new().items(reference("ProgressKind"));
    for (name, field, schema) in [
        ("OrderEventView", "data", reference("ProgressData")),
        ("SimulationView", "nextEvent", next.description(Some("The next event.")).into()),
        (
            "SimulatedOrderView",
            "legal",
            legal.description(Some("The events that can be simulated next.")).into(),
        ),
    ] {
        set(schemas, name, field, schema);
    }
}

/// Replaces the schema of a field.
fn set(schemas: &mut Schemas, name: &str, field: &str, schema: RefOr<Schema>) {
    if let Some(RefOr::T(Schema::Object(object))) = schemas.get_mut(name) {
        object.properties.insert(field.to_owned(), schema);
    }
}

pub(super) fn reference(name: &str) -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name(name))
}

/// One of several schemas, told apart by the value of a field. `other` has none of these values.
pub(super) fn union<'a>(
    description: &str,
    property: &str,
    forms: impl IntoIterator<Item = (&'a str, String)>,
    other: Option<&str>,
) -> RefOr<Schema> {
    let (values, names): (Vec<&str>, Vec<String>) = forms.into_iter().unzip();
    let mapping = values.into_iter().zip(names.iter().map(|name| format!("#/components/schemas/{name}")));
    let discriminator = Discriminator::with_mapping(property, mapping);
    let names = names.iter().map(String::as_str).chain(other);
    let one = names.fold(OneOfBuilder::new(), |one, name| one.item(reference(name)));
    one.description(Some(description)).discriminator(Some(discriminator)).into()
}

/// The document in the order in which it is read: examples as the service writes them, and each schema under its name.
pub(super) fn ordered(document: Json) -> Json {
    match document {
        Json::Object(fields) => {
            Json::Object(fields.into_iter().map(|(key, value)| ordered_field(key, value)).collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(ordered).collect()),
        other => other,
    }
}

fn ordered_field(key: String, value: Json) -> (String, Json) {
    let renamed = |name: &str| NAMES.iter().find(|(own, _)| *own == name).map(|(_, name)| *name);
    let value = match (key.as_str(), value) {
        ("$ref", Json::Text(path)) => {
            let (place, name) = path.rsplit_once('/').unwrap_or_default();
            Json::Text(renamed(name).map_or_else(|| path.clone(), |name| format!("{place}/{name}")))
        }
        ("value", Json::Text(example)) => serde_json::from_str(&example).unwrap_or(Json::Text(example)),
        ("schemas", Json::Object(schemas)) => {
            let named = schemas
                .into_iter()
                .map(|(name, schema)| (renamed(&name).map_or(name.clone(), str::to_owned), ordered(schema)));
            Json::Object(named.collect())
        }
        (_, value) => ordered(value),
    };
    (key, value)
}
