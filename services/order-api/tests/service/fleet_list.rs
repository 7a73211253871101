//! The list of the fleet: polling finds each change, also one that commits late and one between two pages
//! (SPECIFICATION §13).

use anyhow::Context;
use demo::clients::Fleet;
use demo::eventually;
use diesel::sql_types::Text;
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use domain::Clock;
use reqwest::Method;
use serde_json::{Value, json};
use test_kit::{Gate, PATIENCE, smallest_order};

use crate::business::{Business, pickup_profile};
use crate::harness::{OrderApi, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_polling_fleet_misses_no_change() -> anyhow::Result<()> {
    // The list also uses the clock of PostgreSQL.
    let service = OrderApi::on_clock(Clock::system(), &[]).await;
    let business = service.business(1_000_000);
    all_errors_of_a_query_are_named(&business).await?;
    pages_continue_where_the_previous_one_ended(&business).await?;
    a_late_commit_comes_before_no_listed_change(&service, &business).await?;
    a_status_is_found_by_its_index(&service).await?;
    half_an_address_is_none(&business).await
}

/// A driver never gets half an address: that of the profile is used, with a warning.
async fn half_an_address_is_none(business: &Business) -> anyhow::Result<()> {
    let mut body = smallest_order("half");
    body["pickup"] = json!({ "contactName": "Meera", "city": "Pune" });
    let placed = business.live()?.create("half", &body).await?.expect(201)?;
    assert_eq!(placed["warnings"][0]["code"], "pickup_address_replaced", "{placed}");
    let order =
        business.live()?.call(Method::GET, &format!("/{}", text(&placed, "id")), None).await?.expect(200)?;
    let profile = serde_json::to_value(pickup_profile())?;
    for field in ["addressLine1", "city", "pincode"] {
        assert_eq!(order["pickup"][field], profile[field], "{order}");
    }
    assert_eq!(order["pickup"]["contactName"], "Meera");
    Ok(())
}

async fn place(business: &Business, reference: &str) -> anyhow::Result<String> {
    Ok(text(&business.live()?.create(reference, &smallest_order(reference)).await?.expect(201)?, "id"))
}

fn ids(page: &Value) -> Vec<&str> {
    page["data"].as_array().into_iter().flatten().filter_map(|order| order["id"].as_str()).collect()
}

/// A polling fleet: by `next`, or by the last `updatedAt`.
struct Poller<'a> {
    fleet: &'a Fleet,
    by_time: bool,
    next: String,
    seen: Vec<(String, String)>,
}

impl<'a> Poller<'a> {
    fn new(fleet: &'a Fleet, by_time: bool) -> Self {
        Self { fleet, by_time, next: String::new(), seen: Vec::new() }
    }

    async fn poll(&mut self) -> anyhow::Result<()> {
        let page = self.fleet.orders(&format!("?limit=100{}", self.next)).await?.expect(200)?;
        assert_eq!(page["hasMore"], false, "one page holds all of this story");
        for order in page["data"].as_array().context("data")? {
            self.seen.push((text(order, "id"), text(order, "updatedAt")));
        }
        let last = self.seen.last().map(|(_, updated_at)| updated_at.clone()).unwrap_or_default();
        self.next = match page["next"].as_str() {
            Some(_) if self.by_time => format!("&updatedAfter={last}"),
            Some(next) => format!("&startingAfter={next}"),
            None => std::mem::take(&mut self.next),
        };
        Ok(())
    }

    /// Polls until `orders` were listed since the mark, and returns all listed ones.
    async fn listed(&mut self, mark: usize, orders: &[&str]) -> anyhow::Result<Vec<String>> {
        let begun = tokio::time::Instant::now();
        loop {
            self.poll().await?;
            let listed: Vec<String> = self.seen[mark..].iter().map(|(id, _)| id.clone()).collect();
            if orders.iter().all(|order| listed.iter().any(|id| id == order)) {
                return Ok(listed);
            }
            anyhow::ensure!(begun.elapsed() < PATIENCE, "only {listed:?} of {orders:?} were listed");
        }
    }
}

async fn all_errors_of_a_query_are_named(business: &Business) -> anyhow::Result<()> {
    for (query, field_errors) in [
        ("limit=0", &[("limit", "out_of_range")][..]),
        ("limit=101", &[("limit", "out_of_range")]),
        ("limit=abc", &[("limit", "out_of_range")]),
        ("limit=1&limit=2", &[("limit", "invalid_value")]),
        ("status=lost", &[("status", "invalid_value")]),
        ("updatedAfter=yesterday", &[("updatedAfter", "invalid_value")]),
        ("updatedSince=2026-01-31T09:30:00Z", &[("updatedSince", "unknown_parameter")]),
        ("startingAfter=", &[("startingAfter", "invalid_value")]),
        ("startingAfter=at_nonsense", &[("startingAfter", "invalid_value")]),
        ("startingAfter=ord_01ARZ3NDEKTSV4RRFFQ69G5FAV", &[("startingAfter", "invalid_value")]),
        (
            "status=lost&limit=0&x=1",
            &[("status", "invalid_value"), ("limit", "out_of_range"), ("x", "unknown_parameter")],
        ),
    ] {
        let refused = business.fleet.orders(&format!("?{query}")).await?;
        assert_eq!((refused.status.as_u16(), refused.code()), (400, "invalid_request"), "{query}");
        let named: Vec<_> = refused.body["errors"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|error| {
                (error["field"].as_str().unwrap_or_default(), error["code"].as_str().unwrap_or_default())
            })
            .collect();
        assert_eq!(named, field_errors, "{query}");
    }
    // An empty page has a cursor too.
    let idle = business.fleet.orders("?updatedAfter=2100-01-01T00:00:00Z").await?.expect(200)?;
    assert_eq!(ids(&idle), Vec::<&str>::new());
    let next = text(&idle, "next");
    business.fleet.orders(&format!("?startingAfter={next}")).await?.expect(200)?;
    Ok(())
}

/// An order that changes between two pages is listed again at its new position, and hides no other order.
async fn pages_continue_where_the_previous_one_ended(business: &Business) -> anyhow::Result<()> {
    let mut orders = Vec::new();
    for number in 0..5 {
        orders.push(place(business, &format!("paged-{number}")).await?);
    }
    let fleet = &business.fleet;
    let first = eventually("five orders to be listed", PATIENCE, || async {
        let all = fleet.orders("?limit=100").await?.expect(200)?;
        Ok((ids(&all).len() == 5).then_some(()))
    });
    first.await?;
    let first = fleet.orders("?limit=2").await?.expect(200)?;
    assert_eq!((ids(&first), &first["hasMore"]), (vec![orders[0].as_str(), &orders[1]], &json!(true)));

    fleet.report(&orders[1], "driver.assigned", 0).await?.expect(200)?;
    let after =
        |page: &Value| format!("?limit=2&startingAfter={}", page["next"].as_str().unwrap_or_default());
    let second = fleet.orders(&after(&first)).await?.expect(200)?;
    assert_eq!(ids(&second), [orders[2].as_str(), &orders[3]], "nothing was passed over");
    let third = eventually("the changed order to come again", PATIENCE, || async {
        let page = fleet.orders(&after(&second)).await?.expect(200)?;
        Ok((ids(&page).len() == 2).then_some(page))
    })
    .await?;
    assert_eq!(ids(&third), [orders[4].as_str(), &orders[1]]);
    let end = fleet.orders(&after(&third)).await?.expect(200)?;
    assert_eq!(
        (ids(&end), &end["hasMore"], &end["next"]),
        (vec![], &json!(false), &third["next"]),
        "to go on later"
    );

    // An id stands for the current position of its order.
    let by_id = fleet.orders(&format!("?startingAfter={}", orders[4])).await?.expect(200)?;
    assert_eq!(ids(&by_id), [orders[1].as_str()]);
    let assigned = fleet.orders("?status=driver_assigned").await?.expect(200)?;
    assert_eq!(ids(&assigned), [orders[1].as_str()]);
    Ok(())
}

/// One change is held in its transaction while a later one commits.
async fn a_late_commit_comes_before_no_listed_change(
    service: &OrderApi,
    business: &Business,
) -> anyhow::Result<()> {
    let (late, quick) = (place(business, "late").await?, place(business, "quick").await?);
    let mut pollers = [Poller::new(&business.fleet, false), Poller::new(&business.fleet, true)];
    let mut marks = [0; 2];
    for (poller, mark) in pollers.iter_mut().zip(&mut marks) {
        poller.listed(0, &[&late, &quick]).await?;
        *mark = poller.seen.len();
    }

    let condition = "NEW.order_reference = 'late'";
    let gate = Gate::close(service.settings.database.url.expose(), "orders", "UPDATE", condition).await;
    let (fleet, held) = (business.fleet.clone(), late.clone());
    let reporting = tokio::spawn(async move { fleet.report(&held, "driver.assigned", 0).await });
    gate.reached().await;
    let moved = business.fleet.report(&quick, "driver.assigned", 0).await?.expect(200)?;
    // Long enough to list the quick one, if that were possible.
    let second_has_passed = format!(
        "generate_series(1, 1) WHERE clock_timestamp() > timestamptz '{}' + interval '1 second'",
        text(&moved, "updatedAt")
    );
    eventually("a second to pass", PATIENCE, || async {
        for poller in [true, false] {
            Poller::new(&business.fleet, poller).poll().await?;
        }
        Ok((service.count(&second_has_passed).await == 1).then_some(()))
    })
    .await?;
    for poller in &mut pollers {
        poller.poll().await?;
    }
    gate.open().await;
    let moved_late = reporting.await??.expect(200)?;
    assert!(
        text(&moved_late, "updatedAt") < text(&moved, "updatedAt"),
        "the story is about this order of times"
    );
    for (poller, mark) in pollers.iter_mut().zip(marks) {
        let listed = poller.listed(mark, &[&late, &quick]).await?;
        assert_eq!(listed, [late.clone(), quick.clone()], "each once, by_time = {}", poller.by_time);
    }
    Ok(())
}

/// The plan must not read the orders with other statuses.
async fn a_status_is_found_by_its_index(service: &OrderApi) -> anyhow::Result<()> {
    #[derive(diesel::QueryableByName)]
    struct Line {
        #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
        line: String,
    }
    let mut conn = service.connection().await;
    conn.batch_execute("SET enable_seqscan = off; SET enable_bitmapscan = off").await?;
    let explain = "EXPLAIN (COSTS OFF) SELECT id FROM orders
        WHERE mode = 'live' AND placement = 'placed' AND status = 'created' AND updated_at < now()
        ORDER BY updated_at, id LIMIT 20";
    let lines: Vec<Line> = diesel::sql_query(explain).load(&mut conn).await?;
    let plan: String = lines.into_iter().map(|line| line.line + "\n").collect();
    assert!(plan.contains("orders_for_fleet_by_status") && !plan.contains("Sort"), "{plan}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fleets_previous_token_is_accepted_while_it_is_set() -> anyhow::Result<()> {
    let (current, previous) = ("the present token of the fleet", "the former token of the fleet");
    let set = ("WAYBILL_FLEET__TOKEN", current);
    let both = OrderApi::with(&[set, ("WAYBILL_FLEET__PREVIOUS_TOKEN", previous)]).await;
    let alone = OrderApi::with(&[set]).await;
    for (service, token, status) in
        [(&both, current, 200), (&both, previous, 200), (&alone, current, 200), (&alone, previous, 401)]
    {
        let listed = Fleet::new(&service.base(), token)?.orders("").await?;
        assert_eq!(listed.status, status, "{token}: {}", listed.text);
    }
    Ok(())
}
