//! What the chassis reads of a service's settings.

use settings::{Broker, Database, Environment, Faults, Http, Settings, Telemetry};

/// The settings of a service, which have the sections that every service has.
pub trait ServiceSettings: Settings {
    /// The service's name, in its logs and metrics and in the listings of the broker.
    const SERVICE: &'static str;
    /// The commands that only this service has, beside those that each has. Its `main` looks for them first.
    const COMMANDS: &'static [&'static str] = &[];

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
    pub fn check(&self, faults: &mut Faults) {
        self.broker.check(faults);
        check(self.database, self.telemetry, faults);
    }
}

/// Names what is wrong with sections that are not for serving alone.
pub(crate) fn check(database: &Database, telemetry: &Telemetry, faults: &mut Faults) {
    database.check(faults);
    if let Err(fault) = postgres::check_url(database) {
        faults.add("WAYBILL_DATABASE__URL", fault);
    }
    telemetry.check(faults);
    if let Err(fault) = telemetry::check_filter(telemetry) {
        faults.add("WAYBILL_TELEMETRY__FILTER", fault);
    }
}
