//! The OpenAPI schemas of the types of this crate. They match their serde format.

use std::borrow::Cow;

use strum::VariantArray;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{KnownFormat, RefOr, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

use crate::{CodStatus, DeliveryStatus, EventKind, GoLiveItem, Mode, Paise, PaymentType, TrackingCode};

/// A prefix that names the kind, and a ULID in its canonical spelling.
pub(crate) fn id(prefix: &str, description: &str) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description.trim()))
        .pattern(Some(format!("^{prefix}[0-7][0-9A-HJKMNP-TV-Z]{{25}}$")))
        .examples([format!("{prefix}01JZ5S9QK4V8M2T6YB3C7D9FGH")])
        .into()
}

fn words<T: VariantArray + Copy + Into<&'static str>>(description: &str) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
        .enum_values(Some(T::VARIANTS.iter().map(|word| -> &'static str { (*word).into() })))
        .into()
}

macro_rules! words {
    ($($name:ident: $description:literal),* $(,)?) => {
        $(
            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    words::<Self>($description)
                }
            }

            impl ToSchema for $name {
                fn name() -> Cow<'static, str> {
                    stringify!($name).into()
                }
            }
        )*
    };
}

words! {
    CodStatus: "The position of a delivery's cash.",
    DeliveryStatus: "The status of a delivery.",
    EventKind: "The kind of an event.",
    GoLiveItem: "A condition for live orders.",
    Mode: "Test or live.",
    PaymentType: "How the customer pays.",
}

impl PartialSchema for Paise {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
            .description(Some("An amount in paise. 100 paise are one rupee."))
            .into()
    }
}

impl ToSchema for Paise {
    fn name() -> Cow<'static, str> {
        "Paise".into()
    }
}

impl PartialSchema for TrackingCode {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "The code under which a delivery is tracked. It starts with `TEST-` in test mode.",
            ))
            .into()
    }
}

impl ToSchema for TrackingCode {
    fn name() -> Cow<'static, str> {
        "TrackingCode".into()
    }
}
