//! Whether a JSON value is what a schema says.

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use serde_json::Value;

/// A schema of draft 2020-12, with formats.
pub struct JsonSchema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl JsonSchema {
    pub fn new(schema: Value) -> Self {
        const NAME: &str = "schema.json";
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.set_default_draft(Draft::V2020_12);
        compiler.enable_format_assertions();
        compiler.add_resource(NAME, schema).expect("JSON");
        let index = compiler.compile(NAME, &mut schemas).expect("a schema");
        Self { schemas, index }
    }

    /// # Errors
    /// What is wrong with the value.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.schemas.validate(value, self.index).map_err(|error| format!("{value}: {error}"))
    }
}
