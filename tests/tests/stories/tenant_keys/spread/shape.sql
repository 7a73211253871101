-- Recreates the tables in `spread.tables`, hash-partitioned by business: with the columns, checks, keys, indexes, references
-- and triggers of the migrations. The partitions of an already partitioned table are partitioned too. The rules in
-- `spread.exceptions` do not contain the business, so they become indexes that are not unique.
-- Makes definitions include their schema.
SET search_path = pg_catalog;
DO $$
DECLARE
    tables CONSTANT OID[] := ARRAY(SELECT format('public.%I', table_name)::regclass FROM spread.tables);
    hashed CONSTANT TEXT := 'PARTITION BY HASH (business_id)';
    source RECORD;
    part RECORD;
    rule RECORD;
    parents TEXT[];
    parent TEXT;
BEGIN
    FOR source IN SELECT oid, relname AS name, pg_get_partkeydef(oid) AS key FROM pg_class WHERE oid = ANY (tables) LOOP
        EXECUTE format('CREATE TABLE spread.%I (LIKE public.%1$I INCLUDING ALL EXCLUDING INDEXES) %s',
            source.name, coalesce('PARTITION BY ' || source.key, hashed));
        parents := CASE WHEN source.key IS NULL THEN ARRAY[source.name] ELSE '{}' END;
        FOR part IN
            SELECT relname AS name, pg_get_expr(relpartbound, oid) AS bound
            FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = source.oid
        LOOP
            EXECUTE format('CREATE TABLE spread.%I PARTITION OF spread.%I %s %s', part.name, source.name, part.bound, hashed);
            parents := parents || part.name::text;
        END LOOP;
        FOREACH parent IN ARRAY parents LOOP
            FOR number IN 0 .. 7 LOOP
                EXECUTE format('CREATE TABLE spread.%I PARTITION OF spread.%I FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
                    parent || '_p' || number, parent, number);
            END LOOP;
        END LOOP;
        FOR rule IN
            SELECT regexp_replace(pg_get_indexdef(indexrelid), ' ON (ONLY )?public\.', ' ON spread.') AS definition,
                'ADD CONSTRAINT ' || quote_ident(conname) || ' ' || pg_get_constraintdef(pg_constraint.oid) AS addition,
                pg_class.relname IN (SELECT name FROM spread.exceptions) AS is_exception
            FROM pg_index
            JOIN pg_class ON pg_class.oid = indexrelid
            LEFT JOIN pg_constraint ON conindid = indexrelid AND contype IN ('p', 'u')
            WHERE indrelid = source.oid
        LOOP
            IF rule.is_exception THEN
                EXECUTE replace(rule.definition, 'CREATE UNIQUE INDEX', 'CREATE INDEX');
            ELSIF rule.addition IS NOT NULL THEN
                EXECUTE format('ALTER TABLE spread.%I %s', source.name, rule.addition);
            ELSE
                EXECUTE rule.definition;
            END IF;
        END LOOP;
    END LOOP;
    -- References of these tables, and of other tables to them.
    FOR rule IN
        SELECT conrelid::regclass AS owner, relname, conname, conrelid = ANY (tables) AS is_ours,
            CASE WHEN confrelid = ANY (tables)
                THEN replace(pg_get_constraintdef(pg_constraint.oid), 'REFERENCES public.', 'REFERENCES spread.')
                ELSE pg_get_constraintdef(pg_constraint.oid)
            END AS definition
        FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
        WHERE contype = 'f' AND conparentid = 0 AND (conrelid = ANY (tables) OR confrelid = ANY (tables))
    LOOP
        IF NOT rule.is_ours THEN
            EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', rule.owner, rule.conname);
        END IF;
        EXECUTE format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s',
            CASE WHEN rule.is_ours THEN 'spread' ELSE 'public' END, rule.relname, rule.conname, rule.definition);
    END LOOP;
    -- Their functions find the tables through the search path.
    FOR rule IN SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger WHERE tgrelid = ANY (tables) AND NOT tgisinternal LOOP
        EXECUTE replace(rule.definition, ' ON public.', ' ON spread.');
    END LOOP;
END $$;
