//! The settings of `create-operator`: the database, and the addresses for the printed link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Database, Environment, SettingErrors, Settings};

use crate::settings::Public;

/// A part of [`super::PortalSettings`]. The command needs no listeners, broker or tokens.
#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct CreateOperatorSettings {
    #[serde(default)]
    environment: Environment,
    pub(crate) database: Database,
    #[serde(default)]
    pub(crate) public: Public,
}

impl Settings for CreateOperatorSettings {
    fn check(&self, errors: &mut SettingErrors) {
        chassis::check_database(&self.database, errors);
        self.public.check_pages(errors, self.environment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(given: &[(&str, &str)]) -> Result<CreateOperatorSettings, settings::SettingsError> {
        let database = ("WAYBILL_DATABASE__URL", "postgres://portal@localhost/portal");
        let variables = given.iter().chain([&database]);
        settings::load_from(
            variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        )
    }

    #[test]
    fn only_the_database_and_in_production_the_address_are_needed() {
        load(&[]).unwrap();
        let production = ("WAYBILL_ENVIRONMENT", "production");
        let text = load(&[production]).err().unwrap().to_string();
        assert!(text.contains("WAYBILL_PUBLIC__URL") && !text.contains("API_URL"), "{text}");
        load(&[production, ("WAYBILL_PUBLIC__URL", "https://portal.example.com")]).unwrap();
    }
}
