DROP TRIGGER outdate_cash_sums ON cash;
DROP TRIGGER outdate_cash_sums ON cash_differences;
DROP FUNCTION outdate_cash_sums();
DROP TABLE cash_sums, cash_sums_outdated;
