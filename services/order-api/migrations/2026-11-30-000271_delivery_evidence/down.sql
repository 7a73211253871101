DROP TABLE delivery_codes;
DROP TRIGGER orders_erase_evidence ON orders;
DROP FUNCTION erase_evidence();
DROP TABLE delivery_evidence;
DROP FUNCTION keep_evidence();
