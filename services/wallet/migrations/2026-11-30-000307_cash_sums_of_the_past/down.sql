DELETE FROM cash_sums_outdated;
