//! An export: a file with orders or cash of a business.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{BusinessId, ExportId};
use identity::Realm;
use serde::Serialize;
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::domain::{OperatorPermission, Permission};

/// A file may contain customers' data, so that it is not kept longer.
pub(crate) const KEPT_FOR: TimeDelta = TimeDelta::hours(24);
/// A sheet of a spreadsheet has 1,048,576.
pub(crate) const ROWS_MAX: i64 = 1_000_000;
/// Its author waits for a smaller file, and needs no mail.
pub(crate) const MAILED_ABOVE_ROWS: i64 = 10_000;
pub(crate) const ATTEMPTS_MAX: i32 = 5;
/// The filters with values that name no customer.
const SHOWN_FILTERS: [&str; 7] =
    ["mode", "status", "codStatus", "paymentType", "late", "discrepant", "differs"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ExportKind {
    Orders,
    /// Cash on delivery.
    Cash,
}

impl ExportKind {
    /// What a user needs to fetch the file: the permission to read the list.
    pub(crate) fn permission(self) -> Permission {
        match self {
            Self::Orders => Permission::ReadOrders,
            Self::Cash => Permission::ReadMoney,
        }
    }

    /// As [`ExportKind::permission`], of the staff.
    pub(crate) fn operator_permission(self) -> OperatorPermission {
        match self {
            Self::Orders => OperatorPermission::ReadOrders,
            Self::Cash => OperatorPermission::ReadCash,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ExportFormat {
    Csv,
    Xlsx,
}

impl ExportFormat {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ExportState {
    Waiting,
    Running,
    Done,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ExportFailure {
    /// More than a million.
    TooManyRows,
    /// A sheet of almost 4 GiB.
    TooLarge,
    /// The owner of the data refused the filter in five attempts.
    Refused,
    /// A service did not answer in five attempts.
    Unavailable,
}

#[derive(Clone, Debug)]
pub(crate) struct Export {
    pub(crate) id: ExportId,
    pub(crate) business: BusinessId,
    pub(crate) realm: Realm,
    /// [`crate::audit::domain::Author::key`]
    pub(crate) author: String,
    pub(crate) kind: ExportKind,
    pub(crate) format: ExportFormat,
    /// The query of the list, as JSON.
    pub(crate) filter: Value,
    /// Whether the file has customers' phones and addresses.
    pub(crate) shows_customers: bool,
    pub(crate) state: ExportState,
    pub(crate) failure: Option<ExportFailure>,
    /// Including the current one.
    pub(crate) attempts: i32,
    pub(crate) progress: Progress,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) completed_at: Option<DateTime<Utc>>,
    pub(crate) expires_at: DateTime<Utc>,
}

impl Export {
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.state, ExportState::Done | ExportState::Failed)
    }

    /// The times of the filter: orders are placed within them, and cash is due. The end is exclusive.
    pub(crate) fn period(&self) -> (Option<DateTime<Utc>>, Option<DateTime<Utc>>) {
        period(self.kind, &self.filter)
    }

    /// The other filters, without what was searched: it may be a phone.
    pub(crate) fn shown_filters(&self) -> BTreeMap<String, String> {
        shown_filters(&self.filter)
    }

    pub(crate) fn is_of_search(&self) -> bool {
        self.filter["search"].is_string()
    }
}

fn shown_filters(filter: &Value) -> BTreeMap<String, String> {
    let shown = |name: &str| {
        let value = filter[name].as_str().filter(|value| *value != "false")?;
        Some((name.to_owned(), value.to_owned()))
    };
    SHOWN_FILTERS.into_iter().filter_map(shown).collect()
}

fn period(kind: ExportKind, filter: &Value) -> (Option<DateTime<Utc>>, Option<DateTime<Utc>>) {
    let time = |name: &str| filter[name].as_str()?.parse::<DateTime<Utc>>().ok();
    match kind {
        ExportKind::Orders => (time("createdFrom"), time("createdUntil")),
        ExportKind::Cash => (time("dueFrom"), time("dueUntil")),
    }
}

/// How much of the file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) rows: i64,
    pub(crate) percent: i32,
    pub(crate) chunks: i32,
}

/// Whose exports are meant.
#[derive(Clone, Debug)]
pub(crate) struct ExportScope {
    pub(crate) realm: Realm,
    /// `None`: of all businesses, for the staff.
    pub(crate) business: Option<BusinessId>,
    /// `None`: of all users of the business, for its owners.
    pub(crate) author: Option<String>,
}

/// How much of a list, newest first, precedes the row of this time: the number of rows is not known before the end.
pub(crate) fn percent(newest: DateTime<Utc>, oldest: DateTime<Utc>, at: DateTime<Utc>) -> i32 {
    let (all, written) = ((newest - oldest).num_milliseconds(), (newest - at).num_milliseconds());
    if all <= 0 {
        return 0;
    }
    i32::try_from(written.clamp(0, all).saturating_mul(100) / all).unwrap_or_default().min(99)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_period_is_that_of_the_kind() {
        let (from, until) = ("2026-10-31T18:30:00Z", "2026-11-30T18:30:00Z");
        let at = |text: &str| text.parse::<DateTime<Utc>>().ok();
        for (kind, filter, expected) in [
            (
                ExportKind::Orders,
                json!({ "createdFrom": from, "createdUntil": until }),
                (at(from), at(until)),
            ),
            (ExportKind::Orders, json!({ "createdFrom": null, "createdUntil": until }), (None, at(until))),
            (ExportKind::Orders, json!({ "dueFrom": from, "status": "failed" }), (None, None)),
            (ExportKind::Cash, json!({ "dueFrom": from, "createdUntil": until }), (at(from), None)),
            (ExportKind::Cash, json!({ "dueFrom": "yesterday" }), (None, None)),
        ] {
            assert_eq!(period(kind, &filter), expected, "{filter}");
        }
    }

    #[test]
    fn filters_are_shown_without_what_was_searched() {
        let filter = json!({ "mode": "test", "status": null, "search": "+919876543210", "seesPhones": true, "limit": 1 });
        assert_eq!(shown_filters(&filter), BTreeMap::from([("mode".to_owned(), "test".to_owned())]));
    }

    #[test]
    fn the_percentage_follows_the_time_of_the_rows_and_ends_at_99() {
        let at = |second| DateTime::from_timestamp(second, 0).unwrap();
        for (newest, oldest, row, expected) in [
            (1_000, 0, 1_000, 0),
            (1_000, 0, 750, 25),
            (1_000, 0, 0, 99),
            (1_000, 500, 0, 99),
            (1_000, 500, 2_000, 0),
            (500, 500, 500, 0),
            (0, 500, 100, 0),
        ] {
            assert_eq!(percent(at(newest), at(oldest), at(row)), expected, "{newest} {oldest} {row}");
        }
    }
}
