DROP TRIGGER cash_reopens_difference ON cash;
DROP FUNCTION reopen_difference;
DROP FUNCTION cash_difference;
