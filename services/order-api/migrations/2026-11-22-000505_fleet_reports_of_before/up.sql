-- In batches, each in its own transaction, so that no row is locked for long. A repeated run continues where it
-- stopped.
DO $$
DECLARE
    portion CONSTANT INTEGER := 5000;
    done TEXT COLLATE "C" := '';
    upto TEXT COLLATE "C";
BEGIN
    LOOP
        SELECT max(next.event_id) INTO upto
        FROM (SELECT event_id FROM fleet_reports WHERE event_id > done ORDER BY event_id LIMIT portion) AS next;
        EXIT WHEN upto IS NULL;
        UPDATE fleet_reports SET business_id = orders.business_id
        FROM orders
        WHERE orders.id = fleet_reports.order_id AND fleet_reports.business_id IS NULL
            AND fleet_reports.event_id > done AND fleet_reports.event_id <= upto;
        done := upto;
        COMMIT;
    END LOOP;
END $$;
