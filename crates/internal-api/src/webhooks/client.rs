//! The client of webhook-dispatcher's internal endpoints.

use domain::{BusinessId, EventId, OrderId, WebhookDeliveryId};
use reqwest::Method;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    CreatedEndpoint, DeliveriesPage, DeliveryDetails, EndpointView, OrderDeliveriesQuery, OrderDeliveryView,
    RecoveryView, Redelivered, SignatureFindings, TestResult, WebhookSummary,
};
use crate::{CallError, ErasureProgress, Page, PageQuery, Peer};

/// webhook-dispatcher's internal endpoints.
#[derive(Clone, Debug)]
pub struct WebhooksClient(pub Peer);

impl WebhooksClient {
    async fn on_endpoint<T: DeserializeOwned>(
        &self,
        method: Method,
        (business, endpoint): (BusinessId, &str),
        rest: &[&str],
        body: &Value,
    ) -> Result<T, CallError> {
        let business = business.to_string();
        let path = [&["businesses", &business, "webhook-endpoints", endpoint], rest].concat();
        self.0.send(method, &path, body).await
    }

    /// `GET /internal/businesses`: businesses with an endpoint, sorted by id. The page starts after an id, which need
    /// not exist
    pub async fn businesses(&self, page: &PageQuery) -> Result<Page<BusinessId>, CallError> {
        self.0.get_with(&["businesses"], page).await
    }

    /// `POST /internal/businesses/{id}/webhook-endpoints` with the caller's `{url, events?, modes?}`
    pub async fn create(&self, business: BusinessId, body: &Value) -> Result<CreatedEndpoint, CallError> {
        self.0.send(Method::POST, &endpoints(&business.to_string()), body).await
    }

    /// `GET /internal/businesses/{id}/webhook-endpoints`
    pub async fn list(
        &self,
        business: BusinessId,
        page: &PageQuery,
    ) -> Result<Page<EndpointView>, CallError> {
        self.0.get_with(&endpoints(&business.to_string()), page).await
    }

    /// `GET …/webhook-endpoints/{endpoint}`
    pub async fn get(&self, business: BusinessId, endpoint: &str) -> Result<EndpointView, CallError> {
        self.0.get(&["businesses", &business.to_string(), "webhook-endpoints", endpoint]).await
    }

    /// `PATCH …/webhook-endpoints/{endpoint}` with the caller's `{url?, events?, modes?, status?}`
    pub async fn update(
        &self,
        business: BusinessId,
        endpoint: &str,
        body: &Value,
    ) -> Result<EndpointView, CallError> {
        self.on_endpoint(Method::PATCH, (business, endpoint), &[], body).await
    }

    /// `POST …/webhook-endpoints/{endpoint}/parked/{replay|discard}`
    pub async fn decide_parked(
        &self,
        business: BusinessId,
        endpoint: &str,
        decision: &str,
    ) -> Result<EndpointView, CallError> {
        self.on_endpoint(Method::POST, (business, endpoint), &["parked", decision], &Value::Null).await
    }

    /// `DELETE …/webhook-endpoints/{endpoint}`
    pub async fn delete(&self, business: BusinessId, endpoint: &str) -> Result<(), CallError> {
        self.on_endpoint(Method::DELETE, (business, endpoint), &[], &Value::Null).await
    }

    /// `POST …/webhook-endpoints/{endpoint}/test`
    pub async fn test(&self, business: BusinessId, endpoint: &str) -> Result<TestResult, CallError> {
        self.on_endpoint(Method::POST, (business, endpoint), &["test"], &Value::Null).await
    }

    /// `POST …/webhook-endpoints/{endpoint}/secret/rotate` with the caller's optional `{graceSeconds?, replaceStaged?}`
    pub async fn rotate_secret(
        &self,
        business: BusinessId,
        endpoint: &str,
        body: &Value,
    ) -> Result<CreatedEndpoint, CallError> {
        self.on_endpoint(Method::POST, (business, endpoint), &["secret", "rotate"], body).await
    }

    /// `POST …/webhook-endpoints/{endpoint}/secret/activate`
    pub async fn activate_secret(
        &self,
        business: BusinessId,
        endpoint: &str,
    ) -> Result<EndpointView, CallError> {
        self.on_endpoint(Method::POST, (business, endpoint), &["secret", "activate"], &Value::Null).await
    }

    /// `POST …/webhook-endpoints/{endpoint}/verify-signature` with the caller's
    /// `{timestamp, body | bodyBase64, signature, header?, id?}`
    pub async fn verify_signature(
        &self,
        business: BusinessId,
        endpoint: &str,
        body: &Value,
    ) -> Result<SignatureFindings, CallError> {
        self.on_endpoint(Method::POST, (business, endpoint), &["verify-signature"], body).await
    }

    /// `POST …/webhook-endpoints/{endpoint}/recover` with the caller's `{since, until?}`
    pub async fn recover(
        &self,
        business: BusinessId,
        endpoint: &str,
        body: &Value,
    ) -> Result<RecoveryView, CallError> {
        self.on_endpoint(Method::POST, (business, endpoint), &["recover"], body).await
    }

    /// `GET …/webhook-endpoints/{endpoint}/recoveries`, newest first
    pub async fn recoveries(
        &self,
        business: BusinessId,
        endpoint: &str,
        page: &PageQuery,
    ) -> Result<Page<RecoveryView>, CallError> {
        let path = ["businesses", &business.to_string(), "webhook-endpoints", endpoint, "recoveries"];
        self.0.get_with(&path, page).await
    }

    /// `GET …/webhook-endpoints/{endpoint}/recoveries/{recovery}`
    pub async fn recovery(
        &self,
        business: BusinessId,
        endpoint: &str,
        recovery: &str,
    ) -> Result<RecoveryView, CallError> {
        let business = business.to_string();
        self.0.get(&["businesses", &business, "webhook-endpoints", endpoint, "recoveries", recovery]).await
    }

    /// `POST …/webhook-endpoints/{endpoint}/recoveries/{recovery}/cancel`
    pub async fn cancel_recovery(
        &self,
        business: BusinessId,
        endpoint: &str,
        recovery: &str,
    ) -> Result<RecoveryView, CallError> {
        let business = business.to_string();
        let path = ["businesses", &business, "webhook-endpoints", endpoint, "recoveries", recovery, "cancel"];
        self.0.send(Method::POST, &path, &Value::Null).await
    }

    /// `GET …/webhook-endpoints/{endpoint}/deliveries`, newest first, with the caller's query string unchanged:
    /// webhook-dispatcher validates all filters, so that one response reports every error
    pub async fn deliveries(
        &self,
        business: BusinessId,
        endpoint: &str,
        query: &str,
    ) -> Result<DeliveriesPage, CallError> {
        let path = ["businesses", &business.to_string(), "webhook-endpoints", endpoint, "deliveries"];
        self.0.get_with_raw_query(&path, query).await
    }

    /// `GET /internal/businesses/{id}/webhook-deliveries/{delivery}`
    pub async fn delivery(&self, business: BusinessId, delivery: &str) -> Result<DeliveryDetails, CallError> {
        self.0.get(&["businesses", &business.to_string(), "webhook-deliveries", delivery]).await
    }

    /// `POST /internal/businesses/{id}/webhook-deliveries/{delivery}/redeliver`
    pub async fn redeliver(&self, business: BusinessId, delivery: &str) -> Result<Redelivered, CallError> {
        let path = ["businesses", &business.to_string(), "webhook-deliveries", delivery, "redeliver"];
        self.0.send(Method::POST, &path, &Value::Null).await
    }

    /// `GET /internal/businesses/{id}/orders/{order}/webhook-deliveries`, oldest first
    pub async fn of_order(
        &self,
        business: BusinessId,
        order: OrderId,
        query: &OrderDeliveriesQuery,
    ) -> Result<Page<OrderDeliveryView>, CallError> {
        let path = ["businesses", &business.to_string(), "orders", &order.to_string(), "webhook-deliveries"];
        self.0.get_with(&path, query).await
    }

    /// `GET /internal/businesses/{id}/orders/{order}/webhook-deliveries/{delivery}`
    pub async fn one_of_order(
        &self,
        business: BusinessId,
        order: OrderId,
        delivery: WebhookDeliveryId,
    ) -> Result<OrderDeliveryView, CallError> {
        let (business, order, delivery) = (business.to_string(), order.to_string(), delivery.to_string());
        self.0.get(&["businesses", &business, "orders", &order, "webhook-deliveries", &delivery]).await
    }

    /// `POST /internal/businesses/{id}/event-deliveries {ids}`: of up to 100 events; omits those of other businesses
    pub async fn of_events(
        &self,
        business: BusinessId,
        ids: &[EventId],
    ) -> Result<Vec<OrderDeliveryView>, CallError> {
        let body = serde_json::json!({ "ids": ids });
        self.0.send(Method::POST, &["businesses", &business.to_string(), "event-deliveries"], &body).await
    }

    /// `GET /internal/businesses/{id}/webhooks/summary`
    pub async fn summary(&self, business: BusinessId) -> Result<WebhookSummary, CallError> {
        self.0.get(&["businesses", &business.to_string(), "webhooks", "summary"]).await
    }

    /// `POST /internal/businesses/{id}/erasure`: deletes the endpoints of a closed business, and what belongs to them
    pub async fn erase_business(&self, business: BusinessId) -> Result<ErasureProgress, CallError> {
        self.0.send(Method::POST, &["businesses", &business.to_string(), "erasure"], &Value::Null).await
    }
}

fn endpoints(business: &str) -> [&str; 3] {
    ["businesses", business, "webhook-endpoints"]
}
