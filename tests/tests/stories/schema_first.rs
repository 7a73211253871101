//! A program never works on tables that lack its migrations: it is alive but not ready, touches nothing, and continues
//! automatically once they exist. Unknown migrations are allowed: they belong to a newer release.

use std::fs;

use anyhow::Context;
use demo::clients::Api;
use demo::eventually;
use futures_util::future::try_join_all;
use local_stack::{Instance, Servers, Service, Stack, query};
use reqwest::Method;
use waybill_tests::PATIENCE;

#[tokio::test(flavor = "multi_thread")]
async fn services_wait_for_their_tables() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    // At once, because each waits for programs that wait.
    try_join_all(Service::ALL.map(|service| waits_for_its_tables(&stack, service))).await?;
    stack.shut_down().await
}

async fn waits_for_its_tables(stack: &Stack, service: Service) -> anyhow::Result<()> {
    begins_with_an_empty_database(stack, service).await.with_context(|| service.name())?;
    begins_on_tables_of_another_release(stack, service).await.with_context(|| service.name())
}

async fn begins_with_an_empty_database(stack: &Stack, service: Service) -> anyhow::Result<()> {
    let database = Servers::for_tests().await?.create_database().await?;
    let mut instance = instance(stack, service, "empty", &database)?;
    instance.start()?;
    waits(&instance).await?;
    says(&instance, "__diesel_schema_migrations").await?;
    let tables = query(&database, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").await?;
    assert_eq!(tables.trim(), "0", "the program created no tables");
    assert!(!takes_calls(&instance).await?, "it takes no calls");

    assert!(instance.run(&["migrate"]).await?.status.success());
    instance.ready().await?;
    assert!(takes_calls(&instance).await?, "it takes calls");
    instance.stop().await
}

async fn begins_on_tables_of_another_release(stack: &Stack, service: Service) -> anyhow::Result<()> {
    let database = Servers::for_tests().await?.create_database().await?;
    let mut instance = instance(stack, service, "other", &database)?;
    assert!(instance.run(&["migrate"]).await?.status.success());
    // As on the tables of the previous release.
    let latest = "DELETE FROM __diesel_schema_migrations
                  WHERE version = (SELECT max(version) FROM __diesel_schema_migrations) RETURNING version";
    let latest = query(&database, latest).await?.lines().next().context("a version")?.trim().to_owned();
    instance.start()?;
    waits(&instance).await?;
    says(&instance, &latest).await?;
    instance.stop().await?;
    says(&instance, "stopped while waiting for the tables").await?;

    // As on the tables of the next release.
    let newer =
        format!("INSERT INTO __diesel_schema_migrations (version) VALUES ('{latest}'), ('99991231000000')");
    query(&database, &newer).await?;
    instance.start()?;
    instance.ready().await?;
    instance.stop().await
}

fn instance(stack: &Stack, service: Service, name: &str, database: &str) -> anyhow::Result<Instance> {
    let instance = stack.instance(service, &format!("{}-{name}", service.name()))?;
    Ok(instance.variable("WAYBILL_DATABASE__URL", database))
}

/// Alive but not ready, only because of the tables.
async fn waits(instance: &Instance) -> anyhow::Result<()> {
    let management = Api::new(instance.management_url())?;
    let get = async |path: &str| management.send(management.request(Method::GET, path)).await;
    eventually("the liveness check", PATIENCE, || async {
        Ok(get("/health/live").await.is_ok_and(|answer| answer.status == 200).then_some(()))
    })
    .await?;
    eventually("readiness to lack only the tables", PATIENCE, || async {
        let checks = get("/health/ready").await?.expect(503)?["checks"].take();
        assert_eq!(checks["schema"], false, "{checks}");
        Ok((checks["database"] == true && checks["broker"] == true).then_some(()))
    })
    .await
}

async fn takes_calls(instance: &Instance) -> anyhow::Result<bool> {
    let internal = Api::new(instance.internal_url())?;
    Ok(internal.send(internal.request(Method::GET, "/")).await.is_ok())
}

async fn says(instance: &Instance, what: &str) -> anyhow::Result<()> {
    eventually(&format!("{what} in the log"), PATIENCE, || async {
        Ok(fs::read_to_string(instance.log())?.contains(what).then_some(()))
    })
    .await
}
