//! Sign and verify webhooks; used by the dispatcher and by integrators.
