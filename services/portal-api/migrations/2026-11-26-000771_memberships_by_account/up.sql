CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS users_by_account ON users (account_id, account_business_id, business_id)
    WHERE account_id IS NOT NULL;
