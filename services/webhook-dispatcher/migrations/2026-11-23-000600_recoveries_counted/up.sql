-- Up to where a recovery has counted what it is to send again; NULL when it has counted all of it, as jobs of the release
-- before do when they begin.
ALTER TABLE recoveries ADD COLUMN counted_id TEXT COLLATE "C";
