//! The audit logs as CSV and as JSON Lines.

use actix_web::HttpRequest;
use chrono::{DateTime, SecondsFormat, Utc};
use domain::AuditEntryId;
use internal_api::Page;
use serde::Serialize;
use serde_json::Value;
use web::ApiError;

use crate::audit::domain::{Action, AuditEvent};
use crate::domain::{RegionFormat, csv};
use crate::http::export::{self, File};
use crate::state::State;

/// Entries that an export holds in memory.
pub(crate) const EXPORT_PAGE: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    JsonLines,
}

/// An entry in a file. As JSON, it is the object of the list.
pub(crate) trait ExportedLine: Serialize {
    /// The columns of the CSV file.
    const COLUMNS: &[&str];

    fn id(&self) -> AuditEntryId;

    /// In the order of the columns.
    fn cells(&self, region: RegionFormat) -> Vec<String>;
}

impl Format {
    pub(crate) fn file(
        self,
        owner: &str,
        period: (Option<DateTime<Utc>>, Option<DateTime<Utc>>),
        state: &State,
    ) -> File {
        let (extension, content_type) = match self {
            Self::Csv => ("csv", "text/csv; charset=utf-8"),
            Self::JsonLines => ("jsonl", "application/x-ndjson; charset=utf-8"),
        };
        let today = (state.unit.clock.now(), state.mailbox.region.zone);
        let name = format!("{}.{extension}", export::named(owner, "audit-log", period, today));
        File { name, content_type }
    }

    /// The entry about the export. It names the parameters without their values, which may be e-mail addresses.
    pub(crate) fn event(self, request: &HttpRequest) -> AuditEvent {
        let format = match self {
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
        };
        AuditEvent::new(Action::AuditLogExported)
            .with("format", format)
            .with("filters", export::parameters(request))
    }

    /// The begin of the file.
    pub(crate) fn head<L: ExportedLine>(self) -> Vec<u8> {
        match self {
            Self::Csv => csv::record(L::COLUMNS),
            Self::JsonLines => Vec::new(),
        }
    }

    fn write<L: ExportedLine>(self, lines: &[L], region: RegionFormat) -> Result<Vec<u8>, ApiError> {
        let mut written = Vec::new();
        for line in lines {
            match self {
                Self::Csv => {
                    let cells = line.cells(region);
                    written.extend(csv::record(cells.iter().map(|cell| csv::without_formulas(cell))));
                }
                Self::JsonLines => {
                    let failed = |_| ApiError::internal("an audit log entry cannot be written as JSON");
                    serde_json::to_writer(&mut written, line).map_err(failed)?;
                    written.push(b'\n');
                }
            }
        }
        Ok(written)
    }
}

/// How far an export is.
pub(crate) struct Progress {
    format: Format,
    pub(crate) after: Option<AuditEntryId>,
    pub(crate) is_done: bool,
}

impl Progress {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, after: None, is_done: false }
    }

    /// Writes the rows of a query: one more than the page if more follow. `None`: the last entry was pruned in the meantime,
    /// and so were all older ones.
    pub(crate) fn write<L: ExportedLine>(
        &mut self,
        rows: Option<Vec<L>>,
        region: RegionFormat,
    ) -> Result<Vec<u8>, ApiError> {
        let page = Page::cut(rows.unwrap_or_default(), EXPORT_PAGE);
        self.is_done = !page.has_more;
        self.after = page.data.last().map(ExportedLine::id);
        self.format.write(&page.data, region)
    }
}

/// The format of the JSON field.
pub(crate) fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// An empty object is an empty cell.
pub(crate) fn details(value: &Value) -> String {
    match value.as_object() {
        Some(object) if object.is_empty() => String::new(),
        _ => value.to_string(),
    }
}
