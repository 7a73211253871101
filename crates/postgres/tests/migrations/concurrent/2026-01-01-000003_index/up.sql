CREATE INDEX CONCURRENTLY IF NOT EXISTS words_backwards ON words (reverse(word));
