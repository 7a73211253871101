//! Databases that are restored from backups: one alone to an earlier moment, and what differs is named, order by order; all
//! five to one moment, and nothing differs and everything goes on. Real dumps of real databases.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use demo::clients::COD_DELIVERY;
use demo::eventually;
use local_stack::{Service, Stack, postgres_program};
use reference_shop::NewOrder;
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::{Business, PATIENCE, smallest_order, text, wait_until_quiet};

const ALL: [Service; 5] = [
    Service::OrderApi,
    Service::Wallet,
    Service::KeyManagement,
    Service::PortalApi,
    Service::WebhookDispatcher,
];

#[tokio::test(flavor = "multi_thread")]
async fn what_differs_after_a_restore_is_named_and_after_a_consistent_one_nothing_does() -> anyhow::Result<()>
{
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(1_000_000).await?;
    let (cash, cancelled) = (
        business.place(NewOrder::sample("cash")).await?,
        business.place(NewOrder::sample("cancelled")).await?,
    );
    wait_until_quiet(&stack).await?;
    let earlier = dump(&stack, "earlier")?;

    let live = business.live()?;
    let mut later = Vec::new();
    for reference in ["later-1", "later-2"] {
        later.push(text(&live.create(reference, &smallest_order(reference)).await?.expect(201)?, "id")?);
    }
    let amount = NewOrder::sample("cash").payment.cod_amount_paise;
    business.fleet.drive(&cash, &COD_DELIVERY, amount).await?;
    live.call(Method::POST, &format!("/{cancelled}/cancel"), Some(&json!({}))).await?.expect(200)?;
    wait_for_the_money(&business, &cancelled).await?;
    wait_until_quiet(&stack).await?;
    // What changed just now might be under way; so it changed a while ago.
    stack
        .query(Service::OrderApi, "UPDATE orders SET updated_at = updated_at - interval '2 minutes'")
        .await?;
    let now = dump(&stack, "now")?;
    assert_eq!(differences(&stack, 0).await?, BTreeSet::new());

    let named = |check: &str, order: &str| format!("{check} {order}");
    restore(&stack, &earlier, &[Service::OrderApi]).await?;
    let wanted = BTreeSet::from([
        named("debit_without_order", &later[0]),
        named("debit_without_order", &later[1]),
        named("refund_not_due", &cancelled),
        named("cash_differs_from_order", &cash),
    ]);
    assert_eq!(differences(&stack, 1).await?, wanted, "order-api alone is of the earlier moment");

    restore(&stack, &now, &[Service::OrderApi]).await?;
    restore(&stack, &earlier, &[Service::Wallet]).await?;
    let wanted = BTreeSet::from([
        named("order_without_debit", &later[0]),
        named("order_without_debit", &later[1]),
        named("refund_missing", &cancelled),
        named("cash_missing", &cash),
    ]);
    assert_eq!(differences(&stack, 1).await?, wanted, "wallet alone is of the earlier moment");

    restore(&stack, &earlier, &ALL).await?;
    assert_eq!(differences(&stack, 0).await?, BTreeSet::new(), "all are of one moment");
    it_goes_on(&business, &cash, &later[0]).await?;
    wait_until_quiet(&stack).await?;
    assert_eq!(differences(&stack, 0).await?, BTreeSet::new());
    stack.shut_down().await
}

async fn wait_for_the_money(business: &Business, cancelled: &str) -> anyhow::Result<()> {
    eventually("the fee to come back and the cash to be settled", PATIENCE, || async {
        let back = business.entries_of(cancelled).await?.len() == 2;
        let cash = business.portal.get("/cod").await?;
        Ok((back && cash["data"][0]["status"] == "settled").then_some(()))
    })
    .await
}

/// The shop tries again what it knows and the service forgot; what both know goes on; and the webhooks come.
async fn it_goes_on(business: &Business, known: &str, forgotten: &str) -> anyhow::Result<()> {
    let live = business.live()?;
    let again = live.create("later-1", &smallest_order("later-1")).await?;
    assert_eq!(again.header("Idempotent-Replayed"), None, "it is not known any more");
    assert_ne!(text(&again.expect(201)?, "id")?, forgotten);
    business.fleet.drive(known, &["driver.assigned"], 0).await?;
    let logged = format!(
        "/webhook-endpoints/{}/deliveries?event=driver.assigned&status=succeeded",
        business.endpoint_id
    );
    eventually("the webhook to arrive", PATIENCE, || async {
        let log = business.portal.get(&logged).await?;
        Ok((log["data"].as_array().map(Vec::len) == Some(1)).then_some(()))
    })
    .await
}

/// A dump of each database, while nothing is under way.
fn dump(stack: &Stack, name: &str) -> anyhow::Result<PathBuf> {
    let folder = stack.directory().join(name);
    std::fs::create_dir_all(&folder)?;
    for service in ALL {
        let file = file_of(&folder, service);
        run(Command::new(postgres_program("pg_dump")?)
            .args(["--format=custom", "--no-owner"])
            .arg(format!("--file={}", file.display()))
            .arg(format!("--dbname={}", stack.database_url(service))))?;
    }
    Ok(folder)
}

fn file_of(folder: &Path, service: Service) -> PathBuf {
    folder.join(format!("{service:?}.dump"))
}

/// Stops the services, gives their databases what the dumps hold, and starts them again.
async fn restore(stack: &Stack, from: &Path, services: &[Service]) -> anyhow::Result<()> {
    for service in services {
        stack.stop(*service).await?;
    }
    for service in services {
        stack.query(*service, "DROP SCHEMA public CASCADE; CREATE SCHEMA public").await?;
        run(Command::new(postgres_program("pg_restore")?)
            .args(["--no-owner", "--exit-on-error"])
            .arg(format!("--dbname={}", stack.database_url(*service)))
            .arg(file_of(from, *service)))?;
    }
    for service in services {
        stack.bring_up(*service).await?;
    }
    for service in services {
        stack.ready(*service).await?;
    }
    Ok(())
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// What the command finds, as `check subject`; it must end with this code.
async fn differences(stack: &Stack, code: i32) -> anyhow::Result<BTreeSet<String>> {
    let output = stack.run(Service::Wallet, &["reconcile", "--json", "--patience", "0"]).await?;
    let printed = String::from_utf8(output.stdout)?;
    assert_eq!(output.status.code(), Some(code), "{printed}");
    let report: Value = serde_json::from_str(&printed)?;
    assert_eq!((&report["complete"], &report["underWay"]), (&json!(true), &json!(0)), "{report}");
    let findings = report["findings"].as_array().context("findings")?;
    assert_eq!(report["total"], findings.len());
    let named = findings.iter().map(|one| Ok(format!("{} {}", text(one, "check")?, text(one, "subject")?)));
    named.collect()
}
