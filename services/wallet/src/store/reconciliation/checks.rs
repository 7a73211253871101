//! The rules within the ledger as SQL. Each query returns subject and detail of every violation in the id range after `$1`
//! up to `$2`. They repeat the rules of the triggers (`migrations/`) for stored rows, and add rules across tables. Details
//! contain ids, kinds and amounts, never text that a person wrote.

use crate::domain::Check;

/// A table that is scanned by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LedgerTable {
    Wallets,
    Transfers,
    Debits,
    Cash,
    TopUps,
    Remittances,
}

/// Adds the total number of violations, and a limit.
macro_rules! findings {
    ($sql:literal) => {
        concat!(
            "SELECT subject, detail, count(*) OVER () AS total FROM (",
            $sql,
            ") AS wrong (subject, detail) ORDER BY subject LIMIT $3"
        )
    };
}

macro_rules! end_of_chunk {
    ($table:literal, $id:literal) => {
        concat!(
            "SELECT max(id) AS until, count(*) AS rows FROM (SELECT ",
            $id,
            " AS id FROM ",
            $table,
            " WHERE ",
            $id,
            " > $1 ORDER BY ",
            $id,
            " LIMIT $2) AS chunk"
        )
    };
}

impl LedgerTable {
    pub(super) fn end_of_chunk(self) -> &'static str {
        match self {
            Self::Wallets => end_of_chunk!("wallets", "business_id"),
            Self::Transfers => end_of_chunk!("transfers", "id"),
            Self::Debits => end_of_chunk!("debits", "order_id"),
            Self::Cash => end_of_chunk!("cash", "order_id"),
            Self::TopUps => end_of_chunk!("top_ups", "id"),
            Self::Remittances => end_of_chunk!("remittances", "id"),
        }
    }
}

/// The checks of a table.
pub(crate) fn checks_of(table: LedgerTable) -> &'static [(Check, &'static str)] {
    match table {
        LedgerTable::Wallets => WALLETS,
        LedgerTable::Transfers => TRANSFERS,
        LedgerTable::Debits => DEBITS,
        LedgerTable::Cash => CASH,
        LedgerTable::TopUps => TOP_UPS,
        LedgerTable::Remittances => REMITTANCES,
    }
}

/// Together with [`Check::WalletChainBroken`] this proves that a balance is the sum of its entries, without reading all
/// entries.
const WALLETS: &[(Check, &str)] = &[
    (
        Check::ReceivableOverpaid,
        findings!(
            "SELECT business_id, format('%s paise', sum(amount_paise))
            FROM entries WHERE account = 'business_receivable' AND business_id > $1 AND business_id <= $2
            GROUP BY business_id HAVING sum(amount_paise) > 0"
        ),
    ),
    (
        Check::WalletBalanceWrong,
        findings!(
        "SELECT wallet.business_id, format('%s paise after %s entries; the newest entry, number %s, says %s',
            balance_paise, entry_count, coalesce(newest.sequence, 0), coalesce(newest.balance_after_paise, 0))
        FROM wallets AS wallet
        LEFT JOIN LATERAL (
            SELECT sequence, balance_after_paise FROM entries
            WHERE entries.business_id = wallet.business_id AND sequence IS NOT NULL
            ORDER BY sequence DESC LIMIT 1
        ) AS newest ON TRUE
        WHERE wallet.business_id > $1 AND wallet.business_id <= $2
            AND (balance_paise < 0 OR (entry_count, balance_paise)
                IS DISTINCT FROM (coalesce(newest.sequence, 0), coalesce(newest.balance_after_paise, 0)))"
    ),
    ),
];

const TRANSFERS: &[(Check, &str)] = &[
    (
        Check::TransferUnbalanced,
        findings!(
            "SELECT transfer_id, format('its entries sum to %s paise', sum(amount_paise))
            FROM entries WHERE transfer_id > $1 AND transfer_id <= $2
            GROUP BY transfer_id HAVING sum(amount_paise) <> 0"
        ),
    ),
    (
        Check::TransferWrongAccounts,
        findings!(
            "SELECT transfer.id, format('%s of %s does not have exactly its two entries', kind, transfer.business_id)
            FROM transfers AS transfer
            LEFT JOIN (VALUES
                ('delivery_fee', 'fee_income', 'business_wallet'),
                ('refund', 'business_wallet', 'refunds'),
                ('top_up', 'business_wallet', 'top_up_clearing'),
                ('operator_credit', 'business_wallet', 'operator_credits'),
                ('operator_debit', 'operator_credits', 'business_wallet'),
                ('operator_debit_shortfall', 'operator_credits', 'business_receivable'),
                ('top_up_reversal', 'top_up_clearing', 'business_wallet'),
                ('top_up_reversal_shortfall', 'top_up_clearing', 'business_receivable'),
                ('receivable_payment', 'business_receivable', 'business_wallet'),
                ('cod_collected', 'cod_payable', 'cod_with_drivers'),
                ('cod_handed_over', 'cod_with_drivers', 'cod_with_operator'),
                ('cod_settled', 'cod_with_operator', 'cod_payable')
            ) AS side (kind, into_account, out_of_account) USING (kind)
            LEFT JOIN entries AS into_entry
                ON into_entry.transfer_id = transfer.id AND into_entry.account = into_account
            LEFT JOIN entries AS out_of_entry
                ON out_of_entry.transfer_id = transfer.id AND out_of_entry.account = out_of_account
            WHERE transfer.id > $1 AND transfer.id <= $2
                AND ((into_entry.business_id, into_entry.amount_paise > 0) IS DISTINCT FROM (transfer.business_id, TRUE)
                    OR (out_of_entry.business_id, out_of_entry.amount_paise < 0)
                        IS DISTINCT FROM (transfer.business_id, TRUE)
                    OR (SELECT count(*) FROM entries WHERE transfer_id = transfer.id) <> 2)"
        ),
    ),
    (
        Check::EntryWithoutTransfer,
        findings!(
            "SELECT transfer_id, format('%s entries of %s', count(*), min(business_id))
            FROM entries
            WHERE transfer_id > $1 AND transfer_id <= $2
                AND NOT EXISTS (SELECT FROM transfers WHERE id = transfer_id)
            GROUP BY transfer_id"
        ),
    ),
    (
        Check::WalletChainBroken,
        findings!(
            "SELECT entry.transfer_id, format('entry %s of %s: %s paise, by which %s become %s', entry.sequence,
                entry.business_id, entry.amount_paise, coalesce(previous.balance_after_paise::text, 'none'),
                entry.balance_after_paise)
            FROM entries AS entry
            LEFT JOIN entries AS previous
                ON previous.business_id = entry.business_id AND previous.sequence = entry.sequence - 1
            WHERE entry.transfer_id > $1 AND entry.transfer_id <= $2 AND entry.sequence IS NOT NULL
                AND ((previous.sequence IS NULL) <> (entry.sequence = 1)
                    OR entry.balance_after_paise < 0
                    OR entry.balance_after_paise IS DISTINCT FROM
                        coalesce(previous.balance_after_paise, 0) + entry.amount_paise
                    OR NOT EXISTS (SELECT FROM wallets WHERE wallets.business_id = entry.business_id))"
        ),
    ),
    (
        Check::FeeWithoutDebit,
        findings!(
            "SELECT transfer.id, format('%s of %s: %s paise; its debit: %s of %s', transfer.order_id,
                transfer.business_id, entry.amount_paise, coalesce(debit.amount_paise::text, 'none'),
                debit.business_id)
            FROM transfers AS transfer
            LEFT JOIN entries AS entry ON entry.transfer_id = transfer.id AND entry.account = 'business_wallet'
            LEFT JOIN debits AS debit ON debit.order_id = transfer.order_id AND debit.outcome = 'posted'
                AND debit.transfer_id = transfer.id
            WHERE transfer.id > $1 AND transfer.id <= $2 AND transfer.kind = 'delivery_fee'
                AND (debit.business_id, debit.amount_paise)
                    IS DISTINCT FROM (transfer.business_id, -entry.amount_paise)"
        ),
    ),
    (
        Check::RefundWrong,
        findings!(
            "SELECT refund.id, format('%s of %s: %s paise for %s of %s', refund.order_id, refund.business_id,
                entry.amount_paise, coalesce(fee_entry.amount_paise::text, 'none'), fee.order_id)
            FROM transfers AS refund
            LEFT JOIN entries AS entry ON entry.transfer_id = refund.id AND entry.account = 'business_wallet'
            LEFT JOIN transfers AS fee ON fee.id = refund.reverses AND fee.kind = 'delivery_fee'
            LEFT JOIN entries AS fee_entry ON fee_entry.transfer_id = fee.id AND fee_entry.account = 'business_wallet'
            LEFT JOIN debits AS debit ON debit.order_id = refund.order_id AND debit.outcome = 'posted'
                AND debit.transfer_id = refund.reverses
            WHERE refund.id > $1 AND refund.id <= $2 AND refund.kind = 'refund'
                AND (fee.order_id, fee.business_id, -fee_entry.amount_paise, debit.amount_paise)
                    IS DISTINCT FROM
                    (refund.order_id, refund.business_id, entry.amount_paise, entry.amount_paise)"
        ),
    ),
    (
        Check::RefundRepeated,
        findings!(
            "SELECT refund.id, format('%s of %s is refunded more than once', order_id, business_id)
            FROM transfers AS refund
            WHERE refund.id > $1 AND refund.id <= $2 AND kind = 'refund'
                AND EXISTS (SELECT FROM transfers AS other
                    WHERE other.order_id = refund.order_id AND other.kind = 'refund' AND other.id <> refund.id)"
        ),
    ),
    (
        Check::TopUpWrong,
        findings!(
            "SELECT transfer.id, format('%s of %s: %s paise; the top-up: %s paise, %s', transfer.reference,
                transfer.business_id, entry.amount_paise, coalesce(top_up.amount_paise::text, 'no'), top_up.status)
            FROM transfers AS transfer
            LEFT JOIN entries AS entry ON entry.transfer_id = transfer.id AND entry.account = 'business_wallet'
            LEFT JOIN top_ups AS top_up ON top_up.id = transfer.reference
            WHERE transfer.id > $1 AND transfer.id <= $2 AND transfer.kind = 'top_up'
                AND (top_up.transfer_id, top_up.status, top_up.business_id, top_up.amount_paise)
                    IS DISTINCT FROM (transfer.id, 'succeeded', transfer.business_id, entry.amount_paise)"
        ),
    ),
    (
        Check::CreditRepeated,
        findings!(
            "SELECT credit.id, format('another credit of %s has its reference', business_id)
            FROM transfers AS credit
            WHERE credit.id > $1 AND credit.id <= $2 AND kind = 'operator_credit'
                AND EXISTS (SELECT FROM transfers AS other
                    WHERE other.business_id = credit.business_id AND other.reference = credit.reference
                        AND other.kind = 'operator_credit' AND other.id <> credit.id)"
        ),
    ),
    (
        Check::DebitExceedsDeposit,
        findings!(
            "SELECT debit.id, format('takes back %s of %s paise of %s', taken_back(debit.reverses, debit.business_id),
                received.amount_paise, debit.reverses)
            FROM transfers AS debit
            LEFT JOIN transfers AS deposit ON deposit.id = debit.reverses AND deposit.business_id = debit.business_id
            LEFT JOIN entries AS received
                ON received.transfer_id = deposit.id AND received.account = 'business_wallet'
            WHERE debit.id > $1 AND debit.id <= $2 AND debit.reverses IS NOT NULL AND debit.kind <> 'refund'
                AND (deposit.kind IN ('top_up', 'operator_credit', 'refund')
                    AND taken_back(debit.reverses, debit.business_id) <= received.amount_paise) IS NOT TRUE"
        ),
    ),
    (
        Check::CashWrong,
        findings!(
            "SELECT transfer.id, format('%s of %s of %s: %s paise; reported: %s', transfer.kind, transfer.order_id,
                transfer.business_id, entry.amount_paise, coalesce(reported.amount_paise::text, 'none'))
            FROM transfers AS transfer
            LEFT JOIN entries AS entry ON entry.transfer_id = transfer.id AND entry.amount_paise > 0
            LEFT JOIN cash ON cash.order_id = transfer.order_id
            CROSS JOIN LATERAL (SELECT CASE transfer.kind
                WHEN 'cod_collected' THEN cash.collected_paise
                WHEN 'cod_handed_over' THEN cash.handed_over_paise
                ELSE cash.settled_paise END) AS reported (amount_paise)
            WHERE transfer.id > $1 AND transfer.id <= $2
                AND transfer.kind IN ('cod_collected', 'cod_handed_over', 'cod_settled')
                AND (cash.business_id, reported.amount_paise)
                    IS DISTINCT FROM (transfer.business_id, entry.amount_paise)"
        ),
    ),
];

const DEBITS: &[(Check, &str)] = &[
    (
        Check::DebitRepeated,
        findings!(
            "SELECT order_id, format('%s posted debits of %s paise in total', count(*), sum(amount_paise))
            FROM debits WHERE order_id > $1 AND order_id <= $2 AND outcome = 'posted'
            GROUP BY order_id HAVING count(*) > 1"
        ),
    ),
    (
        Check::DebitWithoutFee,
        findings!(
            "SELECT debit.order_id, format('attempt %s of %s: %s paise; its transfer: %s', debit.attempt,
                debit.business_id, debit.amount_paise, coalesce(entry.amount_paise::text, 'none'))
            FROM debits AS debit
            LEFT JOIN transfers AS fee ON fee.id = debit.transfer_id AND fee.kind = 'delivery_fee'
            LEFT JOIN entries AS entry ON entry.transfer_id = fee.id AND entry.account = 'business_wallet'
            WHERE debit.order_id > $1 AND debit.order_id <= $2 AND debit.outcome = 'posted'
                AND (fee.order_id, fee.business_id, entry.business_id, entry.amount_paise)
                    IS DISTINCT FROM (debit.order_id, debit.business_id, debit.business_id, -debit.amount_paise)"
        ),
    ),
];

/// The reverse of [`Check::CashWrong`], which compares amounts.
const CASH: &[(Check, &str)] = &[(
    Check::CashNotBooked,
    findings!(
        "SELECT cash.order_id, format('%s of %s: %s paise reported, %s transfers', step.kind, cash.business_id,
            coalesce(step.amount_paise::text, 'no'), booked.count)
        FROM cash
        CROSS JOIN LATERAL (VALUES ('cod_collected', collected_paise), ('cod_handed_over', handed_over_paise),
            ('cod_settled', settled_paise)) AS step (kind, amount_paise)
        CROSS JOIN LATERAL (SELECT count(*) FROM transfers
            WHERE transfers.order_id = cash.order_id AND transfers.kind = step.kind
                AND transfers.kind IN ('cod_collected', 'cod_handed_over', 'cod_settled')) AS booked
        WHERE cash.order_id > $1 AND cash.order_id <= $2
            AND booked.count <> (coalesce(step.amount_paise, 0) > 0)::int"
    ),
)];

/// The reverse of [`Check::TopUpWrong`], which compares amounts.
const TOP_UPS: &[(Check, &str)] = &[(
    Check::TopUpNotBooked,
    findings!(
        "SELECT top_up.id, format('%s paise of %s', amount_paise, top_up.business_id)
        FROM top_ups AS top_up
        LEFT JOIN transfers AS transfer ON transfer.id = top_up.transfer_id
        WHERE top_up.id > $1 AND top_up.id <= $2 AND top_up.status = 'succeeded'
            AND (transfer.kind, transfer.reference, transfer.business_id)
                IS DISTINCT FROM ('top_up', top_up.id, top_up.business_id)"
    ),
)];

const REMITTANCES: &[(Check, &str)] = &[(
    Check::RemittanceWrong,
    findings!(
        "SELECT remittance.id, format('%s orders of %s paise of %s; listed: %s of %s paise; booked: %s',
            remittance.order_count, remittance.total_paise, remittance.business_id, found.orders, found.paise, found.booked)
        FROM remittances AS remittance
        CROSS JOIN LATERAL (
            SELECT count(*) AS orders, coalesce(sum(listed.amount_paise), 0) AS paise,
                count(*) FILTER (WHERE entry.amount_paise = listed.amount_paise) AS booked
            FROM remittance_orders AS listed
            LEFT JOIN transfers AS transfer ON transfer.order_id = listed.order_id
                AND transfer.kind IN ('cod_collected', 'cod_handed_over', 'cod_settled')
                AND transfer.kind = 'cod_settled' AND transfer.business_id = listed.business_id
                AND transfer.created_at = remittance.created_at
            LEFT JOIN entries AS entry ON entry.transfer_id = transfer.id AND entry.amount_paise > 0
            WHERE listed.remittance_id = remittance.id AND listed.business_id = remittance.business_id) AS found
        WHERE remittance.id > $1 AND remittance.id <= $2
            AND (found.orders, found.paise, found.booked)
                IS DISTINCT FROM (remittance.order_count, remittance.total_paise, remittance.order_count)"
    ),
)];
