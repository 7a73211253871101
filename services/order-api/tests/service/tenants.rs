//! A key reads the orders of its business in its mode. For all other orders it gets 404.

use domain::Mode;
use reqwest::Method;
use serde_json::json;
use test_kit::smallest_order;

use crate::harness::{OrderApi, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_key_reads_only_the_orders_of_its_business_and_mode() -> anyhow::Result<()> {
    let service = OrderApi::start().await;
    let (owner, stranger) = (service.business(100_000), service.business(100_000));
    for mode in [Mode::Test, Mode::Live] {
        let (mine, across) = match mode {
            Mode::Test => (owner.test()?, owner.live()?),
            Mode::Live => (owner.live()?, owner.test()?),
        };
        let id = text(&mine.create("mine", &smallest_order("mine")).await?.expect(201)?, "id");
        let path = format!("/{id}");
        let before = mine.call(Method::GET, &path, None).await?.expect(200)?;
        let strangers = [(Mode::Test, stranger.test()?), (Mode::Live, stranger.live()?)];
        let others = [(if mode == Mode::Test { Mode::Live } else { Mode::Test }, across)];
        for (of_mode, other) in strangers.iter().chain(&others) {
            let mut calls = vec![
                (Method::GET, path.clone(), None),
                (Method::GET, format!("{path}/events"), None),
                (Method::GET, format!("{path}/evidence"), None),
                (Method::POST, format!("{path}/delivery-code"), None),
                (Method::POST, format!("{path}/cancel"), None),
                (Method::POST, format!("{path}/reattempt"), None),
                (Method::POST, format!("{path}/return"), None),
                (Method::POST, format!("{path}/delivery-details"), Some(json!({ "phone": "+919800000009" }))),
            ];
            if *of_mode == Mode::Test {
                let event = Some(json!({ "event": "driver.assigned" }));
                calls.push((Method::POST, format!("{path}/simulate"), event));
            }
            for (method, path, body) in calls {
                let refused = other.call(method.clone(), &path, body.as_ref()).await?;
                let error = (refused.status.as_u16(), refused.code());
                assert_eq!(error, (404, "order_not_found"), "{mode} order, {of_mode} key: {method} {path}");
            }
            let listed = other.call(Method::GET, "", None).await?.expect(200)?;
            assert!(!listed.to_string().contains(&id), "{mode} order, {of_mode} key: {listed}");
            let behind = other.call(Method::GET, &format!("?startingAfter={id}"), None).await?;
            assert_eq!(behind.status, 400, "{}", behind.text);
        }
        assert_eq!(mine.call(Method::GET, &path, None).await?.expect(200)?, before);
        mine.call(Method::POST, &format!("{path}/cancel"), None).await?.expect(200)?;
    }
    Ok(())
}
