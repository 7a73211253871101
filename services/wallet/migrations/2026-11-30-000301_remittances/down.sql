DROP TABLE cash_differences, remittance_orders, remittances;
DROP FUNCTION check_remittance;
