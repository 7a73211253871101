-- Up to where a recovery has counted what it is to send again; NULL when it has counted all of it, as jobs of the release
-- before do when they begin.
ALTER TABLE recoveries ADD COLUMN counted_id TEXT COLLATE "C";
-- Up to where a recovery has looked through its business's events for those that the endpoint did not subscribe to; NULL when it
-- has seen all of them, and for jobs of the release before, which look for none.
ALTER TABLE recoveries ADD COLUMN looked_through_id TEXT COLLATE "C";
