//! What this service hears from the broker: news about the verdicts it keeps.

mod verdict_news;

pub use verdict_news::VerdictNews;
