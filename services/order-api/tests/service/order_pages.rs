//! Pages of large orders.

use std::collections::HashSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{OrderApi, text};

/// Otherwise a page of the largest orders would stop the service while it is written.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_large_orders_ends_early() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let business = service.business(0);
    let caller = business.test()?;
    let items = vec![json!({"name": "å".repeat(200), "quantity": 1}); 500];
    let mut placed = Vec::new();
    for number in 0..25 {
        let reference = format!("large-{number}");
        let mut order = test_kit::smallest_order(&reference);
        order["package"] = json!({"items": items});
        placed.push(text(&caller.create(&reference, &order).await?.expect(201)?, "id"));
    }
    // All of the same moment.
    placed.sort();
    let changed = placed.clone();
    placed.reverse();
    let page = async |after: &str| caller.call(Method::GET, after, None).await?.expect(200);
    let first = page("?limit=25").await?;
    let seen = ids(&first);
    assert!((2..10).contains(&seen.len()) && first["hasMore"] == true, "{} orders", seen.len());
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
