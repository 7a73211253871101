DROP TRIGGER orders_remove_words_of_customer ON orders;
DROP FUNCTION remove_words_of_customer;
DROP TABLE order_search_position;
DROP TABLE order_search;
