//! The invariants of the ledger (SPECIFICATION §14.1-2) as SQL.

use crate::harness::Harness;

/// Each query counts violations.
const VIOLATIONS: [(&str, &str); 6] = [
    (
        "transfers that do not sum to zero or do not have two entries",
        "SELECT count(*) FROM (SELECT FROM transfers LEFT JOIN entries ON transfer_id = id GROUP BY id
            HAVING coalesce(sum(amount_paise), 1) <> 0 OR count(account) <> 2) AS wrong",
    ),
    ("entries without a transfer", "SELECT count(*) FROM entries WHERE transfer_id NOT IN (SELECT id FROM transfers)"),
    (
        "wallets unlike the sum of their entries, or with gaps",
        "SELECT count(*) FROM (SELECT FROM wallets LEFT JOIN entries
                ON entries.business_id = wallets.business_id AND account = 'business_wallet'
            GROUP BY wallets.business_id
            HAVING balance_paise <> coalesce(sum(amount_paise), 0) OR balance_paise < 0
                OR entry_count <> count(account) OR entry_count <> coalesce(max(sequence), 0)) AS wrong",
    ),
    (
        "running balances that do not run",
        "SELECT count(*) FROM (SELECT balance_after_paise, sum(amount_paise)
                OVER (PARTITION BY business_id ORDER BY sequence) AS running
            FROM entries WHERE account = 'business_wallet') AS line WHERE running <> balance_after_paise",
    ),
    (
        "orders that paid more than once",
        "SELECT count(*) FROM (SELECT FROM transfers WHERE kind = 'delivery_fee' GROUP BY order_id
            HAVING count(*) > 1) AS wrong",
    ),
    (
        "fees without a posted debit of the same amount, or the reverse",
        "SELECT count(*) FROM (SELECT transfer_id, order_id, -amount_paise AS amount FROM entries
                JOIN transfers ON id = transfer_id WHERE kind = 'delivery_fee' AND account = 'business_wallet') AS fee
            FULL JOIN (SELECT * FROM debits WHERE outcome = 'posted') AS debit USING (transfer_id)
            WHERE (fee.order_id, fee.amount) IS DISTINCT FROM (debit.order_id, debit.amount_paise)",
    ),
];

/// Fails if the ledger violates an invariant.
pub(crate) async fn assert_consistent(harness: &Harness) {
    for (violation, query) in VIOLATIONS {
        assert_eq!(harness.number(query).await, 0, "{violation}");
    }
}
