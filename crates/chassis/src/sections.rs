//! The settings sections of every service.

use settings::{Broker, Database, Environment, Http, SettingErrors, Settings, Telemetry};

/// The settings of a service. They contain the sections of every service.
pub trait ServiceSettings: Settings {
    /// The service's name in logs, metrics and the broker's lists.
    const SERVICE: &'static str;
    /// Whether a single thread runs all tasks. Several threads, one per core, wake each other for every single event. At
    /// low rates this costs more than it gains.
    const HAS_ONE_THREAD: bool = true;

    fn sections(&self) -> Sections<'_>;
}

/// The sections of every service. Each service's settings contain them as separate fields. A flattened struct does not
/// work: serde's flattening keeps the text of an environment variable, where a number or a boolean is needed.
#[derive(Clone, Copy, Debug)]
pub struct Sections<'a> {
    pub environment: Environment,
    pub database: &'a Database,
    pub broker: &'a Broker,
    pub http: &'a Http,
    pub telemetry: &'a Telemetry,
}

impl Sections<'_> {
    /// Reports errors in these sections.
    pub fn check(&self, errors: &mut SettingErrors) {
        self.broker.check(errors);
        self.http.check(errors);
        check(self.database, self.telemetry, errors);
    }
}

/// Reports errors in the sections that all commands need.
pub(crate) fn check(database: &Database, telemetry: &Telemetry, errors: &mut SettingErrors) {
    check_database(database, errors);
    check_telemetry(telemetry, errors);
}

pub(crate) fn check_telemetry(telemetry: &Telemetry, errors: &mut SettingErrors) {
    telemetry.check(errors);
    if let Err(error) = telemetry::check_filter(telemetry) {
        errors.add("WAYBILL_TELEMETRY__FILTER", error);
    }
}

/// Reports errors in the section of a command that needs the database alone.
pub fn check_database(database: &Database, errors: &mut SettingErrors) {
    database.check(errors);
    if let Err(error) = postgres::check_url(database) {
        errors.add("WAYBILL_DATABASE__URL", error);
    }
}
