//! The formats of amounts and times in mails and on pages (`WAYBILL_REGION__…`).

use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::SettingErrors;

use crate::domain::Locale;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Region {
    /// The format of amounts and dates: of India, Britain or the United States.
    pub locale: Locale,
    /// The time zone, as an IANA name.
    pub time_zone: String,
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
