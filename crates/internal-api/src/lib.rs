//! Request and response types of the services' internal endpoints, and typed clients for them.
