-- The rights of the role that key-management, order-api or portal-api serves as, where another role owns the tables and migrates:
-- rows are the service's, tables are not. After every.sql.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO :"service";
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO :"service";
REVOKE INSERT, UPDATE, DELETE ON __diesel_schema_migrations FROM :"service";
-- The tables of a coming release too, as soon as its migration has made them.
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO :"service";
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE ON SEQUENCES TO :"service";
