//! The OpenAPI schemas of this crate's types, which must agree with what serde writes.

use std::borrow::Cow;

use strum::VariantArray;
use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{KnownFormat, RefOr, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

use crate::{
    CodStatus, DeliveryStatus, EventKind, GoLiveItem, KeyScope, Mode, Paise, PaymentType, TrackingCode,
};

/// A prefix, then a ULID in its canonical spelling.
pub fn id_pattern(prefix: &str) -> String {
    format!("^{prefix}[0-7][0-9A-HJKMNP-TV-Z]{{25}}$")
}

pub(crate) fn id(prefix: &str, description: &str) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description.trim()))
        .pattern(Some(id_pattern(prefix)))
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

/// One of these words, or one that a later release adds: generated clients must not refuse it.
pub fn open_words<'a>(words: impl IntoIterator<Item = &'a str>, description: &str) -> AnyOfBuilder {
    let string = || ObjectBuilder::new().schema_type(Type::String);
    AnyOfBuilder::new()
        .schema_type(SchemaType::AnyValue)
        .description(Some(description))
        .item(string().enum_values(Some(words)))
        .item(string())
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
    CodStatus: "Where the cash is.",
    DeliveryStatus: "Where the parcel is.",
    EventKind: "What happened.",
    GoLiveItem: "An item of the go-live list.",
    KeyScope: "What a key may do.",
    Mode: "Test or live; the API key alone decides.",
    PaymentType: "How the customer pays the business.",
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

impl TrackingCode {
    /// 13 random characters of Crockford's base32 and a check character.
    pub const PATTERN: &str = "^(TEST-)?[0-9A-HJKMNP-TV-Z]{14}$";
}

impl PartialSchema for TrackingCode {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "The code that customers track a delivery with; it begins with `TEST-` in test mode.",
            ))
            .pattern(Some(Self::PATTERN))
            .into()
    }
}

impl ToSchema for TrackingCode {
    fn name() -> Cow<'static, str> {
        "TrackingCode".into()
    }
}
