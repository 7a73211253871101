DELETE FROM attempts WHERE scope IN (
    'log_in_account_address', 'log_in_browser', 'log_in_success', 'invitation_recipient', 'reset_account_address', 'reset_browser'
);
ALTER TABLE attempts DROP CONSTRAINT attempts_scope_check, ADD CONSTRAINT attempts_scope_check CHECK (
    scope IN (
        'log_in_account', 'log_in_address', 'sign_up_address', 'invitation_business', 'reset_account', 'reset_address'
    )
);
