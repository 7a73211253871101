//! One trace follows an order from the HTTP request through wallet, outbox, broker and dispatcher to the webhook, in an
//! OTLP collector; and an unreachable collector affects no order.

mod collector;

use std::fs;
use std::time::Duration;

use anyhow::Context;
use collector::{Collector, Span};
use demo::clients::Api;
use demo::{eventually, sample_prepaid_order};
use local_stack::{Servers, Service, Stack, StackOptions};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::Value;
use waybill_tests::{Business, PATIENCE, smallest_order};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
/// The span of the caller.
const CALLER: &str = "b7ad6b7169203331";
/// The platform's time between the stop signal and the kill.
const STOP_MAX: Duration = Duration::from_secs(25);

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_follows_an_order_to_its_webhook() -> anyhow::Result<()> {
    let collector = Collector::default();
    let stack = stack(&collector.start()?).await?;
    let mut business = Business::sign_up(&stack).await?;
    business.go_live(1_000_000).await?;
    let request_id = place(&business, "traced-1", Some(TRACE)).await?;
    the_trace_of_a_live_order(&collector, &business).await?;
    the_first_test_order_reaches_the_portal(&collector).await?;
    failed_attempts_are_marked(&collector, &business).await?;
    log_lines_are_joined_with_traces(&stack, &request_id)?;
    nothing_personal_is_in_a_trace(&collector, &business);
    a_hanging_collector_affects_no_order(&collector, &stack, &business).await?;
    tokio::time::timeout(STOP_MAX, stack.shut_down()).await.context("the stop waits for the collector")?
}

async fn stack(collector: &str) -> anyhow::Result<Stack> {
    let servers = Servers::for_tests().await?;
    let mut options = StackOptions::on_test_servers(&Stack::test_directory()?, servers);
    for service in Service::ALL {
        options = options.variable(service, "WAYBILL_TELEMETRY__OTLP_ENDPOINT", collector);
    }
    Stack::start_for_test(options).await
}

/// Places a live order. Returns its request id.
async fn place(business: &Business, reference: &str, trace: Option<&str>) -> anyhow::Result<String> {
    let api = business.live()?.api;
    let mut request = api
        .request(reqwest::Method::POST, "/integration/orders")
        .bearer_auth(business.live_key.as_deref().unwrap_or_default())
        .header("Idempotency-Key", reference)
        .json(&smallest_order(reference));
    if let Some(trace) = trace {
        request = request.header("traceparent", format!("00-{trace}-{CALLER}-01"));
    }
    let reply = api.send(request).await?;
    let id = reply.headers.get("request-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    reply.expect(201)?;
    Ok(id)
}

/// The only span with this name and kind below another.
fn below(spans: &[Span], parent: &str, service: &str, kind: SpanKind, name: &str) -> Option<Span> {
    let mut found = spans.iter().filter(|span| {
        (span.parent.as_str(), span.service.as_str(), span.kind, span.name.as_str())
            == (parent, service, kind, name)
    });
    let first = found.next().cloned();
    assert_eq!(found.count(), 0, "more than one {name} of {service} below {parent}");
    first
}

async fn the_trace_of_a_live_order(collector: &Collector, business: &Business) -> anyhow::Result<()> {
    // Each with the index of its parent in this list.
    let way: [(&str, SpanKind, &str, &str); 7] = [
        ("caller", SpanKind::Server, "order-api", "POST /v1/integration/orders"),
        ("0", SpanKind::Client, "order-api", "PUT"),
        ("1", SpanKind::Server, "wallet", "PUT /internal/debits/{order}/{attempt}"),
        ("0", SpanKind::Producer, "order-api", "publish waybill.events"),
        ("3", SpanKind::Consumer, "webhook-dispatcher", "process webhook-dispatcher.events"),
        ("4", SpanKind::Internal, "webhook-dispatcher", "webhook"),
        ("5", SpanKind::Client, "webhook-dispatcher", "POST"),
    ];
    let found = eventually("every hop of the order's trace", PATIENCE, || async {
        let spans = collector.of_trace(TRACE);
        let mut found: Vec<Span> = Vec::new();
        for (of, kind, service, name) in &way {
            let parent = of.parse().map_or(CALLER, |place: usize| found[place].id.as_str());
            match below(&spans, parent, service, *kind, name) {
                Some(span) => found.push(span),
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    })
    .await?;
    let attribute = |place: usize, name: &str| found[place].attributes.get(name).map(String::as_str);
    assert_eq!(attribute(0, "http.request.method"), Some("POST"));
    assert_eq!(attribute(0, "http.route"), Some("/v1/integration/orders"));
    assert_eq!(attribute(0, "http.response.status_code"), Some("201"));
    assert_eq!(attribute(1, "peer.service"), Some("wallet"));
    assert_eq!(attribute(1, "http.response.status_code"), Some("200"));
    for place in [3, 4] {
        assert_eq!(attribute(place, "messaging.system"), Some("rabbitmq"));
        assert_eq!(
            attribute(place, "messaging.rabbitmq.destination.routing_key"),
            Some("live.order.created")
        );
        assert_eq!(attribute(place, "messaging.message.id"), attribute(3, "messaging.message.id"));
    }
    assert_eq!(attribute(4, "messaging.destination.name"), Some("webhook-dispatcher.events"));
    assert_eq!(attribute(6, "http.response.status_code"), Some("200"));
    assert!(found.iter().all(|span| !span.failed), "{found:#?}");

    // The receiver got the span of this attempt.
    let path = format!("/webhook-endpoints/{}/deliveries?limit=1", business.endpoint_id);
    let log = business.portal.get(&path).await?;
    let id = waybill_tests::text(&log["data"][0], "id")?;
    let details = business.portal.get(&format!("/webhook-deliveries/{id}")).await?;
    let traceparent = &details["attemptLog"][0]["requestHeaders"]["traceparent"];
    assert_eq!(traceparent.as_str(), Some(format!("00-{TRACE}-{}-01", found[6].id).as_str()));
    Ok(())
}

/// A write batch of many requests announces the go-live fact, in the trace of each request.
async fn the_first_test_order_reaches_the_portal(collector: &Collector) -> anyhow::Result<()> {
    eventually("the first test order's trace", PATIENCE, || async {
        let spans = collector.spans();
        let ends = spans.iter().filter(|span| span.name == "process portal-api.facts");
        let begins = ends.map(|end| {
            let in_trace = |span: &&Span| span.trace == end.trace && span.parent.is_empty();
            spans.iter().find(in_trace).map(|span| (span.service.as_str(), span.name.as_str()))
        });
        let wanted = Some(("order-api", "POST /v1/integration/orders"));
        Ok(begins.into_iter().any(|begin| begin == wanted).then_some(()))
    })
    .await
}

async fn failed_attempts_are_marked(collector: &Collector, business: &Business) -> anyhow::Result<()> {
    business.inbox.fail_next();
    business.place(&sample_prepaid_order("traced-2")).await?;
    let attempts = eventually("a failed and a successful attempt", PATIENCE, || async {
        let spans = collector.spans();
        let Some(failed) = spans.iter().find(|span| span.name == "POST" && span.failed) else {
            return Ok(None);
        };
        let of_trace = spans.iter().filter(|span| span.trace == failed.trace && span.name == "POST");
        let of_trace: Vec<Span> =
            of_trace.filter(|span| span.service == "webhook-dispatcher").cloned().collect();
        Ok((of_trace.len() == 2).then_some(of_trace))
    })
    .await?;
    let outcome = |span: &Span| {
        let attribute = |name: &str| span.attributes.get(name).cloned();
        (span.failed, attribute("http.response.status_code"), attribute("error.type"))
    };
    let mut outcomes: Vec<_> = attempts.iter().map(outcome).collect();
    outcomes.sort();
    let (ok, bad) = (Some("200".to_owned()), Some("500".to_owned()));
    assert_eq!(outcomes, [(false, ok, None), (true, bad.clone(), bad)]);
    Ok(())
}

fn log_lines_are_joined_with_traces(stack: &Stack, request_id: &str) -> anyhow::Result<()> {
    let log = fs::read_to_string(stack.directory().join("logs/order-api.log"))?;
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answered = lines.into_iter().find(|line| {
        line["message"] == "request answered"
            && line["spans"].as_array().into_iter().flatten().any(|span| span["request_id"] == request_id)
    });
    let answered = answered.context("the request's line is not in the log")?;
    assert_eq!(answered["spans"][0]["trace_id"], TRACE, "{answered}");
    Ok(())
}

fn nothing_personal_is_in_a_trace(collector: &Collector, business: &Business) {
    let order = smallest_order("x");
    let secret = [&business.test_key, business.live_key.as_ref().unwrap_or(&business.test_key)];
    let personal = ["/customer/name", "/customer/phone", "/delivery/addressLine1", "/delivery/pincode"];
    let personal = personal.iter().filter_map(|field| order.pointer(field)?.as_str());
    let of_the_account = ["Malabar", "example.com", "a-long-password", "whsec_", "sk_", "Bearer", "/shop"];
    let hook = url::Url::parse(business.inbox.url()).map(|url| url.path().to_owned()).unwrap_or_default();
    let forbidden: Vec<&str> = secret
        .into_iter()
        .map(String::as_str)
        .chain(personal)
        .chain(of_the_account)
        .chain([hook.as_str()])
        .collect();
    let spans = collector.spans();
    assert!(spans.len() > 50, "only {} spans", spans.len());
    for span in spans {
        for word in &forbidden {
            assert!(!span.whole.contains(word), "{word} is in a span: {}", span.whole);
        }
    }
}

async fn a_hanging_collector_affects_no_order(
    collector: &Collector,
    stack: &Stack,
    business: &Business,
) -> anyhow::Result<()> {
    collector.hang();
    for number in 0..5 {
        place(business, &format!("untold-{number}"), None).await?;
    }
    business.webhooks_of("untold-4", 1).await?;
    let metrics = Api::new(stack.management_url(Service::OrderApi))?;
    eventually("lost spans to be counted", PATIENCE, || async {
        let page = metrics.send(metrics.request(reqwest::Method::GET, "/metrics")).await?;
        let lost = page
            .text
            .lines()
            .find(|line| line.starts_with("telemetry_spans_total{") && line.contains("outcome=\"dropped\""));
        Ok(lost.is_some_and(|line| !line.ends_with(" 0")).then_some(()))
    })
    .await?;
    // The services are stopped with spans in the queue.
    place(business, "untold-5", None).await?;
    Ok(())
}
