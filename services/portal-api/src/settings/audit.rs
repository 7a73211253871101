//! How long the audit logs are kept (`WAYBILL_AUDIT__…`).

use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::SettingErrors;

use crate::audit::domain::AuditRetention;

/// Older entries are deleted in batches. `0` keeps them forever.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Audit {
    /// How many days the audit logs of businesses are kept; `0`: forever.
    #[schemars(range(min = 0, max = 36_500))]
    pub business_days: u32,
    /// How many days the operator's audit log and its decided requests for approval are kept; `0`: forever.
    #[schemars(range(min = 0, max = 36_500))]
    pub operator_days: u32,
}

impl Default for Audit {
    fn default() -> Self {
        Self { business_days: 400, operator_days: 400 }
    }
}

impl Audit {
    /// A shorter time would delete entries before anybody reads them.
    const LEAST: u32 = 30;
    const MOST: u32 = 36_500;

    pub(crate) fn retention(&self) -> AuditRetention {
        AuditRetention { of_businesses: kept(self.business_days), of_operator: kept(self.operator_days) }
    }

    pub(super) fn check(&self, errors: &mut SettingErrors) {
        for (name, days) in [
            ("WAYBILL_AUDIT__BUSINESS_DAYS", self.business_days),
            ("WAYBILL_AUDIT__OPERATOR_DAYS", self.operator_days),
        ] {
            if days != 0 && !(Self::LEAST..=Self::MOST).contains(&days) {
                errors.add(name, format!("must be 0, or between {} and {}", Self::LEAST, Self::MOST));
            }
        }
    }
}

fn kept(days: u32) -> Option<TimeDelta> {
    (days > 0).then(|| TimeDelta::days(days.into()))
}
