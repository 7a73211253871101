ALTER TABLE businesses
    DROP COLUMN active_since,
    DROP COLUMN subscription_active_since,
    DROP COLUMN live_access_since;
