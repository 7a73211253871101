//! Databases with a service's tables: copies of a template that is migrated once per pair of servers.

use std::fs::File;

use anyhow::Context;

use super::TestServers;
use crate::launch::Launch;
use crate::part::Service;
use crate::paths;
use crate::stack;

impl TestServers {
    /// Creates a database with the tables of a service: `postgres://role:password@127.0.0.1:port/database`. All
    /// databases of a service belong to one role, because copied tables keep their owner.
    ///
    /// # Errors
    /// When the service's program is not built, its migrations fail, or the server is unreachable.
    pub async fn create_database_of(&self, service: Service) -> anyhow::Result<String> {
        let admin = &self.contact.postgres;
        let (template, role) = (template(service), role(service));
        let name = self.new_name();
        if !admin.copy_database(&template, &name, &role).await? {
            self.make_template(service).await?;
            let copied = admin.copy_database(&template, &name, &role).await?;
            anyhow::ensure!(copied, "the template {template} is gone");
        }
        Ok(admin.url(&role, &self.contact.password_of_copies, &name))
    }

    /// Test processes run concurrently: the first one migrates and the others wait. The template is renamed last, so
    /// that its name implies that it is complete.
    async fn make_template(&self, service: Service) -> anyhow::Result<()> {
        let (template, role) = (template(service), role(service));
        let file = File::create(self.contact.directory.join(format!("{template}.lock")))?;
        let _locked = tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await??;
        let admin = &self.contact.postgres;
        if admin.has_database(&template).await? {
            return Ok(());
        }
        admin.drop_databases(std::slice::from_ref(&role)).await?;
        let url = admin.create_database(&role, &self.contact.password_of_copies).await?;
        let log = self.contact.directory.join(format!("logs/migrate-{}.log", service.name()));
        let launch = Launch::new(paths::built_program(service.name())?, &log)
            .without(Self::VARIABLE)
            .variable("WAYBILL_DATABASE__URL", url);
        stack::migrate(&launch, service).await?;
        admin.make_template(&role, &template).await.with_context(|| format!("keeping {template}"))
    }
}

fn template(service: Service) -> String {
    format!("template_{}", service.database())
}

fn role(service: Service) -> String {
    format!("tests_{}", service.database())
}
