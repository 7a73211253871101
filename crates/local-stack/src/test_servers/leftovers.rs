//! Removes what ended tests left on shared servers: databases would fill the disk, and queues would keep the broker
//! busy.

use std::path::Path;

use super::TestServers;

/// The prefix of tests' databases and virtual hosts; the process id follows.
pub(super) const PREFIX: &str = "test_";

/// The number of databases dropped per round: each drop causes a checkpoint, which slows down running tests.
const DATABASES_PER_ROUND: usize = 20;

impl TestServers {
    /// Drops databases and virtual hosts of ended test processes. The next round continues.
    ///
    /// # Errors
    /// When a server refuses or is unreachable.
    pub async fn drop_leftovers(&self) -> anyhow::Result<()> {
        let admin = &self.contact.postgres;
        let databases = admin.databases().await?.into_iter().filter(|name| is_leftover(name));
        let databases: Vec<String> = databases.take(DATABASES_PER_ROUND).collect();
        admin.drop_databases(&databases).await?;
        let broker = &self.contact.rabbitmq;
        let vhosts: Vec<String> =
            broker.vhosts().await?.into_iter().filter(|name| is_leftover(name)).collect();
        broker.drop_vhosts(&vhosts).await
    }
}

/// Whether the name belongs to a test process that has ended.
fn is_leftover(name: &str) -> bool {
    let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('_').next());
    process.is_some_and(|id| !Path::new("/proc").join(id).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_ended_tests_are_leftovers() {
        assert!(!is_leftover("postgres"));
        assert!(!is_leftover("template_wallet"));
        assert!(!is_leftover(&format!("test_{}_0a", std::process::id())));
        // Larger than the kernel's largest process id.
        assert!(is_leftover("test_4194305_0a"));
    }
}
