//! The balance of a wallet before and after a period, and what moved in between: in all, or of one kind.

use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::BusinessId;
use postgres::{StoreError, statement};

use super::spend::first_since;
use crate::domain::{LineKind, TransferKind};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatementTotals {
    pub(crate) opening_paise: i64,
    pub(crate) closing_paise: i64,
    pub(crate) moved: Moved,
    /// How much more the business owes.
    pub(crate) owed_paise: i64,
}

/// The sums of the entries of the wanted kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, QueryableByName)]
pub(crate) struct Moved {
    #[diesel(sql_type = BigInt)]
    pub(crate) in_paise: i64,
    /// Negative.
    #[diesel(sql_type = BigInt)]
    pub(crate) out_paise: i64,
    #[diesel(sql_type = BigInt)]
    pub(crate) entries: i64,
}

/// The balance before the period, its change by all entries, and the wanted ones.
#[derive(QueryableByName)]
struct InPeriod {
    #[diesel(sql_type = BigInt)]
    opening_paise: i64,
    #[diesel(sql_type = BigInt)]
    change_paise: i64,
    #[diesel(embed)]
    wanted: Moved,
}

#[derive(QueryableByName)]
struct Owed {
    #[diesel(sql_type = BigInt)]
    owed_paise: i64,
    #[diesel(sql_type = BigInt)]
    lines: i64,
}

/// Entries are nearly sorted by time: `$2` and `$3` bound the range that is read, and the times decide. All entries are wanted,
/// or (`$6`) the fees: what few other transfers leave of all that reduces a wallet. Like `spend::fees`, no entry is joined.
const ALL_OR_FEES: &str = "
    SELECT coalesce((SELECT balance_after_paise FROM entries WHERE business_id = $1 AND sequence = $2 - 1), 0)
            + coalesce(sum(amount_paise) FILTER (WHERE created_at < $4), 0)::bigint AS opening_paise,
        coalesce(sum(amount_paise) FILTER (WHERE created_at >= $4), 0)::bigint AS change_paise,
        coalesce(sum(amount_paise) FILTER (WHERE amount_paise > 0 AND wanted), 0)::bigint AS in_paise,
        coalesce(sum(amount_paise) FILTER (WHERE amount_paise < 0 AND wanted), 0)::bigint AS out_paise,
        count(*) FILTER (WHERE wanted) AS entries
    FROM (
        SELECT created_at, amount_paise, created_at >= $4 AND (NOT $6 OR amount_paise < 0
            AND transfer_id NOT IN (SELECT id FROM transfers WHERE business_id = $1 AND kind <> 'delivery_fee'
                AND kind IN ('operator_debit', 'top_up_reversal', 'receivable_payment'))) AS wanted
        FROM entries
        WHERE business_id = $1 AND sequence IS NOT NULL AND sequence >= $2 AND sequence < $3 AND created_at < $5
    ) AS read";

/// Of another kind, by the index `transfers_beside_fees`: with bounds of the sequence, the database would look up the transfer of
/// each entry of the period. An entry has the time of its transfer.
const OTHERS: &str = "
    SELECT coalesce(sum(amount_paise) FILTER (WHERE amount_paise > 0), 0)::bigint AS in_paise,
        coalesce(sum(amount_paise) FILTER (WHERE amount_paise < 0), 0)::bigint AS out_paise, count(*) AS entries
    FROM transfers
    JOIN entries ON entries.transfer_id = transfers.id AND entries.business_id = transfers.business_id
        AND entries.account = 'business_wallet'
    WHERE transfers.business_id = $1 AND transfers.kind <> 'delivery_fee' AND transfers.kind = $4
        AND transfers.created_at >= $2 - interval '1 minute' AND transfers.created_at < $3 + interval '1 minute'
        AND entries.created_at >= $2 AND entries.created_at < $3";

/// By the index `entries_of_receivables`: debts are rare.
const OWED: &str = "
    SELECT coalesce(-sum(entries.amount_paise), 0)::bigint AS owed_paise, count(*) AS lines
    FROM entries
    JOIN transfers ON transfers.id = entries.transfer_id AND transfers.business_id = entries.business_id
    WHERE entries.business_id = $1 AND entries.account = 'business_receivable'
        AND entries.created_at >= $2 AND entries.created_at < $3 AND ($4 IS NULL OR transfers.kind = $4)";

/// Longer than a transaction takes, twice: the search for an entry allows for one minute.
const MARGIN: TimeDelta = TimeDelta::minutes(2);

/// The sequence numbers of the entries from `since` up to `until`, and of some next to them. `None` without a wallet.
pub(super) async fn sequences(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    (since, until): (Option<DateTime<Utc>>, Option<DateTime<Utc>>),
) -> Result<Option<Range<i64>>, StoreError> {
    let start = match since {
        Some(since) => first_since(conn, business, since).await?,
        None => Some(0),
    };
    let Some(start) = start else { return Ok(None) };
    let end = match until {
        Some(until) => first_since(conn, business, until.checked_add_signed(MARGIN).unwrap_or(until)).await?,
        None => None,
    };
    Ok(Some(start..end.unwrap_or(i64::MAX)))
}

/// The totals of the lines from `since` up to `until`, which are zero without a wallet. The balances are those of the wallet also
/// with a kind.
pub(crate) async fn of_period(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    (since, until): (DateTime<Utc>, DateTime<Utc>),
    kind: Option<LineKind>,
) -> Result<StatementTotals, StoreError> {
    let Some(Range { start, end }) = sequences(conn, business, (Some(since), Some(until))).await? else {
        return Ok(StatementTotals::default());
    };
    let fees = kind == Some(LineKind::Moved(TransferKind::DeliveryFee));
    let InPeriod { opening_paise, change_paise, wanted } = statement(ALL_OR_FEES)
        .bind::<Text, _>(business.to_string())
        .bind::<BigInt, _>(start)
        .bind::<BigInt, _>(end)
        .bind::<Timestamptz, _>(since)
        .bind::<Timestamptz, _>(until)
        .bind::<Bool, _>(fees)
        .get_result(conn)
        .await?;
    let Owed { owed_paise, lines } = statement(OWED)
        .bind::<Text, _>(business.to_string())
        .bind::<Timestamptz, _>(since)
        .bind::<Timestamptz, _>(until)
        .bind::<Nullable<Text>, _>(kind.map(LineKind::as_str))
        .get_result(conn)
        .await?;
    let moved = match kind {
        // A debt has no entry in the wallet.
        Some(LineKind::Owed(_)) => Moved { entries: lines, ..Moved::default() },
        Some(LineKind::Moved(kind)) if !fees => of_other_kind(conn, business, (since, until), kind).await?,
        _ => wanted,
    };
    let closing_paise = opening_paise
        .checked_add(change_paise)
        .ok_or_else(|| StoreError::Corrupt("the sums of a wallet overflow".to_owned()))?;
    Ok(StatementTotals { opening_paise, closing_paise, moved, owed_paise })
}

async fn of_other_kind(
    conn: &mut AsyncPgConnection,
    business: BusinessId,
    (since, until): (DateTime<Utc>, DateTime<Utc>),
    kind: TransferKind,
) -> Result<Moved, StoreError> {
    Ok(statement(OTHERS)
        .bind::<Text, _>(business.to_string())
        .bind::<Timestamptz, _>(since)
        .bind::<Timestamptz, _>(until)
        .bind::<Text, _>(kind.as_str())
        .get_result(conn)
        .await?)
}
