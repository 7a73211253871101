-- How often a business has been suspended. A request to lift a suspension is about one of them: it never lifts a later one.
ALTER TABLE businesses ADD COLUMN suspensions INTEGER NOT NULL DEFAULT 0;

-- Counts suspensions by the previous release too, which does not know the column.
CREATE FUNCTION count_suspension() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.suspensions := OLD.suspensions + 1;
    RETURN NEW;
END $$;
CREATE TRIGGER count_suspension BEFORE UPDATE OF status ON businesses FOR EACH ROW
    WHEN (NEW.status = 'suspended' AND OLD.status <> 'suspended')
    EXECUTE FUNCTION count_suspension();
