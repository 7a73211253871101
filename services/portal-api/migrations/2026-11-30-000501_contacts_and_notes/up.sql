-- Whom the operator asks about a business, and its tax number. The business and the staff enter them.
CREATE TABLE business_contacts (
    business_id TEXT COLLATE "C" PRIMARY KEY REFERENCES businesses (id),
    name TEXT,
    email TEXT,
    phone TEXT,
    gstin TEXT CHECK (gstin ~ '^[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z][0-9A-Z]{2}$'),
    updated_at TIMESTAMPTZ NOT NULL
);

-- What the staff notes about a business, for the staff only. The number counts the notes of the business.
CREATE TABLE staff_notes (
    business_id TEXT COLLATE "C" NOT NULL REFERENCES businesses (id),
    number BIGINT NOT NULL CHECK (number BETWEEN 1 AND 200),
    -- The person or token at that time.
    author TEXT NOT NULL,
    text TEXT NOT NULL CHECK (length(text) BETWEEN 1 AND 2000),
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (business_id, number)
);
-- The notes of a closed business are deleted when the law no longer keeps its books.
CREATE TRIGGER append_only BEFORE UPDATE OR TRUNCATE ON staff_notes EXECUTE FUNCTION refuse_rewriting();
