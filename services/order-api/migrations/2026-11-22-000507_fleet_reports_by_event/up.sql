-- The fleet's own ids are unique whatever the business, as they were.
CREATE UNIQUE INDEX CONCURRENTLY fleet_reports_event_id ON fleet_reports (event_id);
