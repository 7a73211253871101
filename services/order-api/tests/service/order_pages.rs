//! Pages of large orders.

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
    placed.sort_by(|one, other| other.cmp(one));
    let page = async |after: &str| caller.call(Method::GET, after, None).await?.expect(200);
    let first = page("?limit=25").await?;
    let seen = ids(&first);
    assert!((15..25).contains(&seen.len()) && first["hasMore"] == true, "{} orders", seen.len());
    let second = page(&format!("?limit=25&startingAfter={}", seen[seen.len() - 1])).await?;
    assert_eq!((seen.len() + ids(&second).len(), &second["hasMore"]), (25, &json!(false)));
    assert_eq!([seen, ids(&second)].concat(), placed);
    Ok(())
}

fn ids(page: &Value) -> Vec<&str> {
    page["data"].as_array().into_iter().flatten().filter_map(|order| order["id"].as_str()).collect()
}
