-- The words by which the search finds an order. A worker adds placed orders a moment later, so that placing one costs
-- nothing. The words begin with the end of the business's id, so that a query reads the words of its business only, and
-- then with a mark of their class (`domain/search`).
CREATE TABLE order_search (
    order_id    TEXT COLLATE "C" NOT NULL,
    business_id TEXT COLLATE "C" NOT NULL,
    words       TSVECTOR NOT NULL,
    PRIMARY KEY (order_id, business_id)
);
-- A query reads the list of pending entries from beginning to end, so that it is kept short.
CREATE INDEX order_search_words ON order_search USING gin (words) WITH (gin_pending_list_limit = 256);

-- The last indexed placement, one row. Its lock is the lease of the worker.
CREATE TABLE order_search_position (
    is_one   BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (is_one),
    feed_at  TIMESTAMPTZ NOT NULL,
    order_id TEXT COLLATE "C" NOT NULL
);
INSERT INTO order_search_position (feed_at, order_id) VALUES ('1970-01-01 00:00:00Z', '');

-- Removes the words of the customer when an order's personal data is erased, by whichever release. It waits for the
-- worker, which may have read the order before.
CREATE FUNCTION remove_words_of_customer() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM order_search_position FOR SHARE;
    UPDATE order_search
    SET words = ts_delete(words, ARRAY(
        SELECT word FROM unnest(tsvector_to_array(words)) AS word WHERE substr(word, 7, 1) IN ('*', '+', '-')))
    WHERE order_id = NEW.id AND business_id = NEW.business_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER orders_remove_words_of_customer
    AFTER UPDATE OF personal_data_erased_at ON orders FOR EACH ROW
    WHEN (OLD.personal_data_erased_at IS NULL AND NEW.personal_data_erased_at IS NOT NULL)
    EXECUTE FUNCTION remove_words_of_customer();
