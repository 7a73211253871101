-- The cash that the fleet reported at each step.
ALTER TABLE orders RENAME COLUMN cod_reported_paise TO cod_collected_paise;
ALTER TABLE orders
    ADD COLUMN cod_handed_over_paise BIGINT,
    ADD COLUMN cod_settled_paise BIGINT;
