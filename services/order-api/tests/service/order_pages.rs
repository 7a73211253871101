//! Pages of large orders, and many pages at once.

use std::collections::HashSet;

use anyhow::Context;
use chrono::{DateTime, TimeDelta, Utc};
use diesel_async::SimpleAsyncConnection;
use futures_util::future::join_all;
use internal_api::orders::{ExceptionKind, SearchAnywhere};
use reqwest::Method;
use serde_json::{Value, json};
use test_kit::until;

use crate::after_failure::portal;
use crate::business::Business;
use crate::harness::{OrderApi, text};

/// Otherwise a page of the largest orders would stop the service while it is written.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_large_orders_ends_early() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let caller = business.test()?;
    let mut placed = Vec::new();
    for number in 0..25 {
        let reference = format!("large-{number}");
        let mut order = test_kit::smallest_order(&reference);
        // About 220, 70 and 20 KB.
        let name = "å".repeat([200, 50, 1][number % 3]);
        order["package"] = json!({"items": vec![json!({"name": name, "quantity": 1}); 500]});
        placed.push(text(&caller.create(&reference, &order).await?.expect(201)?, "id"));
    }
    // All of the same moment.
    placed.sort();
    let changed = placed.clone();
    placed.reverse();
    let page = async |after: &str| {
        let page = caller.call(Method::GET, after, None).await?.expect(200)?;
        let bytes = page.to_string().len();
        assert!(!ids(&page).is_empty() && bytes < 280 * 1024, "{bytes} bytes");
        anyhow::Ok(page)
    };
    // Newest first, and by the last change.
    for (query, wanted) in [("", &placed), ("&updatedAfter=2000-01-01T00:00:00Z", &changed)] {
        let (mut found, mut next) = (Vec::new(), String::new());
        loop {
            let page = page(&format!("?limit=25{query}{next}")).await?;
            found.extend(ids(&page).into_iter().map(str::to_owned));
            if page["hasMore"] == false {
                break;
            }
            next = format!("&startingAfter={}", page["next"].as_str().unwrap_or(&found[found.len() - 1]));
        }
        assert_eq!(&found, wanted, "{query}");
    }
    Ok(())
}

/// As a business's own.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_large_orders_of_any_business_ends_early() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let orders = portal(&service)?;
    let mut order = test_kit::smallest_order("large");
    // About 220 KB.
    order["package"] = json!({"items": vec![json!({"name": "å".repeat(200), "quantity": 1}); 500]});
    for business in [service.business(50_000), service.business(50_000), service.business(50_000)] {
        business.live()?.create("large", &order).await?.expect(201)?;
    }
    until("the orders are indexed", async || service.count("order_search").await == 3).await;
    let mut search = SearchAnywhere {
        search: Some("large".to_owned()),
        city: None,
        status: None,
        business: None,
        created_from: None,
        created_until: None,
        limit: 5,
        starting_after: None,
    };
    let first = orders.search_anywhere(&search).await?;
    assert_eq!((first.data.len(), first.has_more), (2, true), "an exact match and another");
    search.starting_after = Some(first.data[1].order.id.to_string());
    let second = orders.search_anywhere(&search).await?;
    assert_eq!((second.data.len(), second.has_more), (1, false));
    let found: HashSet<_> = first.data.iter().chain(&second.data).map(|found| found.order.id).collect();
    assert_eq!(found.len(), 3);
    assert_eq!(orders.find_anywhere("large").await?.len(), 3);

    service.clock.advance(TimeDelta::minutes(31));
    let page = orders.exceptions_anywhere(ExceptionKind::Unassigned, None, None, None).await?;
    assert_eq!((page.data.len(), page.has_more, page.counts.unassigned), (1, true, 3));
    Ok(())
}

fn ids(page: &Value) -> Vec<&str> {
    page["data"].as_array().into_iter().flatten().filter_map(|order| order["id"].as_str()).collect()
}

/// A page is read in portions.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_has_as_many_orders_as_wanted() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let caller = business.test()?;
    for number in 0..72 {
        let reference = format!("small-{number}");
        caller.create(&reference, &test_kit::smallest_order(&reference)).await?.expect(201)?;
    }
    for (limit, wanted, has_more) in
        [(1, 1, true), (34, 34, true), (35, 35, true), (70, 70, true), (72, 72, false), (100, 72, false)]
    {
        let page = caller.call(Method::GET, &format!("?limit={limit}"), None).await?.expect(200)?;
        let found = ids(&page);
        let different: HashSet<_> = found.iter().collect();
        assert_eq!((found.len(), different.len(), &page["hasMore"]), (wanted, wanted, &json!(has_more)));
    }
    Ok(())
}

/// Reading the order `slow` takes longer than a page may.
const SLOW: &str = "
    ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
    ALTER TABLE orders FORCE ROW LEVEL SECURITY;
    CREATE POLICY everything ON orders USING (true);
    CREATE POLICY slow ON orders AS RESTRICTIVE FOR SELECT
        USING (order_reference <> 'slow' OR pg_sleep(60)::text = '')";

/// Asks for many pages of these businesses, each of which has an order `slow`, and does something while two of each are read.
async fn with_slow_pages(
    service: &OrderApi,
    businesses: &[Business],
    meanwhile: impl AsyncFnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for business in businesses {
        place(business, "slow").await?;
    }
    service.connection().await.batch_execute(SLOW).await?;
    let callers: Vec<_> = businesses.iter().map(Business::test).collect::<Result<_, _>>()?;
    let pages = callers.iter().flat_map(|caller| (0..12).map(|_| caller.call(Method::GET, "?limit=1", None)));
    let meanwhile = async {
        let reads = "pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
        let slots = i64::try_from(2 * businesses.len())?;
        until("pages are being read", async || service.count(reads).await >= slots).await;
        meanwhile().await
    };
    let (pages, result) = tokio::join!(join_all(pages), meanwhile);
    for page in pages {
        assert_eq!(page?.status, 503);
    }
    result
}

async fn place(business: &Business, reference: &str) -> anyhow::Result<Value> {
    business.test()?.create(reference, &test_kit::smallest_order(reference)).await?.expect(201)
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_placed_while_many_pages_are_read() -> anyhow::Result<()> {
    let service = OrderApi::with(&[("WAYBILL_DATABASE__POOL_SIZE", "8")]).await;
    let businesses = [service.business(0), service.business(1)];
    with_slow_pages(&service, &businesses, async || {
        for number in 0..5 {
            place(&businesses[0], &format!("quick-{number}")).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_business_that_reads_many_pages_delays_no_other() -> anyhow::Result<()> {
    let service = OrderApi::with(&[("WAYBILL_DATABASE__POOL_SIZE", "8")]).await;
    let (many, other) = ([service.business(0)], service.business(1));
    place(&other, "quick").await?;
    with_slow_pages(&service, &many, async || {
        let page = other.test()?.call(Method::GET, "?limit=1", None).await?.expect(200)?;
        assert_eq!(ids(&page).len(), 1);
        Ok(())
    })
    .await
}

/// A takeover keeps the id, by which the list is sorted, and the time that the list shows.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_shows_a_taken_over_order_at_the_time_of_its_first_request() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let live = business.live()?;
    let refused = test_kit::smallest_order("refused");
    live.create("refused", &refused).await?.expect(402)?;
    let first_request = service.clock.now();
    service.clock.advance(TimeDelta::seconds(1));
    service.peers.set_balance(business.id, 100_000);
    live.create("placed", &test_kit::smallest_order("placed")).await?.expect(201)?;
    service.clock.advance(TimeDelta::seconds(1));
    let taken_over = live.create("refused", &refused).await?.expect(201)?;

    let page = live.call(Method::GET, "", None).await?.expect(200)?;
    let orders = page["data"].as_array().context("no list")?;
    let references: Vec<_> = orders.iter().map(|order| text(order, "orderReference")).collect();
    assert_eq!(references, ["placed", "refused"]);
    let created: Vec<DateTime<Utc>> =
        orders.iter().map(|order| Ok(text(order, "createdAt").parse()?)).collect::<anyhow::Result<_>>()?;
    assert!(created[0] > created[1], "{page}");
    assert_eq!((created[1] - first_request).num_milliseconds(), 0);
    assert_eq!(taken_over["createdAt"], orders[1]["createdAt"]);
    assert!(text(&orders[1], "updatedAt").parse::<DateTime<Utc>>()? > created[0], "it is placed now");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn references_are_compared_in_their_composed_form() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let caller = business.test()?;
    let (sent, composed) = ("Cafe\u{301}-1", "Caf\u{e9}-1");
    let placed = caller.create("decomposed", &test_kit::smallest_order(sent)).await?.expect(201)?;
    assert_eq!(placed["orderReference"], sent, "as it was sent");
    let again = caller.create("composed", &test_kit::smallest_order(composed)).await?;
    assert_eq!((again.status.as_u16(), again.code()), (409, "order_reference_exists"));
    assert_eq!(again.body["order"]["id"], placed["id"]);
    let found = caller.call(Method::GET, &format!("?orderReference={composed}"), None).await?.expect(200)?;
    assert_eq!(ids(&found), [text(&placed, "id")]);
    Ok(())
}
