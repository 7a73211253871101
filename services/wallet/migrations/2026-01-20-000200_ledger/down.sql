DROP TABLE top_ups, debits, entries, transfers, wallets;
DROP FUNCTION check_wallet, check_debits, check_transfers, check_entries, refuse_change;
