-- What every database needs: only its own service may enter it, and the service may see which migrations were run. As the
-- owner, after each migration and before the file with the service's rights:
--
--   psql --variable=service=wallet_service --file=deploy/grants/every.sql postgres://wallet_owner@…/wallet
--
-- Repeating it changes nothing.
SELECT current_database() AS database \gset
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO :"service";
GRANT USAGE ON SCHEMA public TO :"service";
GRANT SELECT ON __diesel_schema_migrations TO :"service";
