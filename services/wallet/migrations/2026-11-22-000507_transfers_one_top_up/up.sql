-- A top-up and its transfer are of one business.
CREATE UNIQUE INDEX CONCURRENTLY transfers_one_top_up ON transfers (reference, business_id) WHERE kind = 'top_up';
