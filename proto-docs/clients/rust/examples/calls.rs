//! Each call of the API, one function per call: `calls create_order`. The reference of the documentation shows their code.

#![expect(clippy::print_stdout, reason = "a command line")]

use std::env;

use anyhow::bail;
use waybill_client::{
    ClientOptions, EventFilters, NewDeliveryDetails, NewReattempt, OrderBody, OrderFilters, Waybill,
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let waybill = Waybill::from_env(ClientOptions::default())?;
    match env::args().nth(1).as_deref() {
        Some("create_order") => create_order(&waybill).await,
        Some("get_order") => get_order(&waybill).await,
        Some("list_orders") => list_orders(&waybill).await,
        Some("list_order_events") => list_order_events(&waybill).await,
        Some("cancel_order") => cancel_order(&waybill).await,
        Some("reattempt_order") => reattempt_order(&waybill).await,
        Some("request_return") => request_return(&waybill).await,
        Some("correct_delivery") => correct_delivery(&waybill).await,
        Some("issue_delivery_code") => issue_delivery_code(&waybill).await,
        Some("get_evidence") => get_evidence(&waybill).await,
        Some("simulate_order") => simulate_order(&waybill).await,
        Some("list_events") => list_events(&waybill).await,
        Some("get_event") => get_event(&waybill).await,
        _ => bail!("name a call, such as create_order"),
    }
}

async fn create_order(waybill: &Waybill) -> anyhow::Result<()> {
    let order = OrderBody::from_json(
        r#"{
          "orderReference": "2001",
          "customer": {
            "name": "Asha Rao",
            "phone": "+919800000001"
          },
          "delivery": {
            "addressLine1": "12th Main Road",
            "city": "Bengaluru",
            "state": "Karnataka",
            "pincode": "560038"
          },
          "payment": {
            "paymentType": "prepaid",
            "deliveryFeePaise": 4900
          }
        }"#,
    );
    let created = waybill.orders.create(order, "malabar-coffee-2001").await?;
    println!("{} {}", created.order.id, created.order.tracking_url);
    Ok(())
}

async fn get_order(waybill: &Waybill) -> anyhow::Result<()> {
    println!("{:?}", waybill.orders.get("ord_…").await?);
    Ok(())
}

async fn list_orders(waybill: &Waybill) -> anyhow::Result<()> {
    let mut list = waybill.orders.list(OrderFilters::default());
    while let Some(order) = list.next().await? {
        println!("{} {}", order.id, order.status);
    }
    Ok(())
}

async fn list_order_events(waybill: &Waybill) -> anyhow::Result<()> {
    let mut timeline = waybill.orders.timeline("ord_…")?;
    while let Some(entry) = timeline.next().await? {
        println!("{} {}", entry.id, entry.kind);
    }
    Ok(())
}

async fn cancel_order(waybill: &Waybill) -> anyhow::Result<()> {
    let reason = Some("The customer changed their mind");
    let order = waybill.orders.cancel("ord_…", reason).await?;
    println!("{}", order.status);
    Ok(())
}

async fn reattempt_order(waybill: &Waybill) -> anyhow::Result<()> {
    let reattempt = NewReattempt { note: Some("Call before you come".into()), ..Default::default() };
    let order = waybill.orders.reattempt("ord_…", &reattempt).await?;
    println!("{:?}", order.reattempt);
    Ok(())
}

async fn request_return(waybill: &Waybill) -> anyhow::Result<()> {
    let order = waybill.orders.request_return("ord_…").await?;
    println!("{:?}", order.return_requested_at);
    Ok(())
}

async fn correct_delivery(waybill: &Waybill) -> anyhow::Result<()> {
    let details = NewDeliveryDetails { phone: Some("+91 98000 00009".into()), ..Default::default() };
    let order = waybill.orders.correct_delivery("ord_…", &details).await?;
    println!("{:?}", order.customer);
    Ok(())
}

async fn issue_delivery_code(waybill: &Waybill) -> anyhow::Result<()> {
    println!("{}", waybill.orders.issue_delivery_code("ord_…").await?);
    Ok(())
}

async fn get_evidence(waybill: &Waybill) -> anyhow::Result<()> {
    println!("{:?}", waybill.orders.evidence("ord_…").await?);
    Ok(())
}

async fn simulate_order(waybill: &Waybill) -> anyhow::Result<()> {
    println!("{:?}", waybill.orders.simulate("ord_…", "auto").await?);
    Ok(())
}

async fn list_events(waybill: &Waybill) -> anyhow::Result<()> {
    let mut list = waybill.events.list(EventFilters::default());
    while let Some(event) = list.next().await? {
        println!("{} {}", event.id, event.event);
    }
    Ok(())
}

async fn get_event(waybill: &Waybill) -> anyhow::Result<()> {
    println!("{:?}", waybill.events.get("evt_…").await?);
    Ok(())
}
