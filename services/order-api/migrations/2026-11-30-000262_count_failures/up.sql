-- Release 1.0.0 does not know `after_failure`. It would not count the failure of another attempt, and keep the decision before
-- it. This release changes the column with each failure, and leaves it when a driver drops out, who was assigned then.
CREATE FUNCTION count_failure() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.after_failure := NEW.after_failure - 'decided' - 'reasonCode'
        || jsonb_build_object('failedAttempts', (NEW.after_failure ->> 'failedAttempts')::integer + 1);
    RETURN NEW;
END
$$;
CREATE TRIGGER orders_count_failure
    BEFORE UPDATE OF status ON orders FOR EACH ROW
    WHEN (NEW.status = 'failed' AND OLD.picked_up AND NEW.after_failure = OLD.after_failure
        AND (OLD.status = 'out_for_delivery' OR OLD.status = 'driver_assigned' AND NEW.driver IS NOT NULL))
    EXECUTE FUNCTION count_failure();
