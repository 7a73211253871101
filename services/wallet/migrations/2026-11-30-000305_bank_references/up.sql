-- Banks write the reference of one transfer in capital or small letters: in both it pays once. Release 1.0.0 has no remittances
-- that the index could block, or that could break it.
CREATE UNIQUE INDEX remittances_bank_reference_in_any_case ON remittances (business_id, upper(bank_reference COLLATE "C"));
