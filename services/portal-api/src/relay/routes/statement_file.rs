//! The statement of a wallet as a file: CSV, for programs too, or a workbook (XLSX).

use std::io;

use actix_web::HttpResponse;
use actix_web::web::Data;
use chrono::{DateTime, SecondsFormat, Utc};
use domain::{BusinessId, OrderId, is_attempt_fee_reference};
use internal_api::CallError;
use internal_api::wallet::{EntriesQuery, EntryView, TakesBackView};
use web::ApiError;

use crate::domain::{RegionFormat, csv};
use crate::exports::domain::{Cell, ExportFormat};
use crate::exports::writer::{SHEET_ROWS_MAX, Writer};
use crate::http::export::{self, File};
use crate::state::{ExportSlot, State};

/// Entries that a file holds in memory.
const PAGE: usize = 100;

/// Of CSV: the names of the JSON fields, then the same for people: the time in the operator's time zone, the kind in words, and
/// amounts in rupees. Later fields follow, because programs know columns by their position.
const CSV_COLUMNS: [&str; 20] = [
    "id",
    "createdAt",
    "kind",
    "amountPaise",
    "balanceAfterPaise",
    "orderId",
    "orderReference",
    "reference",
    "transferId",
    "reverses",
    "owedPaise",
    "reason",
    "createdAtLocal",
    "kindLabel",
    "amountRupees",
    "owedRupees",
    "balanceAfterRupees",
    "takesBack",
    "leftPaise",
    "leftRupees",
];

/// Of the workbook, which is for people.
const SHEET_COLUMNS: [&str; 13] = [
    "Entry",
    "Time ({zone})",
    "Kind",
    "Amount (INR)",
    "Owed (INR)",
    "Balance after (INR)",
    "Order",
    "Order reference",
    "Reference",
    "Reason",
    "Takes back",
    "Left (INR)",
    "Transfer",
];

/// Sends all entries of the query, newest first; none without a query.
pub(super) async fn send(
    (state, slot): (Data<State>, ExportSlot),
    (business, business_name): (BusinessId, &str),
    format: ExportFormat,
    query: Option<EntriesQuery>,
) -> Result<HttpResponse, ApiError> {
    let time = |text: Option<&str>| text?.parse::<DateTime<Utc>>().ok();
    let period = query.as_ref().map(|query| (time(query.since.as_deref()), time(query.until.as_deref())));
    let (now, region) = (state.unit.clock.now(), state.mailbox.region);
    let owner = export::owner(business, business_name);
    let name = export::named(&owner, "statement", period.unwrap_or_default(), (now, region.zone));
    let file = File { name: format!("{name}.{format}"), content_type: format.content_type() };
    let statement = Statement { business, query };
    match format {
        ExportFormat::Csv => export::send((state, slot), &file, csv::record(CSV_COLUMNS), statement).await,
        ExportFormat::Xlsx => {
            let columns = region.columns(&SHEET_COLUMNS, now);
            let writer = Writer::begin(format, &columns, region).map_err(unwritable)?;
            let workbook = Workbook { statement, writer: Some(writer) };
            export::send((state, slot), &file, Vec::new(), workbook).await
        }
    }
}

fn unwritable(error: io::Error) -> ApiError {
    match error.kind() {
        io::ErrorKind::FileTooLarge => too_long(),
        _ => ApiError::internal(format!("the statement cannot be written: {error}")),
    }
}

fn too_long() -> ApiError {
    let message = "A workbook has at most 1,048,575 entries. Choose a shorter period, or CSV.";
    ApiError::invalid_field("since", "out_of_range", message)
}

/// Adds the order references.
pub(super) async fn add_references(
    state: &State,
    business: BusinessId,
    entries: &mut [EntryView],
) -> Result<(), CallError> {
    let mut orders: Vec<OrderId> = entries.iter().filter_map(|entry| entry.order_id).collect();
    orders.sort_unstable();
    orders.dedup();
    if orders.is_empty() {
        return Ok(());
    }
    let known = state.peers.orders.references(business, &orders).await?;
    for entry in entries {
        let found = known.iter().find(|known| Some(known.id) == entry.order_id);
        entry.order_reference = found.map(|known| known.order_reference.clone());
    }
    Ok(())
}

/// The statement of a business.
struct Statement {
    business: BusinessId,
    /// The query of the next page; `None` at the end.
    query: Option<EntriesQuery>,
}

impl Statement {
    /// The next page. `None` at the end.
    async fn page(&mut self, state: &State) -> Result<Option<Vec<EntryView>>, ApiError> {
        let Some(mut query) = self.query.take() else { return Ok(None) };
        query.limit = Some(PAGE);
        let mut page = state.peers.wallet.entries(self.business, &query).await?;
        add_references(state, self.business, &mut page.data).await?;
        if page.has_more
            && let Some(last) = page.data.last()
        {
            self.query = Some(EntriesQuery { starting_after: Some(last.id.clone()), ..query });
        }
        Ok(Some(page.data))
    }
}

impl export::Pages for Statement {
    async fn next(&mut self, state: &State) -> Result<Option<Vec<u8>>, ApiError> {
        let region = state.mailbox.region;
        let page = self.page(state).await?;
        Ok(page.map(|entries| entries.iter().flat_map(|entry| csv_record(entry, region)).collect()))
    }
}

/// The statement as a workbook.
struct Workbook {
    statement: Statement,
    /// `None` at the end.
    writer: Option<Writer>,
}

impl export::Pages for Workbook {
    /// A statement of unknown length that fills the sheet ends as an incomplete file.
    async fn next(&mut self, state: &State) -> Result<Option<Vec<u8>>, ApiError> {
        let Some(mut writer) = self.writer.take() else { return Ok(None) };
        let has_all_before =
            self.statement.query.as_ref().is_some_and(|query| {
                query.kind.is_none() && query.since.is_none() && query.order_id.is_none()
            });
        let Some(entries) = self.statement.page(state).await? else {
            return writer.finish().map(Some).map_err(unwritable);
        };
        // Entries are numbered without gaps, so the first page shows how many follow.
        let newest = entries.iter().find_map(|entry| entry.id.parse::<u64>().ok());
        if has_all_before && newest.is_some_and(|newest| newest >= u64::from(SHEET_ROWS_MAX)) {
            return Err(too_long());
        }
        entries.iter().try_for_each(|entry| writer.row(&cells(entry))).map_err(unwritable)?;
        let written = writer.take();
        self.writer = Some(writer);
        Ok(Some(written))
    }
}

/// In the order of [`SHEET_COLUMNS`].
fn cells(entry: &EntryView) -> Vec<Cell> {
    vec![
        entry.id.as_str().into(),
        entry.created_at.into(),
        label_of(entry).into(),
        entry.amount_paise.into(),
        entry.owed_paise.into(),
        entry.balance_after_paise.into(),
        entry.order_id.map(|order| order.to_string()).into(),
        entry.order_reference.as_deref().into(),
        entry.reference.as_deref().into(),
        entry.reason.as_deref().into(),
        entry.takes_back.as_ref().map(taken_back).into(),
        entry.left_paise.into(),
        entry.transfer_id.to_string().into(),
    ]
}

fn csv_record(entry: &EntryView, region: RegionFormat) -> Vec<u8> {
    let written = [
        entry.id.clone(),
        // The format of the JSON field.
        entry.created_at.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        entry.kind.clone(),
        entry.amount_paise.get().to_string(),
        entry.balance_after_paise.get().to_string(),
        entry.order_id.map(|order| order.to_string()).unwrap_or_default(),
        csv::without_formulas(entry.order_reference.as_deref().unwrap_or_default()),
        csv::without_formulas(entry.reference.as_deref().unwrap_or_default()),
        entry.transfer_id.to_string(),
        entry.reverses.map(|transfer| transfer.to_string()).unwrap_or_default(),
        entry.owed_paise.get().to_string(),
        csv::without_formulas(entry.reason.as_deref().unwrap_or_default()),
        region.spreadsheet_time(entry.created_at),
        label_of(entry).to_owned(),
        csv::rupees(entry.amount_paise),
        csv::rupees(entry.owed_paise),
        csv::rupees(entry.balance_after_paise),
        csv::without_formulas(&entry.takes_back.as_ref().map(taken_back).unwrap_or_default()),
        entry.left_paise.map(|left| left.get().to_string()).unwrap_or_default(),
        entry.left_paise.map(csv::rupees).unwrap_or_default(),
    ];
    csv::record(written)
}

/// What a debit takes back: its kind, and its order or its reference.
fn taken_back(deposit: &TakesBackView) -> String {
    let of = deposit.order_id.map(|order| order.to_string()).or_else(|| deposit.reference.clone());
    format!("{} {}", label(&deposit.kind), of.unwrap_or_default()).trim_end().to_owned()
}

/// The words of the pages (`entry-labels.ts`).
fn label_of(entry: &EntryView) -> &str {
    let is_attempt_fee = entry.reference.as_deref().is_some_and(is_attempt_fee_reference);
    match entry.kind.as_str() {
        "operator_debit" if is_attempt_fee => "Fee of another attempt",
        "operator_debit_shortfall" if is_attempt_fee => "Debt: fee of another attempt",
        kind => label(kind),
    }
}

fn label(kind: &str) -> &str {
    match kind {
        "delivery_fee" => "Delivery fee",
        "refund" => "Refund",
        "top_up" => "Top-up",
        "operator_credit" => "Credit",
        "operator_debit" => "Debit",
        "operator_debit_shortfall" => "Debt: debit by the delivery company",
        "top_up_reversal" => "Top-up taken back",
        "top_up_reversal_shortfall" => "Debt: top-up refunded or charged back",
        "receivable_payment" => "Payment of a debt",
        other => other,
    }
}
