-- The tables named in `spread.tables`, anew and partitioned by hash of the business: the real columns, checks, keys, indexes,
-- references and triggers, as the migrations made them. A unique index without the business becomes a plain one: keys.rs says what holds its
-- rule then.
DO $$
DECLARE
    partitions CONSTANT INTEGER := 8;
    name TEXT;
    definition TEXT;
    is_key BOOLEAN;
    columns TEXT;
BEGIN
    FOR name IN SELECT table_name FROM spread.tables ORDER BY place LOOP
        EXECUTE format('CREATE TABLE spread.%I (LIKE public.%I INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (business_id)',
            name, name);
        FOR number IN 0 .. partitions - 1 LOOP
            EXECUTE format('CREATE TABLE spread.%I PARTITION OF spread.%I FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                name || '_p' || number, name, partitions, number);
        END LOOP;
        FOR definition, is_key, columns IN
            SELECT pg_get_indexdef(indexrelid), indisprimary,
                substring(pg_get_indexdef(indexrelid) FROM 'btree (\(.*\))')
            FROM pg_index WHERE indrelid = format('public.%I', name)::regclass
        LOOP
            IF is_key THEN
                EXECUTE format('ALTER TABLE spread.%I ADD PRIMARY KEY %s', name, columns);
            ELSE
                IF columns NOT LIKE '%business_id%' THEN
                    definition := replace(definition, 'CREATE UNIQUE INDEX', 'CREATE INDEX');
                END IF;
                EXECUTE regexp_replace(definition, ' ON (ONLY )?public\.', ' ON spread.');
            END IF;
        END LOOP;
        FOR definition IN
            SELECT pg_get_constraintdef(oid) FROM pg_constraint
            WHERE conrelid = format('public.%I', name)::regclass AND contype = 'f'
        LOOP
            EXECUTE format('ALTER TABLE spread.%I ADD %s', name, replace(definition, 'REFERENCES ', 'REFERENCES spread.'));
        END LOOP;
    END LOOP;
    -- What triggers check, they check here too; their functions find the tables by the search path.
    FOR definition IN
        SELECT pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger
        JOIN spread.tables ON tgrelid = format('public.%I', table_name)::regclass
        WHERE NOT tgisinternal
    LOOP
        EXECUTE replace(definition, ' ON public.', ' ON spread.');
    END LOOP;
END $$;
