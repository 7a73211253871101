DROP TABLE replaced_session_tokens;
