ALTER TABLE orders DROP COLUMN cod_handed_over_paise, DROP COLUMN cod_settled_paise;
ALTER TABLE orders RENAME COLUMN cod_collected_paise TO cod_reported_paise;
