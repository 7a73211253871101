//! Another role owns the tables than the one that serves.

use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use local_stack::query;
use postgres::{ROWS, Schema, migrate};
use settings::Database;

use crate::servers::settings;

const FIRST: EmbeddedMigrations = embed_migrations!("tests/migrations/first");
const SECOND: EmbeddedMigrations = embed_migrations!("tests/migrations/second");

/// The URLs of a new database for its owner and for another role.
struct TwoRoles {
    owner: String,
    service: String,
}

/// The name of a URL's database. It is also the name of its owner.
fn name(url: &str) -> &str {
    url.rsplit_once('/').unwrap().1
}

impl TwoRoles {
    /// Returns the other role, too.
    async fn new() -> (Self, String) {
        let owner = test_kit::database_url().await;
        // The role comes with its own database, which is not used here.
        let other = test_kit::database_url().await;
        let (server, role) = other.rsplit_once('/').unwrap();
        (Self { service: format!("{server}/{}", name(&owner)), owner }, role.to_owned())
    }

    /// Migrates, with or without the setting.
    async fn migrate(&self, sets: Vec<EmbeddedMigrations>, role: Option<&str>) -> anyhow::Result<()> {
        let serving_role = role.map(str::to_owned);
        migrate(&Database { serving_role, ..settings(&self.owner, 2) }, sets, ROWS).await
    }

    async fn as_owner(&self, sql: &str) -> String {
        query(&self.owner, sql).await.unwrap()
    }

    /// What a new instance waits for.
    async fn lacks(&self) -> Option<String> {
        let checked = Schema::new(&settings(&self.service, 2), &[FIRST]).unwrap().check().await;
        checked.err().map(|error| format!("{error:#}"))
    }
}

#[tokio::test]
async fn a_service_waits_for_its_rights() {
    let (two, role) = TwoRoles::new().await;
    two.migrate(vec![FIRST], None).await.unwrap();
    let lacks = two.lacks().await.unwrap();
    assert!(lacks.contains("permission denied for database"), "{lacks}");
    two.as_owner(&format!("GRANT CONNECT ON DATABASE {} TO {role}", name(&two.owner))).await;
    let lacks = two.lacks().await.unwrap();
    assert!(lacks.contains(&format!("{role} may not read __diesel_schema_migrations, words;")), "{lacks}");
    assert!(
        lacks.contains(&format!("`migrate` command with WAYBILL_DATABASE__SERVING_ROLE={role} ")),
        "{lacks}"
    );

    // There is nothing to migrate.
    two.migrate(vec![FIRST], Some(&role)).await.unwrap();
    assert_eq!(two.lacks().await, None);
    query(&two.service, "INSERT INTO words VALUES ('mine')").await.unwrap();
    for refused in
        ["DELETE FROM __diesel_schema_migrations", "CREATE TABLE mine (id INT)", "DROP TABLE words"]
    {
        query(&two.service, refused).await.unwrap_err();
    }

    // A partition is read through its table.
    two.as_owner("CREATE TABLE days (day INT) PARTITION BY LIST (day)").await;
    two.as_owner("CREATE TABLE today PARTITION OF days FOR VALUES IN (1)").await;
    two.as_owner(&format!("REVOKE ALL ON today FROM {role}")).await;
    assert_eq!(two.lacks().await, None);
    two.as_owner(&format!("REVOKE SELECT ON days FROM {role}")).await;
    let lacks = two.lacks().await.unwrap();
    assert!(lacks.contains(" may not read days;"), "{lacks}");
}

#[tokio::test]
async fn an_owner_that_serves_keeps_its_rights() {
    let url = test_kit::database_url().await;
    let settings = Database { serving_role: Some(name(&url).to_owned()), ..settings(&url, 2) };
    migrate(&settings, vec![FIRST], ROWS).await.unwrap();
    migrate(&settings, vec![FIRST, SECOND], ROWS).await.unwrap();
    migrate(&settings, vec![FIRST, SECOND], "").await.unwrap();
}

#[tokio::test]
async fn rights_are_given_to_the_role_of_this_name_only() {
    let (two, role) = TwoRoles::new().await;
    let refused = two.migrate(vec![FIRST], Some("x\"; DROP TABLE words; --")).await.unwrap_err();
    let refused = format!("{refused:#}");
    assert!(refused.contains("role \"x\"; DROP TABLE words; --\" does not exist"), "{refused}");
    assert_eq!(two.as_owner("SELECT to_regclass('words') IS NOT NULL").await, "t");

    // A service that makes tables itself serves as their owner.
    let settings = Database { serving_role: Some(role), ..settings(&two.owner, 2) };
    let refused = migrate(&settings, vec![FIRST], "").await.unwrap_err();
    assert!(format!("{refused:#}").contains("must serve as the owner"), "{refused:#}");
}
