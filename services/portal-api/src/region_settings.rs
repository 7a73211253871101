//! How amounts and times are written (`WAYBILL_REGION__…`), in mails and on the portal's pages alike.

use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::SettingErrors;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Region {
    /// How amounts and dates are written: as in India, in Britain or in the United States.
    pub locale: Locale,
    /// The zone of all times, by its IANA name.
    pub time_zone: String,
}

#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema, utoipa::ToSchema,
)]
pub enum Locale {
    /// `₹1,00,000.00`
    #[default]
    #[serde(rename = "en-IN")]
    India,
    #[serde(rename = "en-GB")]
    Britain,
    #[serde(rename = "en-US")]
    UnitedStates,
}

impl Default for Region {
    fn default() -> Self {
        Self { locale: Locale::default(), time_zone: Tz::Asia__Kolkata.name().to_owned() }
    }
}

impl Region {
    pub(crate) fn check(&self, errors: &mut SettingErrors) {
        if self.zone().is_none() {
            errors.add("WAYBILL_REGION__TIME_ZONE", "must be the name of a time zone, such as Asia/Kolkata");
        }
    }

    pub(crate) fn zone(&self) -> Option<Tz> {
        self.time_zone.parse().ok()
    }
}
