//! Closing a business (`WAYBILL_CLOSING__…`).

use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::SettingErrors;

/// What happens to the data of closed businesses.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Closing {
    /// How many days after its closing the books of a business are kept. In India, eight financial years that follow the one of the
    /// closing (Companies Act 2013, section 128(5)): nine years cover them, whatever the day.
    #[schemars(range(min = 30, max = 36_500))]
    pub books_days: u32,
}

impl Default for Closing {
    fn default() -> Self {
        // Nine years with three leap days.
        Self { books_days: 3_288 }
    }
}

impl Closing {
    const LEAST: u32 = 30;
    const MOST: u32 = 36_500;

    pub(crate) fn books_kept(&self) -> TimeDelta {
        TimeDelta::days(self.books_days.into())
    }

    pub(super) fn check(&self, errors: &mut SettingErrors) {
        if !(Self::LEAST..=Self::MOST).contains(&self.books_days) {
            errors.add(
                "WAYBILL_CLOSING__BOOKS_DAYS",
                format!("must be between {} and {}", Self::LEAST, Self::MOST),
            );
        }
    }
}
