//! Test orders moved by hand and automatically: with the same state machine, with real signed webhooks in mode test,
//! even when the service is killed during a simulation.

use anyhow::Context;
use demo::clients::{COD_DELIVERY, Integration, PREPAID_DELIVERY};
use demo::{eventually, sample_order, sample_prepaid_order};
use local_stack::{Service, Stack};
use reqwest::Method;
use serde_json::{Value, json};
use waybill_tests::{Business, PATIENCE, assert_in_order, kinds, smallest_order, text};

#[tokio::test(flavor = "multi_thread")]
async fn test_orders_move_by_hand_and_automatically() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let mut business = Business::sign_up(&stack).await?;
    each_response_lists_the_next_legal_events(&business).await?;
    only_valid_events_and_orders_can_be_simulated(&business).await?;
    // At once, because each waits for many steps, which are a second apart.
    tokio::try_join!(
        a_suffix_picks_the_outcome(&business),
        a_simulation_continues_from_the_order_s_state(&stack, &business),
        any_end_ends_a_simulation(&stack, &business),
        an_order_without_a_driver_can_be_moved_to_its_end(&stack, &business),
    )?;
    an_automatic_run_survives_a_crash(&stack, &business).await?;
    live_orders_are_left_alone(&stack, &mut business).await?;
    stack.shut_down().await
}

async fn simulate(key: &Integration, order: &str, body: Value) -> anyhow::Result<demo::clients::Reply> {
    key.call(Method::POST, &format!("/{order}/simulate"), Some(&body)).await
}

async fn each_response_lists_the_next_legal_events(business: &Business) -> anyhow::Result<()> {
    let key = business.integration(&business.test_key)?;
    let order = business.place(&sample_order("by-hand")).await?;
    let refused = simulate(&key, &order, json!({ "event": "order.delivered" })).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (409, "illegal_transition"));
    let mut legal = refused.body["legal"].clone();
    assert_eq!(legal, json!(["driver.assigned", "order.failed", "order.cancelled"]));
    for event in COD_DELIVERY {
        assert!(legal.as_array().is_some_and(|legal| legal.contains(&json!(event))), "{event} of {legal}");
        let moved = simulate(&key, &order, json!({ "event": event })).await?.expect(200)?;
        assert_eq!((&moved["id"], &moved["simulation"]), (&json!(order), &json!(null)));
        assert_eq!(moved["driver"], json!(null), "only the event contains the simulated driver");
        legal = moved["legal"].clone();
    }
    assert_eq!(legal, json!([]));
    let over = simulate(&key, &order, json!({ "event": "auto" })).await?;
    assert_eq!((over.status.as_u16(), over.code()), (409, "illegal_transition"));
    assert_eq!((&over.body["legal"], &over.body["codStatus"]), (&json!([]), &json!("settled")));

    let hooks = business.webhooks_of("by-hand", 1 + COD_DELIVERY.len()).await?;
    assert_in_order(&hooks);
    assert!(hooks.iter().all(|hook| hook.event.mode == "test"));
    Ok(())
}

async fn only_valid_events_and_orders_can_be_simulated(business: &Business) -> anyhow::Result<()> {
    let key = business.integration(&business.test_key)?;
    let order = business.place(&sample_order("nonsense")).await?;
    for body in [
        json!({}),
        json!([]),
        json!({ "event": null }),
        json!({ "event": 1 }),
        json!({ "event": "AUTO" }),
        json!({ "event": "order.created" }),
        json!({ "event": "webhook.test" }),
        json!({ "event": "wallet.low_balance" }),
    ] {
        let refused = simulate(&key, &order, body.clone()).await?;
        assert_eq!((refused.status.as_u16(), refused.code()), (400, "invalid_request"), "{body}");
    }
    for unknown in ["ord_01ARZ3NDEKTSV4RRFFQ69G5FAV", "x"] {
        assert_eq!(simulate(&key, unknown, json!({ "event": "auto" })).await?.status, 404);
    }
    Ok(())
}

/// Waits until the order has this status and its simulation is over.
async fn wait_for(
    stack: Option<&Stack>,
    key: &Integration,
    order: &str,
    status: &str,
    cod: &str,
) -> anyhow::Result<()> {
    eventually(&format!("{status} and {cod}"), PATIENCE, || async {
        // The service may be down.
        let Ok(reply) = key.call(Method::GET, &format!("/{order}"), None).await else { return Ok(None) };
        let there = reply.body["status"] == status && reply.body["codStatus"] == cod;
        let over = match stack {
            None => true,
            Some(stack) => {
                let sql = format!("SELECT count(*) FROM simulations WHERE order_id = '{order}'");
                stack.query(Service::OrderApi, &sql).await?.trim() == "0"
            }
        };
        Ok((there && over).then_some(()))
    })
    .await
}

async fn a_suffix_picks_the_outcome(business: &Business) -> anyhow::Result<()> {
    let key = business.integration(&business.test_key)?;
    for (reference, status, expected) in [
        ("s-FAILED", "failed", &["order.created", "driver.assigned", "order.picked_up", "order.failed"][..]),
        ("s-CANCELLED", "cancelled", &["order.created", "order.cancelled"]),
        // `driver.unassigned` is opt-in.
        ("s-NODRIVER", "created", &["order.created", "driver.assigned"]),
    ] {
        let placed = key.create(reference, &smallest_order(reference)).await?.expect(201)?;
        assert_eq!(placed["status"], "created");
        let order = text(&placed, "id")?;
        let moves = eventually(&format!("the end of {reference}"), PATIENCE, || async {
            let page = key.call(Method::GET, &format!("/{order}/events"), None).await?.expect(200)?;
            let moves: Vec<Value> = page["data"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|entry| entry["type"] == "status")
                .map(|entry| entry["event"].clone())
                .collect();
            let last =
                if status == "created" { "driver.unassigned".to_owned() } else { format!("order.{status}") };
            Ok((moves.last() == Some(&json!(last))).then_some(moves))
        })
        .await?;
        let with_unassigned = expected.len() + usize::from(status == "created");
        assert_eq!(moves.len(), with_unassigned, "{moves:?}");
        let view = key.call(Method::GET, &format!("/{order}"), None).await?.expect(200)?;
        assert_eq!(view["status"], status);
        let hooks = business.webhooks_of(reference, expected.len()).await?;
        assert_eq!(kinds(&hooks), expected);
        assert!(hooks.iter().all(|hook| hook.event.mode == "test"));
    }
    Ok(())
}

async fn an_automatic_run_survives_a_crash(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let key = business.integration(&business.test_key)?;
    let order = business.place(&sample_order("auto")).await?;
    let begun = simulate(&key, &order, json!({ "event": "auto" })).await?.expect(200)?;
    assert_eq!(begun["simulation"]["scenario"], "delivered");
    assert_eq!(begun["simulation"]["nextEvent"], "driver.assigned");
    assert!(begun["simulation"]["nextAt"].is_string());
    // A status lasts a second: a busy machine may see only a later one.
    let statuses = ["driver_assigned", "picked_up", "out_for_delivery", "delivered"];
    for reached in [&statuses[..], &statuses[2..]] {
        eventually(reached[0], PATIENCE, || async {
            let Ok(reply) = key.call(Method::GET, &format!("/{order}"), None).await else { return Ok(None) };
            Ok(reached.iter().any(|status| reply.body["status"] == *status).then_some(()))
        })
        .await?;
        stack.kill(Service::OrderApi).await?;
    }
    wait_for(Some(stack), &key, &order, "delivered", "settled").await?;
    let hooks = business.webhooks_of("auto", 1 + COD_DELIVERY.len()).await?;
    assert_in_order(&hooks);
    assert_eq!(kinds(&hooks)[1..], COD_DELIVERY);
    Ok(())
}

async fn a_simulation_continues_from_the_order_s_state(
    stack: &Stack,
    business: &Business,
) -> anyhow::Result<()> {
    // Through the portal, with a move by hand during the simulation.
    let key = business.integration(&business.test_key)?;
    let order = business.place(&sample_prepaid_order("relayed")).await?;
    let path = format!("/orders/{order}/simulate");
    let begun = business.portal.post(&path, &json!({ "event": "auto" })).await?.expect(200)?;
    assert_eq!(begun["simulation"]["nextEvent"], "driver.assigned");
    assert_eq!(begun["legal"], json!(["driver.assigned", "order.failed", "order.cancelled"]));
    let moved = simulate(&key, &order, json!({ "event": "driver.assigned" })).await?.expect(200)?;
    assert_eq!(moved["simulation"]["nextEvent"], "order.picked_up", "the simulation continues");
    wait_for(Some(stack), &key, &order, "delivered", "not_applicable").await?;
    let hooks = business.webhooks_of("relayed", 1 + PREPAID_DELIVERY.len()).await?;
    assert_eq!(kinds(&hooks)[1..], PREPAID_DELIVERY);
    Ok(())
}

async fn any_end_ends_a_simulation(stack: &Stack, business: &Business) -> anyhow::Result<()> {
    let key = business.integration(&business.test_key)?;
    let order = business.place(&sample_prepaid_order("called-off")).await?;
    simulate(&key, &order, json!({ "event": "auto" })).await?.expect(200)?;
    key.call(Method::POST, &format!("/{order}/cancel"), None).await?.expect(200)?;
    wait_for(Some(stack), &key, &order, "cancelled", "not_applicable").await
}

async fn an_order_without_a_driver_can_be_moved_to_its_end(
    stack: &Stack,
    business: &Business,
) -> anyhow::Result<()> {
    let key = business.integration(&business.test_key)?;
    let placed = key.create("t-NODRIVER", &smallest_order("t-NODRIVER")).await?.expect(201)?;
    let order = text(&placed, "id")?;
    let sql = format!("SELECT count(*) FROM simulations WHERE order_id = '{order}'");
    eventually("the driver to drop out", PATIENCE, || async {
        Ok((stack.query(Service::OrderApi, &sql).await?.trim() == "0").then_some(()))
    })
    .await?;
    simulate(&key, &order, json!({ "event": "auto" })).await?.expect(200)?;
    wait_for(Some(stack), &key, &order, "delivered", "not_applicable").await
}

async fn live_orders_are_left_alone(stack: &Stack, business: &mut Business) -> anyhow::Result<()> {
    business.go_live(100_000).await?;
    let live = business.live()?;
    let placed = live.create("live-FAILED", &smallest_order("live-FAILED")).await?.expect(201)?;
    let order = text(&placed, "id")?;
    let refused = simulate(&live, &order, json!({ "event": "auto" })).await?;
    assert_eq!((refused.status.as_u16(), refused.code()), (403, "simulate_needs_test_key"));
    let test = business.integration(&business.test_key)?;
    assert_eq!(simulate(&test, &order, json!({ "event": "auto" })).await?.status, 404);
    let relayed =
        business.portal.post(&format!("/orders/{order}/simulate"), &json!({ "event": "auto" })).await?;
    assert_eq!((relayed.status.as_u16(), relayed.code()), (403, "simulate_needs_test_order"));
    let runs = stack.query(Service::OrderApi, "SELECT count(*) FROM simulations").await?;
    assert_eq!(runs.trim().parse::<i64>().context("a count")?, 0);
    Ok(())
}
