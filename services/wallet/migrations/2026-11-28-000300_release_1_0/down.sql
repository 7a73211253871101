DROP TABLE reconciliation_findings, reconciliation_cursors, reconciliation_runs, cash, payment_notices, top_up_reversals, top_ups, debits, entries,
    transfers, wallets;
DROP FUNCTION account_into, account_out_of, taken_back, check_top_up, check_wallet, check_debits, check_transfers, check_entries, check_cash, refuse_rewrite, refuse_change;
