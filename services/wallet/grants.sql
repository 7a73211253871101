-- The rights of the role that `wallet serve` runs as, where another role owns the tables and migrates. After every.sql of
-- crates/postgres.
--
-- What is only ever added to can only be added to; elsewhere the service changes what changes, and nothing else. Triggers,
-- constraints and tables are the owner's alone. Every table needs SELECT: `serve` waits until its role may read them all.
GRANT SELECT, INSERT ON wallets, transfers, entries, debits, top_ups, payment_notices, top_up_reversals, cash TO :"service";
GRANT UPDATE (balance_paise, entry_count, low_balance_threshold_paise, funded_at) ON wallets TO :"service";
GRANT UPDATE (provider_reference, payment_reference, idempotency_key, status, transfer_id, settled_at, next_check_at)
    ON top_ups TO :"service";
GRANT UPDATE (expected_paise, delivered_at, collected_paise, collected_at, handed_over_paise, handed_over_at, settled_paise,
    settled_at) ON cash TO :"service";
GRANT SELECT, UPDATE ON reconciliation_runs TO :"service";
GRANT SELECT, INSERT, UPDATE, DELETE ON reconciliation_cursors, reconciliation_findings, outbox_messages, inbox TO :"service";
GRANT SELECT, INSERT ON remittances, remittance_orders, cash_differences TO :"service";
GRANT UPDATE (reported_paise, owner, note, resolution, updated_at) ON cash_differences TO :"service";
GRANT SELECT, INSERT, DELETE ON cash_sums TO :"service";
-- Triggers with their owner's rights insert.
GRANT SELECT, DELETE ON cash_sums_outdated TO :"service";
