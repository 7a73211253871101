//! Razorpay: we create an order for the top-up, the portal opens Razorpay's page for it, and Razorpay reports the payment
//! by webhook. Queries find payments whose webhook was lost.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use settings::Secret;
use url::Url;

use super::notice::{self, PaymentEntity};
use super::{Checkout, NoticeError, PaymentProvider, ProviderError, ProviderOrder, RawNotice};
use crate::domain::{CURRENCY, Notice, Payment, Provider, TopUp};

/// For connecting, sending and reading the response, while a caller waits.
const DEADLINE: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// An order has few payments, so Razorpay never sends a longer response.
const RESPONSE_MAX_BYTES: usize = 512 * 1024;
/// Orders per receipt to read. There is one, or a few after crashes.
const ORDERS_MAX: usize = 10;

/// The operator's account.
pub(crate) struct RazorpayOptions {
    pub(crate) url: Url,
    pub(crate) key_id: String,
    pub(crate) key_secret: Secret,
    pub(crate) webhook_secret: Secret,
}

pub(crate) struct Razorpay {
    options: RazorpayOptions,
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
    /// # Errors
    /// When the HTTP client cannot be created.
    pub(crate) fn new(options: RazorpayOptions) -> anyhow::Result<Self> {
        // An already installed provider works too.
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .timeout(DEADLINE)
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self { options, http })
    }

    /// The order of a top-up. Creates it unless an earlier call did and its response was lost: the receipt is the id of the
    /// top-up.
    async fn find_or_create_order(&self, top_up: &TopUp) -> Result<OrderEntity, ProviderError> {
        let receipt = top_up.id.to_string();
        let mut url = self.url(&["orders"]);
        url.query_pairs_mut().append_pair("receipt", &receipt).append_pair("count", &ORDERS_MAX.to_string());
        let known: Collection<OrderEntity> = self.call(self.http.get(url)).await?;
        let matches = |order: &OrderEntity| {
            order.receipt.as_deref() == Some(&receipt)
                && order.amount == top_up.amount.get()
                && order.currency == CURRENCY
        };
        if let Some(order) = known.items.into_iter().find(matches) {
            return Ok(order);
        }
        let body = json!({"amount": top_up.amount, "currency": CURRENCY, "receipt": receipt});
        let order: OrderEntity = self.call(self.http.post(self.url(&["orders"])).json(&body)).await?;
        if matches(&order) {
            Ok(order)
        } else {
            Err(ProviderError::Unavailable("it created a different order".into()))
        }
    }

    async fn captured_payment(&self, order: &str) -> Result<Option<Payment>, ProviderError> {
        let url = self.url(&["orders", order, "payments"]);
        let payments: Collection<PaymentEntity> = self.call(self.http.get(url)).await?;
        let captured = |payment: &PaymentEntity| payment.is_captured() && payment.is_for(order);
        Ok(payments.items.into_iter().find(captured).map(PaymentEntity::into_payment))
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.options.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(path);
        }
        url
    }

    async fn call<A: DeserializeOwned>(&self, request: RequestBuilder) -> Result<A, ProviderError> {
        let secret = self.options.key_secret.expose();
        let sent = request.basic_auth(&self.options.key_id, Some(secret)).send().await;
        let response = sent.map_err(|error| unavailable(error.without_url()))?;
        let status = response.status();
        let bytes = read_body(response).await?;
        match status {
            status if status.is_success() => serde_json::from_slice(&bytes).map_err(unavailable),
            // Razorpay refuses this order. Other statuses mean problems with the account or at Razorpay.
            StatusCode::BAD_REQUEST => Err(ProviderError::Refused(error_code(&bytes))),
            status => Err(ProviderError::Unavailable(format!("it responded with {status}"))),
        }
    }
}

impl PaymentProvider for Razorpay {
    fn name(&self) -> Provider {
        Provider::Razorpay
    }

    fn create_order<'a>(&'a self, top_up: &'a TopUp) -> BoxFuture<'a, Result<ProviderOrder, ProviderError>> {
        async {
            let order = self.find_or_create_order(top_up).await?;
            Ok(ProviderOrder { reference: Some(order.id), payment: None })
        }
        .boxed()
    }

    fn find_payment<'a>(
        &'a self,
        top_up: &'a TopUp,
    ) -> BoxFuture<'a, Result<Option<Payment>, ProviderError>> {
        async {
            match &top_up.provider_reference {
                Some(order) => self.captured_payment(order).await,
                // Without an order there was no checkout page, so nobody can have paid.
                None => Ok(None),
            }
        }
        .boxed()
    }

    fn checkout(&self, top_up: &TopUp) -> Option<Checkout> {
        let order_id = top_up.provider_reference.clone()?;
        Some(Checkout { key_id: self.options.key_id.clone(), order_id, amount: top_up.amount })
    }

    fn verify_notice(&self, raw: &RawNotice) -> Result<Notice, NoticeError> {
        notice::verify(raw, &self.options.webhook_secret)
    }
}

async fn read_body(mut response: Response) -> Result<Vec<u8>, ProviderError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unavailable(error.without_url()))? {
        if bytes.len() + chunk.len() > RESPONSE_MAX_BYTES {
            return Err(unavailable("the response is too large"));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Only the code: a description may repeat request data.
fn error_code(bytes: &[u8]) -> String {
    let response: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    let code = response["error"]["code"].as_str().unwrap_or("no code");
    code.chars().take(64).collect()
}

fn unavailable(reason: impl std::fmt::Display) -> ProviderError {
    ProviderError::Unavailable(reason.to_string())
}
