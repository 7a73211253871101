//! actix: error body, request ids, health, internal-call auth, body reading, pagination, server.
