CREATE INDEX CONCURRENTLY words_backwards ON words (reverse(word));
