//! The reference integrator: a small shop back end that creates its orders through the API and receives webhooks.
