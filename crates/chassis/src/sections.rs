//! What the chassis reads of a service's settings.

use settings::{Broker, Database, Environment, Http, SettingErrors, Settings, Telemetry};

/// The settings of a service, which have the sections that every service has.
pub trait ServiceSettings: Settings {
    /// The service's name, in its logs and metrics and in the listings of the broker.
    const SERVICE: &'static str;

    fn sections(&self) -> Sections<'_>;
}

/// Those sections. They are fields of each service's own settings rather than a flattened struct, because serde's
/// flattening takes the text of an environment variable for a text, where a number or a boolean is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Sections<'a> {
    pub environment: Environment,
    pub database: &'a Database,
    pub broker: &'a Broker,
    pub http: &'a Http,
    pub telemetry: &'a Telemetry,
}

impl Sections<'_> {
    /// Names what is wrong with these sections.
    pub fn check(&self, errors: &mut SettingErrors) {
        self.broker.check(errors);
        check(self.database, self.telemetry, errors);
    }
}

/// Names what is wrong with sections that are not for serving alone.
pub(crate) fn check(database: &Database, telemetry: &Telemetry, errors: &mut SettingErrors) {
    database.check(errors);
    if let Err(error) = postgres::check_url(database) {
        errors.add("WAYBILL_DATABASE__URL", error);
    }
    telemetry.check(errors);
    if let Err(error) = telemetry::check_filter(telemetry) {
        errors.add("WAYBILL_TELEMETRY__FILTER", error);
    }
}
