GRANT UPDATE, DELETE, TRUNCATE ON transfers, payment_notices, wallets, top_ups, cash TO CURRENT_USER;
DROP TRIGGER cash_keeps_what_was_expected ON cash;
DROP TRIGGER cash_stays ON cash;
DROP TRIGGER top_ups_keep_what_was_asked_for ON top_ups;
DROP TRIGGER top_ups_stay ON top_ups;
DROP TRIGGER wallets_keep_their_business ON wallets;
DROP FUNCTION refuse_rewrite;
