CREATE UNIQUE INDEX CONCURRENTLY words_of_each_one ON words (word);
