//! Razorpay's orders: we create an order for the top-up, the portal opens Razorpay's page for it, and Razorpay tells us
//! by webhook that it is paid. What was lost on the way is looked up.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use url::Url;

use super::notice::{self, PaymentEntity};
use super::{
    Checkout, Notice, NoticeError, Opened, PaymentProvider, ProviderError, RawNotice, RazorpayAccount,
};
use crate::domain::{CURRENCY, Payment, Provider, TopUp};

/// Over connecting, sending and reading the answer. A caller waits for it.
const DEADLINE: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// An order has few payments, most of them failed ones; an answer beyond this is not Razorpay's.
const ANSWER_MAX_BYTES: usize = 512 * 1024;
/// Orders of one receipt that are looked at. There is one, or a few after crashes.
const ORDERS_MAX: usize = 10;

pub(super) struct Razorpay {
    account: RazorpayAccount,
    http: Client,
}

#[derive(Deserialize)]
struct OrderEntity {
    id: String,
    amount: i64,
    currency: String,
    receipt: Option<String>,
}

#[derive(Deserialize)]
struct Collection<T> {
    items: Vec<T>,
}

impl Razorpay {
    pub(super) fn new(account: &RazorpayAccount) -> anyhow::Result<Self> {
        // Another part of the process may have installed a provider already, which serves as well.
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .timeout(DEADLINE)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self { account: account.clone(), http })
    }

    /// Creates the order, unless an earlier try did and its answer was lost: a receipt names one top-up.
    async fn order_of(&self, top_up: &TopUp) -> Result<OrderEntity, ProviderError> {
        let receipt = top_up.id.to_string();
        let mut known: Url = self.url(&["orders"]);
        known
            .query_pairs_mut()
            .append_pair("receipt", &receipt)
            .append_pair("count", &ORDERS_MAX.to_string());
        let known: Collection<OrderEntity> = self.call(self.http.get(known)).await?;
        let fits = |order: &OrderEntity| {
            order.receipt.as_deref() == Some(&receipt)
                && order.amount == top_up.amount.get()
                && order.currency == CURRENCY
        };
        if let Some(order) = known.items.into_iter().find(fits) {
            return Ok(order);
        }
        let body = json!({"amount": top_up.amount, "currency": CURRENCY, "receipt": receipt});
        let order: OrderEntity = self.call(self.http.post(self.url(&["orders"])).json(&body)).await?;
        if fits(&order) {
            Ok(order)
        } else {
            Err(ProviderError::Unavailable("it created an order other than asked for".into()))
        }
    }

    async fn captured(&self, order: &str) -> Result<Option<Payment>, ProviderError> {
        let url = self.url(&["orders", order, "payments"]);
        let payments: Collection<PaymentEntity> = self.call(self.http.get(url)).await?;
        let captured = |payment: &PaymentEntity| payment.is_captured() && payment.is_of(order);
        Ok(payments.items.into_iter().find(captured).map(PaymentEntity::into_payment))
    }

    /// Segments are percent-encoded one by one.
    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.account.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(path);
        }
        url
    }

    async fn call<A: DeserializeOwned>(&self, request: RequestBuilder) -> Result<A, ProviderError> {
        let secret = self.account.key_secret.expose();
        let sent = request.basic_auth(&self.account.key_id, Some(secret)).send().await;
        let response = sent.map_err(|error| unavailable(error.without_url()))?;
        let status = response.status();
        let bytes = read(response).await?;
        match status {
            status if status.is_success() => serde_json::from_slice(&bytes).map_err(unavailable),
            // The one answer that says that this order cannot be; all others tell of our account or of its troubles.
            StatusCode::BAD_REQUEST => Err(ProviderError::Refused(code_of(&bytes))),
            status => Err(ProviderError::Unavailable(format!("it answered {status}"))),
        }
    }
}

impl PaymentProvider for Razorpay {
    fn name(&self) -> Provider {
        Provider::Razorpay
    }

    fn open<'a>(&'a self, top_up: &'a TopUp) -> BoxFuture<'a, Result<Opened, ProviderError>> {
        async {
            let order = self.order_of(top_up).await?;
            Ok(Opened { reference: Some(order.id), payment: None })
        }
        .boxed()
    }

    fn payment<'a>(&'a self, top_up: &'a TopUp) -> BoxFuture<'a, Result<Option<Payment>, ProviderError>> {
        async {
            match &top_up.provider_reference {
                Some(order) => self.captured(order).await,
                // Its page was never shown to anybody, so nobody can have paid.
                None => Ok(None),
            }
        }
        .boxed()
    }

    fn checkout(&self, top_up: &TopUp) -> Option<Checkout> {
        let order_id = top_up.provider_reference.clone()?;
        Some(Checkout { key_id: self.account.key_id.clone(), order_id, amount: top_up.amount })
    }

    fn read(&self, raw: &RawNotice) -> Result<Notice, NoticeError> {
        notice::read(raw, &self.account.webhook_secret)
    }
}

async fn read(mut response: Response) -> Result<Vec<u8>, ProviderError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unavailable(error.without_url()))? {
        if bytes.len() + chunk.len() > ANSWER_MAX_BYTES {
            return Err(unavailable("the answer is too large"));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Its code alone: a description may repeat what was sent.
fn code_of(bytes: &[u8]) -> String {
    let answer: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    let code = answer["error"]["code"].as_str().unwrap_or("no code");
    code.chars().take(64).collect()
}

fn unavailable(reason: impl std::fmt::Display) -> ProviderError {
    ProviderError::Unavailable(reason.to_string())
}
