//! SIGTERM, as in a rollout: each service answers its current calls and ends on its own within 25 s, even when its
//! peers hang.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use demo::clients::Api;
use demo::eventually;
use futures_util::future::join_all;
use local_stack::{Part, Service, Stack};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use url::Url;
use waybill_tests::{Business, Gate, PATIENCE, pickup_profile, smallest_order};

/// The platform's grace period.
const STOP_MAX: Duration = Duration::from_secs(25);

#[tokio::test(flavor = "multi_thread")]
async fn a_request_in_progress_is_answered() -> anyhow::Result<()> {
    let stack = Stack::for_tests().await?;
    let business = Business::sign_up(&stack).await?;
    for service in Service::ALL {
        answers_the_held_request(&stack, &business, service).await.with_context(|| service.name())?;
    }
    stack.shut_down().await
}

/// A request that makes the service write to the table.
fn request(service: Service) -> (&'static str, &'static str, Method, &'static str, Value, u16) {
    let hook = json!({ "url": "http://127.0.0.1:9/never" });
    match service {
        Service::OrderApi => {
            ("orders", "INSERT", Method::POST, "/integration/orders", smallest_order("held"), 201)
        }
        Service::Wallet => {
            ("top_ups", "INSERT", Method::POST, "/wallet/top-ups", json!({ "amountPaise": 100 }), 201)
        }
        Service::KeyManagement => {
            ("api_keys", "INSERT", Method::POST, "/api-keys", json!({ "mode": "test", "name": "held" }), 201)
        }
        Service::PortalApi => {
            ("pickup_profiles", "INSERT", Method::PUT, "/pickup-profile", pickup_profile(), 200)
        }
        Service::WebhookDispatcher => ("endpoints", "INSERT", Method::POST, "/webhook-endpoints", hook, 201),
    }
}

async fn answers_the_held_request(
    stack: &Stack,
    business: &Business,
    service: Service,
) -> anyhow::Result<()> {
    let (table, write, method, path, body, status) = request(service);
    let gate = Gate::close(stack.database_url(service), table, write, "TRUE").await;
    let (portal, test) = (business.portal.clone(), business.integration(&business.test_key)?);
    let asking = tokio::spawn(async move {
        match service {
            Service::OrderApi => test.create("key-held", &body).await,
            _ => portal.call(method, path, Some(&body)).await,
        }
    });
    gate.reached().await;
    let before = stops_logged(stack, service, "stopping")?;
    let answering = async {
        eventually("the stop to begin", PATIENCE, || async {
            Ok((stops_logged(stack, service, "stopping")? > before).then_some(()))
        })
        .await?;
        ensure!(!asking.is_finished(), "the request waits at the gate");
        gate.open().await;
        asking.await??.expect(status)
    };
    let (stopped, answered) = tokio::join!(ends_in_time(stack, service), answering);
    answered.context("the held request")?;
    stopped?;
    stack.bring_up(service).await
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_peers_delay_no_stop() -> anyhow::Result<()> {
    let stack = Stack::for_fault_tests().await?;
    let business = Business::sign_up(&stack).await?;
    let receiver = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}/never", receiver.local_addr()?);
    business.portal.post("/webhook-endpoints", &json!({ "url": url })).await?.expect(201)?;
    let test = business.integration(&business.test_key)?;
    test.create("key", &smallest_order("hung")).await?.expect(201)?;
    // The webhook is in flight: connected, and never answered.
    let (_webhook, _) = tokio::time::timeout(PATIENCE, receiver.accept()).await.context("the webhook")??;
    let mut unfinished = Vec::new();
    for service in Service::ALL {
        unfinished.push(half_a_request(&stack.internal_url(service)).await?);
        unfinished.push(half_a_request(&stack.management_url(service)).await?);
    }
    unfinished.push(half_a_request(&stack.order_api_origin()).await?);
    unfinished.push(half_a_request(&stack.portal_api()).await?);
    // Neither accepts connections nor responds on open ones.
    stack.pause(Part::RabbitMq)?;
    stack.pause(Part::Postgres)?;

    let stopped = join_all(Service::ALL.map(|service| ends_in_time(&stack, service))).await;
    stack.resume(Part::Postgres)?;
    stack.resume(Part::RabbitMq)?;
    for outcome in stopped {
        outcome?;
    }
    drop(unfinished);
    stack.shut_down().await
}

/// A caller that sends the head of a request and the start of its body, and then nothing.
async fn half_a_request(origin: &str) -> anyhow::Result<TcpStream> {
    let url = Url::parse(origin)?;
    let address = (url.host_str().context("a host")?, url.port().context("a port")?);
    let mut caller = TcpStream::connect(address).await?;
    let head = "POST /v1/integration/orders HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{";
    caller.write_all(head.as_bytes()).await?;
    // Connections are accepted in order, so it is in progress once a later caller is answered.
    let api = Api::new(origin)?;
    api.send(api.request(Method::GET, "/")).await?;
    Ok(caller)
}

/// Asserts that it ended on its own and was not killed.
async fn ends_in_time(stack: &Stack, service: Service) -> anyhow::Result<()> {
    let before = stops_logged(stack, service, "stopped")?;
    let signalled = Instant::now();
    stack.stop(service).await?;
    let took = signalled.elapsed();
    ensure!(took < STOP_MAX, "{} took {took:?}", service.name());
    let stopped = stops_logged(stack, service, "stopped")?;
    ensure!(stopped > before, "{} did not stop gracefully", service.name());
    Ok(())
}

/// The number of log lines with this message.
fn stops_logged(stack: &Stack, service: Service, message: &str) -> anyhow::Result<usize> {
    let message = format!(r#""message":"{message}""#);
    Ok(fs::read_to_string(stack.log(service))?.matches(&message).count())
}
