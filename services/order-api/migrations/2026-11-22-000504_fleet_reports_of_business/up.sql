-- The business of the reported order. Absent in older reports until migration 000505.
ALTER TABLE fleet_reports ADD COLUMN business_id TEXT COLLATE "C";

-- Instances of the previous version do not set it.
-- contract: with the next release, this trigger and its function.
CREATE FUNCTION fleet_reports_name_their_business() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.business_id := (SELECT business_id FROM orders WHERE id = NEW.order_id);
    RETURN NEW;
END $$;
CREATE TRIGGER fleet_reports_name_their_business BEFORE INSERT ON fleet_reports FOR EACH ROW
    WHEN (NEW.business_id IS NULL) EXECUTE FUNCTION fleet_reports_name_their_business();
