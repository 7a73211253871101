-- Only after the last instance of the newer release has ended. All accounts then log in with their password alone.
DELETE FROM attempts WHERE scope LIKE 'second_factor_%';
ALTER TABLE attempts DROP CONSTRAINT attempts_scope_check, ADD CONSTRAINT attempts_scope_check CHECK (
    scope IN (
        'log_in_account', 'log_in_account_address', 'log_in_address', 'log_in_browser', 'log_in_success',
        'sign_up_address', 'invitation_business', 'invitation_recipient', 'reset_account', 'reset_account_address',
        'reset_address', 'reset_browser'
    )
);
ALTER TABLE staff_sessions DROP COLUMN authenticated_at;
ALTER TABLE sessions DROP COLUMN authenticated_at;
DROP TABLE log_in_challenges;
DROP TABLE recovery_codes;
DROP TABLE second_factors;
