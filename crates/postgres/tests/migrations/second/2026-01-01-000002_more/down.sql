DELETE FROM words WHERE word = 'two';
