//! How long sessions last (`WAYBILL_SESSIONS__…`).

use chrono::TimeDelta;
use identity::sessions::Lifetimes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::SettingErrors;

/// A session ends after the idle time without a call, and after the longest time even when in use. A shorter setting also ends
/// open sessions.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Sessions {
    /// How many minutes without a call end a session of a user.
    #[schemars(range(min = 5, max = 43_200))]
    pub user_idle_minutes: u32,
    /// After how many minutes a session of a user ends even when in use. The default is 30 days.
    #[schemars(range(min = 5, max = 525_600))]
    pub user_max_minutes: u32,
    /// How many minutes without a call end a session of the console. Equal to `WAYBILL_SESSIONS__STAFF_MAX_MINUTES`: no idle limit.
    #[schemars(range(min = 5, max = 43_200))]
    pub staff_idle_minutes: u32,
    /// After how many minutes a session of the console ends even when in use.
    #[schemars(range(min = 5, max = 43_200))]
    pub staff_max_minutes: u32,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            user_idle_minutes: 12 * 60,
            user_max_minutes: 30 * 24 * 60,
            // As NIST SP 800-63B recommends for AAL2.
            staff_idle_minutes: 60,
            staff_max_minutes: 12 * 60,
        }
    }
}

impl Sessions {
    const LEAST: u32 = 5;
    const MONTH: u32 = 43_200;
    const YEAR: u32 = 525_600;

    pub(crate) fn of_users(&self) -> Lifetimes {
        lifetimes(self.user_idle_minutes, self.user_max_minutes)
    }

    pub(crate) fn of_console(&self) -> Lifetimes {
        lifetimes(self.staff_idle_minutes, self.staff_max_minutes)
    }

    pub(super) fn check(&self, errors: &mut SettingErrors) {
        for (name, minutes, most) in [
            ("WAYBILL_SESSIONS__USER_IDLE_MINUTES", self.user_idle_minutes, Self::MONTH),
            ("WAYBILL_SESSIONS__USER_MAX_MINUTES", self.user_max_minutes, Self::YEAR),
            ("WAYBILL_SESSIONS__STAFF_IDLE_MINUTES", self.staff_idle_minutes, Self::MONTH),
            ("WAYBILL_SESSIONS__STAFF_MAX_MINUTES", self.staff_max_minutes, Self::MONTH),
        ] {
            if !(Self::LEAST..=most).contains(&minutes) {
                errors.add(name, format!("must be between {} and {most}", Self::LEAST));
            }
        }
        for (name, idle, max, of) in [
            ("WAYBILL_SESSIONS__USER_IDLE_MINUTES", self.user_idle_minutes, self.user_max_minutes, "USER"),
            (
                "WAYBILL_SESSIONS__STAFF_IDLE_MINUTES",
                self.staff_idle_minutes,
                self.staff_max_minutes,
                "STAFF",
            ),
        ] {
            if idle > max {
                errors.add(name, format!("must not be more than WAYBILL_SESSIONS__{of}_MAX_MINUTES"));
            }
        }
    }
}

fn lifetimes(idle: u32, max: u32) -> Lifetimes {
    Lifetimes { idle: TimeDelta::minutes(idle.into()), max: TimeDelta::minutes(max.into()) }
}
