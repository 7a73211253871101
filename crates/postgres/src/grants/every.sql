-- What every database needs: only its own service may enter it, and the service may see which migrations were run. Repeating it
-- changes nothing.
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO :"service";
GRANT USAGE ON SCHEMA public TO :"service";
GRANT SELECT ON __diesel_schema_migrations TO :"service";
