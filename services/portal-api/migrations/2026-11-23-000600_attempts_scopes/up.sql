-- Attempts also count per account and address, per known browser, and per recipient of invitations.
ALTER TABLE attempts DROP CONSTRAINT attempts_scope_check, ADD CONSTRAINT attempts_scope_check CHECK (
    scope IN (
        'log_in_account', 'log_in_account_address', 'log_in_address', 'log_in_browser', 'log_in_success',
        'sign_up_address', 'invitation_business', 'invitation_recipient', 'reset_account', 'reset_account_address',
        'reset_address', 'reset_browser'
    )
);
