-- The last delivery that a recovery has counted. NULL if all are counted, as recoveries of the previous release do at
-- once.
ALTER TABLE recoveries ADD COLUMN counted_id TEXT COLLATE "C";
-- The last event that a recovery has scanned for later subscriptions of the endpoint. NULL if all are scanned, and for
-- recoveries of the previous release, which do not scan.
ALTER TABLE recoveries ADD COLUMN looked_through_id TEXT COLLATE "C";
