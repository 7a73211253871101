DROP TABLE mails, operator_audit_log, audit_log, sso_log_ins, identities, business_sso,
    passkey_ceremonies, passkeys, log_in_challenges, recovery_codes, second_factors, approval_limit, operator_approvals, operator_tokens,
    attempts, email_confirmations, password_links, staff_roles, invitations,
    sessions, memberships, accounts, go_live_facts, pickup_profiles, businesses;
DROP FUNCTION refuse_rewriting, count_suspension;
