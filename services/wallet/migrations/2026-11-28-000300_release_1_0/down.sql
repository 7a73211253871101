DROP TABLE reconciliation_findings, reconciliation_cursors, reconciliation_runs, cash, payment_notices, top_ups, debits, entries,
    transfers, wallets;
DROP FUNCTION check_top_up, check_wallet, check_debits, check_transfers, check_entries, check_cash, refuse_rewrite, refuse_change;
