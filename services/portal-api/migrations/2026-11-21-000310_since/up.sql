-- When each item of the go-live checklist was completed. For items completed before this migration, the latest change is the
-- best estimate.
ALTER TABLE businesses
    ADD COLUMN active_since TIMESTAMPTZ,
    ADD COLUMN subscription_active_since TIMESTAMPTZ,
    ADD COLUMN live_access_since TIMESTAMPTZ;

UPDATE businesses SET
    active_since = CASE WHEN status = 'active' THEN updated_at END,
    subscription_active_since = CASE WHEN subscription_state = 'active' THEN updated_at END,
    live_access_since = CASE WHEN live_access THEN updated_at END;
