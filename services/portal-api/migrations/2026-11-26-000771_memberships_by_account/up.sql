-- A person has one user in each business.
-- compatible with release 3: it leaves account_id NULL.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS users_by_account ON users (account_id, account_business_id, business_id)
    WHERE account_id IS NOT NULL;
