//! Checks that migrations only expand: the latest recorded release must be able to run on the new tables. Migrations
//! must not remove anything it uses, require anything it does not provide, or lock a table against writes while an
//! index is built. A migration that removes something unused says `-- contract: since release 2`. A migration that only
//! looks incompatible says why it is not: `-- compatible with release 1: it writes the same.`
#![expect(clippy::expect_used, reason = "an unreadable file fails the test")]

mod sql;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use sql::{Token, begins, has, split, statements};

const CONTRACT: &str = "-- contract: since release ";
const COMPATIBLE: &str = "-- compatible with release ";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the repository").to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The numbers of the recorded releases.
fn releases() -> BTreeSet<u32> {
    let folder = fs::read_dir(root().join("tests/releases")).expect("the releases");
    folder.filter_map(|entry| entry.expect("a release").file_name().to_str()?.parse().ok()).collect()
}

/// All migrations, as paths in the repository.
fn migrations() -> BTreeSet<String> {
    let services = fs::read_dir(root().join("services")).expect("the services");
    let services = services.map(|entry| entry.expect("a service").path().join("migrations"));
    let folders = services.chain([root().join("crates/outbox/migrations")]).filter(|folder| folder.is_dir());
    folders
        .flat_map(|folder| fs::read_dir(folder).expect("the migrations"))
        .map(|entry| {
            let path = entry.expect("a migration").path();
            path.strip_prefix(root()).expect("a path in the repository").display().to_string()
        })
        .collect()
}

/// Tables and indexes of the release, per service.
#[derive(Default)]
struct Released(BTreeSet<(String, String)>);

impl Released {
    fn of(migrations: &[String]) -> Self {
        let mut names = BTreeSet::new();
        for migration in migrations {
            for statement in statements(&read(&root().join(migration).join("up.sql"))) {
                if let Some(name) = created(&statement) {
                    names.insert((service(migration).to_owned(), name.to_owned()));
                }
            }
        }
        Self(names)
    }

    fn has(&self, service: &str, name: &str) -> bool {
        // Every service has the outbox's tables.
        self.0.contains(&(service.to_owned(), name.to_owned()))
            || self.0.contains(&("crates/outbox".to_owned(), name.to_owned()))
    }
}

/// `services/wallet` of a migration's path.
fn service(migration: &str) -> &str {
    migration.split("/migrations/").next().unwrap_or_default()
}

const NOISE: [&str; 8] = ["if", "not", "exists", "only", "unique", "concurrently", "public", "cascade"];

/// The first name at or after this position.
fn name(tokens: &[Token], from: usize) -> Option<&str> {
    tokens.iter().skip(from).filter_map(Token::word).find(|word| !NOISE.contains(word))
}

fn created(statement: &[Token]) -> Option<&str> {
    let of = |words| begins(statement, words);
    match () {
        () if of("create table") => name(statement, 2),
        () if of("create index") => name(statement, 2),
        () if of("create unique index") => name(statement, 3),
        () => None,
    }
}

/// The parts of a migration that are incompatible with the release.
fn errors(service: &str, sql: &str, released: &Released) -> Vec<String> {
    let statements = statements(sql);
    let has_it = |name: Option<&str>| name.is_some_and(|name| released.has(service, name));
    let mut errors = Vec::new();
    for statement in &statements {
        if begins(statement, "alter table") && has_it(name(statement, 2)) {
            let table = name(statement, 2).unwrap_or_default();
            let start = statement.iter().position(|token| token.is(table)).map_or(0, |at| at + 1);
            for action in split(&statement[start..], ',') {
                errors.extend(error_of(&action, &statements).map(|error| format!("{table}: {error}")));
            }
        } else if begins(statement, "alter type") || begins(statement, "alter domain") {
            errors.push("ALTER TYPE".to_owned());
        } else if begins(statement, "drop")
            && split(&statement[1..], ',').iter().any(|part| has_it(name(part, 0)) || has_it(name(part, 1)))
        {
            errors.push("DROP of something that the release has".to_owned());
        } else if begins(statement, "create index") || begins(statement, "create unique index") {
            let on = statement.iter().position(|token| token.is("on")).unwrap_or(statement.len());
            let table = name(statement, on + 1).unwrap_or_default();
            if has_it(Some(table)) && has(statement, "create unique") {
                errors.push(format!("{table}: UNIQUE, which the release may violate"));
            }
            if has_it(Some(table)) && !has(statement, "index concurrently") {
                errors.push(format!("{table}: an index that is not built CONCURRENTLY blocks writes"));
            }
        }
    }
    errors
}

/// The problem of one part of an `ALTER TABLE`, if any.
fn error_of(action: &[Token], all: &[Vec<Token>]) -> Option<&'static str> {
    let of = |words: &str| begins(action, words);
    let adds_column = of("add")
        && !["constraint", "check", "unique", "primary", "foreign", "exclude"]
            .iter()
            .any(|rule| of(&format!("add {rule}")));
    match () {
        () if of("rename") => Some("RENAME"),
        () if of("drop constraint") => None,
        () if of("drop") => Some("DROP COLUMN"),
        () if of("set schema") => Some("SET SCHEMA"),
        () if of("alter") && has(action, "set not null") => Some("SET NOT NULL"),
        () if of("alter") && has(action, "drop default") => Some("DROP DEFAULT"),
        () if of("alter") && action.iter().any(|token| token.is("type")) => Some("another type"),
        () if adds_column && has(action, "not null") && !action.iter().any(|token| token.is("default")) => {
            Some("ADD COLUMN NOT NULL without a default")
        }
        // A replaced constraint is assumed to allow more.
        () if of("add") && !adds_column && !replaces(action, all) => {
            Some("a new constraint, which the release may violate")
        }
        () => None,
    }
}

fn replaces(action: &[Token], all: &[Vec<Token>]) -> bool {
    let name = begins(action, "add constraint").then(|| action.get(2)?.word()).flatten();
    name.is_some_and(|name| {
        all.iter().any(|statement| {
            has(statement, &format!("drop constraint {name}"))
                || has(statement, &format!("drop constraint if exists {name}"))
        })
    })
}

/// The release since which nothing uses the removed parts, according to the migration.
fn contracts_since(sql: &str) -> Option<u32> {
    sql.lines().find_map(|line| line.strip_prefix(CONTRACT)?.trim().parse().ok())
}

/// Whether the migration explains why this release is compatible.
fn is_declared_compatible(sql: &str, release: u32) -> bool {
    let reason =
        |line: &str| line.strip_prefix(COMPATIBLE)?.strip_prefix(&format!("{release}: ")).map(str::len);
    sql.lines().filter_map(reason).any(|length| length > 0)
}

#[test]
fn the_latest_release_can_run_on_the_current_tables() {
    let (releases, all) = (releases(), migrations());
    // Before the first release, migrations may change freely.
    let Some(latest) = releases.last() else { return };
    let released: Vec<String> = read(&root().join(format!("tests/releases/{latest}/migrations")))
        .lines()
        .map(str::to_owned)
        .collect();
    for migration in &released {
        assert!(all.contains(migration), "{migration} was released and must not be deleted");
    }
    let of_release = Released::of(&released);
    for migration in all.iter().filter(|migration| !released.contains(migration)) {
        let sql = read(&root().join(migration).join("up.sql"));
        let errors = errors(service(migration), &sql, &of_release);
        if is_declared_compatible(&sql, *latest) {
            assert!(!errors.is_empty(), "{migration}: remove its `compatible with` line; it is compatible");
            continue;
        }
        match contracts_since(&sql) {
            Some(since) => assert!(releases.contains(&since), "{migration}: release {since} is not recorded"),
            None => {
                assert!(errors.is_empty(), "{migration}: release {latest} cannot run with it: {errors:#?}")
            }
        }
    }
}

/// Diesel's version of a migration is its name before the first `_`, without hyphens.
#[test]
fn no_two_migrations_have_the_same_version() {
    let mut versions = BTreeMap::new();
    for migration in migrations() {
        let name = migration.rsplit('/').next().unwrap_or_default();
        let version = name.split('_').next().unwrap_or_default().replace('-', "");
        if let Some(other) = versions.insert(version, migration.clone()) {
            panic!("{migration} has the version of {other}: give the newer one another");
        }
    }
}

/// The server may finish an index although its migration was killed before it was recorded.
#[test]
fn statements_outside_a_transaction_are_repeatable() {
    for migration in migrations() {
        let sql = read(&root().join(&migration).join("up.sql"));
        for statement in statements(&sql).iter().filter(|statement| has(statement, "index concurrently")) {
            let repeatable = has(statement, "concurrently if not exists") || begins(statement, "drop");
            assert!(repeatable, "{migration}: CREATE INDEX CONCURRENTLY without IF NOT EXISTS");
        }
    }
}

#[test]
fn incompatible_migrations_are_detected() {
    let names = ["orders", "orders_pending"].map(|name| ("services/shop".to_owned(), name.to_owned()));
    let released = Released(names.into_iter().collect());
    let count = |sql: &str| errors("services/shop", sql, &released).len();
    for bad in [
        "DROP TABLE orders",
        "DROP TABLE IF EXISTS drafts, orders CASCADE",
        "DROP INDEX orders_pending",
        "ALTER TABLE orders DROP COLUMN note",
        "ALTER TABLE orders DROP note",
        "ALTER TABLE ONLY orders ADD COLUMN a TEXT, drop column note",
        "ALTER TABLE \"orders\" RENAME COLUMN note TO remark",
        "ALTER TABLE orders RENAME TO parcels",
        "ALTER TABLE orders ALTER COLUMN note SET NOT NULL",
        "ALTER TABLE orders ALTER note TYPE BIGINT USING note::BIGINT",
        "ALTER TABLE orders ALTER COLUMN note DROP DEFAULT",
        "ALTER TABLE orders ADD COLUMN note TEXT NOT NULL",
        "ALTER TABLE orders ADD CONSTRAINT short CHECK (length(note) < 9)",
        "ALTER TABLE orders ADD CHECK (length(note) < 9)",
        "ALTER TYPE mood RENAME TO moods",
        "CREATE INDEX orders_by_note ON orders (note)",
        "CREATE UNIQUE INDEX CONCURRENTLY orders_by_note ON public.orders (note)",
    ] {
        assert_eq!(count(bad), 1, "{bad}");
    }
    for good in [
        "ALTER TABLE orders ADD COLUMN note TEXT; -- DROP TABLE orders;",
        "ALTER TABLE orders ADD COLUMN note TEXT NOT NULL DEFAULT 'DROP TABLE orders; it''s'",
        "ALTER TABLE orders DROP CONSTRAINT short, ADD CONSTRAINT short CHECK (length(note) < 99)",
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_by_note ON orders (note)",
        "CREATE TABLE drafts (id TEXT NOT NULL); CREATE UNIQUE INDEX drafts_id ON drafts (id); DROP TABLE drafts",
        "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $body$ BEGIN DROP TABLE orders; END $body$",
        "/* DROP TABLE orders; */ INSERT INTO orders (note) VALUES ('x')",
    ] {
        assert_eq!(count(good), 0, "{good}");
    }
    assert_eq!(contracts_since("-- Why.\n-- contract: since release 2\nDROP TABLE orders;"), Some(2));
    assert_eq!(contracts_since("-- contract: soon\nDROP TABLE orders;"), None);
    assert!(is_declared_compatible(
        "-- compatible with release 1: it writes the same.\nDROP TABLE orders;",
        1
    ));
    assert!(
        !is_declared_compatible("-- compatible with release 1: it writes the same.", 2)
            && !is_declared_compatible("-- compatible with release 1: ", 1)
    );
}
