-- Only after the last instance of the newer release has ended. All addresses then count as they did before, and names are lost.
DELETE FROM attempts WHERE scope LIKE 'email_confirmation_%';
ALTER TABLE attempts DROP CONSTRAINT attempts_scope_check, ADD CONSTRAINT attempts_scope_check CHECK (
    scope IN (
        'log_in_account', 'log_in_account_address', 'log_in_address', 'log_in_browser', 'log_in_success',
        'sign_up_address', 'invitation_business', 'invitation_recipient', 'reset_account', 'reset_account_address',
        'reset_address', 'reset_browser', 'second_factor_account', 'second_factor_account_address', 'second_factor_browser'
    )
);
DROP TABLE email_confirmations;
ALTER TABLE password_resets DROP COLUMN mailed_to;
ALTER TABLE invitations DROP COLUMN mailed;
ALTER TABLE users DROP COLUMN name, DROP COLUMN email_verified_at;
