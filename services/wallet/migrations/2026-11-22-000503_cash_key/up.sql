-- In the order of cash_of_a_business, whose place it takes, too.
CREATE UNIQUE INDEX CONCURRENTLY cash_key ON cash (business_id, order_id);
