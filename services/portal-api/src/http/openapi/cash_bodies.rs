//! Descriptions of the bodies of calls about cash. Handlers parse them by hand.
#![expect(dead_code, reason = "only described")]

use chrono::NaiveDate;
use utoipa::ToSchema;

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub(crate) struct CreateRemittance {
    /// The bank's reference of the transfer. Each transfer to a business has its own.
    #[schema(max_length = 64)]
    bank_reference: String,
    /// The day of the transfer.
    paid_on: NaiveDate,
    /// A line for each of up to 2,000 orders: its id or reference, the amount in rupees, and a note. Without an amount, what was
    /// handed over. Another amount needs a note. The first line may name the columns: `order,amount,note`.
    csv: String,
}

#[derive(ToSchema)]
pub(crate) struct CheckRemittance {
    /// As of a remittance.
    csv: String,
}

#[derive(ToSchema)]
pub(crate) struct AssignCashDifference {
    /// Who clears the difference.
    #[schema(max_length = 200)]
    owner: Option<String>,
    #[schema(max_length = 500)]
    note: Option<String>,
    /// Why nothing is left to do. Without it, the difference is open.
    #[schema(max_length = 500)]
    resolution: Option<String>,
    /// A closed difference becomes open only with `true`. Otherwise a request without `resolution` gets 409 `difference_closed`.
    reopen: Option<bool>,
}
