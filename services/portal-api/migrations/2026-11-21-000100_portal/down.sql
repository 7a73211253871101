DROP TABLE attempts;
DROP TABLE go_live_facts;
DROP TABLE pickup_profiles;
DROP TABLE sessions;
DROP TABLE users;
DROP TABLE businesses;
