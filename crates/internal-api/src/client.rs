//! The HTTP client of every typed client: the internal token, the trace context, a deadline for the whole exchange, and
//! a size limit for responses.

use std::error::Error as _;
use std::time::{Duration, Instant};

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Request, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use settings::{Certificates, Secret};
use telemetry::{ClientSpan, KeyValue};
use url::Url;

use crate::{CallError, Refusal};

/// Larger than any internal response.
const ANSWER_MAX_BYTES: usize = 2 * 1024 * 1024;

/// Another service.
#[derive(Clone, Debug)]
pub struct Peer {
    service: &'static str,
    base: Url,
    token: Secret,
    deadline: Duration,
    http: reqwest::Client,
}

/// The timeouts of a peer.
#[derive(Clone, Copy, Debug)]
pub struct PeerOptions {
    /// For connecting, sending and reading the response.
    pub deadline: Duration,
    pub connect_timeout: Duration,
}

impl Default for PeerOptions {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(3), connect_timeout: Duration::from_secs(1) }
    }
}

impl Peer {
    /// An `https://` URL is verified: its host must be certified by `ca`, or else by an authority of the system.
    ///
    /// # Errors
    /// When the HTTP client cannot be built. A restart does not fix that.
    pub fn new(
        service: &'static str,
        base: Url,
        ca: Option<&Certificates>,
        token: &Secret,
        options: PeerOptions,
    ) -> Result<Self, reqwest::Error> {
        // Another part of the process may have installed a provider, which is fine.
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
        let mut http = reqwest::Client::builder()
            .timeout(options.deadline)
            .connect_timeout(options.connect_timeout)
            .redirect(reqwest::redirect::Policy::none())
            .pool_idle_timeout(Duration::from_secs(30))
            .tcp_nodelay(true)
            .no_proxy();
        if let Some(ca) = ca {
            let authorities = ca.as_slice().iter().map(|der| reqwest::Certificate::from_der(der));
            http = http.tls_certs_only(authorities.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(Self { service, base, token: token.clone(), deadline: options.deadline, http: http.build()? })
    }

    pub(crate) async fn get<A: DeserializeOwned>(&self, path: &[&str]) -> Result<A, CallError> {
        self.call(self.request(Method::GET, path)).await
    }

    pub(crate) async fn get_with<Q: Serialize + Sync, A: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &Q,
    ) -> Result<A, CallError> {
        let mut url = self.url(path);
        append_query(&mut url, query).map_err(|error| self.unavailable(error))?;
        self.call(self.prepared(Method::GET, url)).await
    }

    /// Forwards a query string of the original caller.
    pub(crate) async fn get_with_raw_query<A: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &str,
    ) -> Result<A, CallError> {
        let mut url = self.url(path);
        url.set_query(Some(query));
        self.call(self.prepared(Method::GET, url)).await
    }

    pub(crate) async fn send<B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: &B,
    ) -> Result<A, CallError> {
        self.call(self.request(method, path).json(body)).await
    }

    /// As [`Peer::send`], with a query.
    pub(crate) async fn send_with<Q: Serialize + Sync, B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        query: &Q,
        body: &B,
    ) -> Result<A, CallError> {
        let mut url = self.url(path);
        append_query(&mut url, query).map_err(|error| self.unavailable(error))?;
        self.call(self.prepared(method, url).json(body)).await
    }

    /// As [`Peer::send`], with the caller's `Idempotency-Key`, if any.
    pub(crate) async fn send_keyed<B: Serialize + Sync, A: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        idempotency_key: Option<&str>,
        body: &B,
    ) -> Result<A, CallError> {
        let mut request = self.request(method, path).json(body);
        if let Some(key) = idempotency_key {
            request = request.header("idempotency-key", key);
        }
        self.call(request).await
    }

    fn request(&self, method: Method, path: &[&str]) -> RequestBuilder {
        self.prepared(method, self.url(path))
    }

    fn prepared(&self, method: Method, url: Url) -> RequestBuilder {
        self.http.request(method, url).bearer_auth(self.token.expose())
    }

    /// Percent-encodes each segment, so that an id cannot change the path.
    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("internal").extend(path);
        }
        url
    }

    /// One call with its own span. The span's name is the method alone, because the path contains callers' input.
    async fn call<A: DeserializeOwned>(&self, request: RequestBuilder) -> Result<A, CallError> {
        let mut request = request.build().map_err(|error| self.unavailable(error.without_url()))?;
        request.headers_mut().insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        let span = ClientSpan::call(method_name(request.method()), || self.attributes(request.method()));
        propagate(&span, request.headers_mut());
        let outcome = self.exchange(request, &span).await;
        if let Err(CallError::Unavailable { .. }) = &outcome {
            span.fail("unavailable");
        }
        outcome
    }

    async fn exchange<A: DeserializeOwned>(
        &self,
        request: Request,
        span: &ClientSpan,
    ) -> Result<A, CallError> {
        let response = self.execute(request).await.map_err(|error| self.failed(error))?;
        let status = response.status();
        span.record(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
        let bytes = self.read(response).await?;
        if status.is_success() {
            let bytes = if bytes.is_empty() { b"null".as_slice() } else { &bytes };
            return serde_json::from_slice(bytes).map_err(|error| self.unavailable(error));
        }
        span.fail(status.as_u16().to_string());
        Err(self.failure(status, &bytes))
    }

    /// A new instance may be unreachable for a moment. A connection that failed has carried no request, and the next one may reach
    /// another instance.
    async fn execute(&self, request: Request) -> Result<Response, reqwest::Error> {
        let (begun, again) = (Instant::now(), request.try_clone());
        let outcome = self.http.execute(request).await;
        let left = self.deadline.saturating_sub(begun.elapsed());
        match (outcome, again) {
            (Err(error), Some(mut again)) if error.is_connect() && !left.is_zero() => {
                tracing::debug!(service = self.service, error = %error.without_url(), "connecting once more");
                *again.timeout_mut() = Some(left);
                self.http.execute(again).await
            }
            (outcome, _) => outcome,
        }
    }

    fn attributes(&self, method: &Method) -> Vec<KeyValue> {
        let mut attributes = vec![
            KeyValue::new("http.request.method", method.to_string()),
            KeyValue::new("peer.service", self.service),
        ];
        let host = self.base.host_str().map(|host| KeyValue::new("server.address", host.to_owned()));
        let port = self.base.port_or_known_default();
        attributes.extend(host);
        attributes.extend(port.map(|port| KeyValue::new("server.port", i64::from(port))));
        attributes
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, CallError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(error))? {
            if bytes.len() + chunk.len() > ANSWER_MAX_BYTES {
                return Err(self.unavailable("the response is too large"));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    /// A 4xx is for the caller. A rejected internal token is not: our configuration is wrong.
    fn failure(&self, status: StatusCode, bytes: &[u8]) -> CallError {
        match serde_json::from_slice::<Refusal>(bytes) {
            Ok(refusal) if status.is_client_error() && refusal.code != "internal_token_invalid" => {
                let refusal = Box::new(Refusal { status: status.as_u16(), ..refusal });
                CallError::Refused { service: self.service, refusal }
            }
            _ => self.unavailable(format!("status {status}")),
        }
    }

    /// With the causes: reqwest itself says "error sending request" for a refused certificate too.
    fn failed(&self, error: reqwest::Error) -> CallError {
        let error = error.without_url();
        let causes = std::iter::successors(error.source(), |cause| (*cause).source());
        self.unavailable(causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}")))
    }

    fn unavailable(&self, reason: impl std::fmt::Display) -> CallError {
        CallError::Unavailable { service: self.service, reason: reason.to_string() }
    }
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "HTTP",
    }
}

fn propagate(span: &ClientSpan, headers: &mut HeaderMap) {
    let Some(trace) = span.context() else { return };
    for (name, value) in [("traceparent", Some(trace.traceparent)), ("tracestate", trace.tracestate)] {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

/// Adds the fields of a flat struct to the URL's query. Omits absent fields.
fn append_query(url: &mut Url, query: &impl Serialize) -> Result<(), serde_json::Error> {
    let fields = serde_json::to_value(query)?;
    let mut pairs = url.query_pairs_mut();
    for (name, value) in fields.as_object().into_iter().flatten() {
        match value {
            serde_json::Value::Null => {}
            serde_json::Value::String(text) => {
                pairs.append_pair(name, text);
            }
            other => {
                pairs.append_pair(name, &other.to_string());
            }
        }
    }
    Ok(())
}
