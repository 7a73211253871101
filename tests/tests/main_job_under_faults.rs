//! The same story while processes are killed and the broker restarts in the middle: it still ends well, with one debit
//! per order and no webhook missing.

use demo::clients::COD_DELIVERY;
use demo::eventually;
use local_stack::{Part, Service, Stack};
use reference_shop::NewOrder;
use waybill_tests::{Business, PATIENCE, assert_in_order, kinds, wait_until_quiet};

const FEE: i64 = 4_900;
const ORDERS: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn killed_processes_cost_time_and_nothing_else() -> anyhow::Result<()> {
    let stack = Stack::for_fault_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(1_000_000).await?;
    let before = business.balance().await?;

    let parts: [Part; 5] = [
        Service::OrderApi.into(),
        Service::Wallet.into(),
        Service::WebhookDispatcher.into(),
        Part::RabbitMq,
        Part::Postgres,
    ];
    for part in parts {
        orders_while(&stack, &business, part).await?;
    }
    wait_until_quiet(&stack).await?;
    let placed = i64::try_from(parts.len() * ORDERS)?;
    assert_eq!(business.balance().await?, before - placed * FEE, "each order was paid once");
    stack.shut_down().await
}

/// Places orders and drives them to their end, while one part is killed in the middle.
async fn orders_while(stack: &Stack, business: &Business, part: Part) -> anyhow::Result<()> {
    let name = format!("{part:?}").to_lowercase().replace(['(', ')'], "-");
    let killed = async {
        // With the round's first order stored, its way is under way; where exactly, the scheduler decides.
        eventually("the first order", PATIENCE, || async {
            let sql = format!("SELECT count(*) FROM orders WHERE order_reference LIKE '{name}-%'");
            Ok((stack.query(Service::OrderApi, &sql).await?.trim() != "0").then_some(()))
        })
        .await?;
        stack.kill(part).await
    };
    let shipped = async {
        let mut orders = Vec::new();
        for number in 0..ORDERS {
            let sample = NewOrder::sample(&format!("{name}-{number}"));
            let (reference, cod) = (sample.order_reference.clone(), sample.payment.cod_amount_paise);
            let order = business.place_through_faults(sample).await?;
            business.drive_through_faults(&order, &COD_DELIVERY, cod).await?;
            orders.push((order, reference));
        }
        anyhow::Ok(orders)
    };
    let (killed, orders) = tokio::join!(killed, shipped);
    killed?;
    stack.wait_ready().await?;
    for (order, reference) in orders? {
        let hooks = business.webhooks_of(&reference, 1 + COD_DELIVERY.len()).await?;
        assert_in_order(&hooks);
        assert_eq!(kinds(&hooks)[1..], COD_DELIVERY, "{reference} while {part:?} was killed");
        assert_eq!(business.entries_of(&order).await?, [("delivery_fee".to_owned(), -FEE)], "{reference}");
    }
    Ok(())
}
