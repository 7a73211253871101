//! An export, in responses.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use domain::{BusinessId, ExportId};
use serde::Serialize;
use web::ApiError;

use crate::business::queries::businesses;
use crate::exports::domain::{Export, ExportFailure, ExportFormat, ExportKind, ExportState};
use crate::exports::routes::caller::ExportCaller;
use crate::http::export;
use crate::state::State;

#[derive(Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportView {
    id: ExportId,
    business_id: BusinessId,
    business_name: String,
    kind: ExportKind,
    format: ExportFormat,
    state: ExportState,
    /// Written so far.
    rows: i64,
    /// An estimate, by the time of the rows. 100 once the file is complete.
    percent: i32,
    /// Whether the file has customers' phones and addresses. It needs `read_customers` then.
    shows_customers: bool,
    /// The period of the filter: only orders placed, or cash due, at this time or later.
    since: Option<DateTime<Utc>>,
    /// Exclusive end of the period.
    until: Option<DateTime<Utc>>,
    /// The other filters by their names, without a search.
    filters: BTreeMap<String, String>,
    /// Whether it has only what a search found. The text is not told: it may be a phone.
    of_search: bool,
    /// Whether the caller asked for it.
    yours: bool,
    /// Of a failed export.
    failure: Option<ExportFailure>,
    created_at: DateTime<Utc>,
    completed_at: Option<DateTime<Utc>>,
    /// The export and its file are deleted then.
    expires_at: DateTime<Utc>,
}

impl ExportView {
    pub(super) fn file_name(&self, state: &State) -> String {
        let owner = export::owner(self.business_id, &self.business_name);
        let requested = (self.created_at, state.mailbox.region.zone);
        let period = (self.since, self.until);
        format!("{}.{}", export::named(&owner, &self.kind.to_string(), period, requested), self.format)
    }
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct ExportsView {
    data: Vec<ExportView>,
}

pub(super) async fn view(
    state: &State,
    caller: &ExportCaller,
    exports: Vec<Export>,
) -> Result<ExportsView, ApiError> {
    let ids: Vec<BusinessId> = exports.iter().map(|export| export.business).collect();
    let names: HashMap<BusinessId, String> = businesses::names(state, &ids).await?.into_iter().collect();
    let own = caller.author.key();
    let view = |export: Export| {
        let (since, until) = export.period();
        ExportView {
            id: export.id,
            business_id: export.business,
            business_name: names.get(&export.business).cloned().unwrap_or_default(),
            kind: export.kind,
            format: export.format,
            state: export.state,
            rows: export.progress.rows,
            percent: export.progress.percent,
            shows_customers: export.shows_customers,
            since,
            until,
            filters: export.shown_filters(),
            of_search: export.is_of_search(),
            yours: export.author == own,
            failure: export.failure,
            created_at: export.created_at,
            completed_at: export.completed_at,
            expires_at: export.expires_at,
        }
    };
    Ok(ExportsView { data: exports.into_iter().map(view).collect() })
}

pub(super) async fn view_of_one(
    state: &State,
    caller: &ExportCaller,
    export: Export,
) -> Result<ExportView, ApiError> {
    let mut listed = view(state, caller, vec![export]).await?;
    listed.data.pop().ok_or_else(|| ApiError::internal("an export has no view"))
}
