//! Sends a call, repeats it where that is safe, and turns answers into values or errors.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use reqwest::{Method, Response, Url, redirect};
use tokio::time::{Instant, timeout};

use crate::redact::redact;
use crate::types::Answered;
use crate::{ApiError, ClientOptions, Error, Exchange, ExchangeResult, Mode, NoAnswer, Result, retry};

/// A page of 100 orders of the largest size stays below it.
const ANSWER_MAX_BYTES: usize = 64 * 1024 * 1024;
const TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");

pub(crate) struct Call<'a> {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) body: Option<&'a str>,
    pub(crate) idempotency_key: Option<&'a str>,
    /// Whether repeating the call has the same effect as sending it once.
    pub(crate) is_repeatable: bool,
    /// The answer may take so much longer than others, because the call waits for events.
    pub(crate) wait: Duration,
}

impl<'a> Call<'a> {
    pub(crate) fn get(path: String) -> Self {
        let (query, wait) = (Vec::new(), Duration::ZERO);
        Self {
            method: Method::GET,
            path,
            query,
            body: None,
            idempotency_key: None,
            is_repeatable: true,
            wait,
        }
    }

    pub(crate) fn post(path: String, body: &'a str) -> Self {
        Self { method: Method::POST, body: Some(body), ..Self::get(path) }
    }
}

pub(crate) struct Answer<T> {
    pub(crate) body: T,
    /// The body as it was sent.
    pub(crate) bytes: Vec<u8>,
    pub(crate) headers: HeaderMap,
}

#[derive(Clone)]
pub(crate) struct Transport {
    pub(crate) mode: Mode,
    pub(crate) options: ClientOptions,
    authorization: HeaderValue,
    user_agent: HeaderValue,
    base_url: Url,
    http: reqwest::Client,
}

impl Transport {
    pub(crate) fn new(api_key: &str, base_url: &str, options: ClientOptions) -> Result<Self> {
        let (mode, authorization) = read_key(api_key)?;
        let is_time = |time: Duration| !time.is_zero() && time <= TIME_MAX;
        if !is_time(options.attempt_timeout) || !is_time(options.deadline) || options.attempts_max == 0 {
            return Err(Error::Argument(
                "attempt_timeout, deadline and attempts_max must be positive, and the times at most a day",
            ));
        }
        let app = options.app_info.as_deref().map(|app| format!(" {app}")).unwrap_or_default();
        let user_agent = format!("waybill-rust/{}{app}", env!("CARGO_PKG_VERSION"));
        let user_agent = HeaderValue::try_from(user_agent)
            .map_err(|_| Error::Argument("app_info must be visible ASCII characters"))?;
        let base_url = read_base_url(base_url)?;
        check_protection(mode, &base_url)?;
        let http = http_client(base_url.scheme() == "https")?;
        Ok(Self { mode, options, authorization, user_agent, base_url, http })
    }

    pub(crate) fn with_key(&self, api_key: &str) -> Result<Self> {
        let (mode, authorization) = read_key(api_key)?;
        check_protection(mode, &self.base_url)?;
        Ok(Self { mode, authorization, ..self.clone() })
    }

    /// Every attempt sends the same bytes and the same key.
    pub(crate) async fn send<T: Answered>(&self, call: &Call<'_>) -> Result<Answer<T>> {
        let ends_at = Instant::now() + self.options.deadline + call.wait;
        let environment = &self.options.environment;
        let mut attempt = 1;
        loop {
            let error = match self.attempt(call, attempt, ends_at).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let again = if call.is_repeatable { error.is_transient() } else { retry::had_no_effect(&error) };
            let pause = retry::pause(attempt, &error, environment.jitter());
            if !again || attempt >= self.options.attempts_max || Instant::now() + pause >= ends_at {
                return Err(error);
            }
            environment.sleep(pause).await;
            attempt += 1;
        }
    }

    async fn attempt<T: Answered>(
        &self,
        call: &Call<'_>,
        attempt: u32,
        ends_at: Instant,
    ) -> Result<Answer<T>> {
        let (url, headers) = (self.url(call), self.headers(call)?);
        let exchange = self.shown(call, &url, &headers, attempt);
        if let Some(on_request) = &self.options.on_request {
            on_request(&exchange);
        }
        let begun = Instant::now();
        let limit = ends_at.min(begun + self.options.attempt_timeout + call.wait) - begun;
        let mut seen = (None, None);
        let outcome = timeout(limit, self.exchange(call, url, headers, &mut seen)).await;
        let outcome = outcome.unwrap_or(Err(NoAnswer::Timeout.into())).map_err(|error| match error {
            Error::NoAnswer { reason, .. } => self.no_answer(reason, call, seen.0),
            error => error,
        });
        if let Some(on_response) = &self.options.on_response {
            let ((status, request_id), error) = (seen, outcome.as_ref().err().cloned());
            on_response(&ExchangeResult { exchange, duration: begun.elapsed(), status, request_id, error });
        }
        outcome
    }

    /// `seen`: the status and the request's id, also of an answer that is cut afterwards.
    async fn exchange<T: Answered>(
        &self,
        call: &Call<'_>,
        url: Url,
        headers: HeaderMap,
        seen: &mut (Option<u16>, Option<String>),
    ) -> Result<Answer<T>> {
        let mut request = self.http.request(call.method.clone(), url).headers(headers);
        if let Some(body) = call.body {
            request = request.body(body.to_owned());
        }
        let response = request.send().await.map_err(no_answer)?;
        let (status, headers) = (response.status(), response.headers().clone());
        *seen = (Some(status.as_u16()), text(&headers, &REQUEST_ID).map(str::to_owned));
        let bytes = read(response).await?;
        if !status.is_success() {
            let now_ms = self.options.environment.now_ms();
            let retry_after =
                text(&headers, &RETRY_AFTER).and_then(|text| retry::read_retry_after(text, now_ms));
            let error =
                ApiError::read(&self.name_of(call), status.as_u16(), &bytes, seen.1.as_deref(), retry_after);
            return Err(Error::Api(Box::new(error)));
        }
        match serde_json::from_slice::<T>(&bytes) {
            Ok(body) if body.is_complete() => Ok(Answer { body, bytes, headers }),
            _ => Err(NoAnswer::UnusableAnswer.into()),
        }
    }

    pub(crate) fn no_answer(&self, reason: NoAnswer, call: &Call<'_>, status: Option<u16>) -> Error {
        let name = self.name_of(call);
        let call = status.map_or_else(|| name.clone(), |status| format!("{name}, status {status}"));
        Error::NoAnswer { reason, call }
    }

    /// For messages: without the query, which may contain a customer's reference.
    fn name_of(&self, call: &Call<'_>) -> String {
        format!("{} {}{}", call.method, self.base_url, call.path)
    }

    fn url(&self, call: &Call<'_>) -> Url {
        let mut url = self.base_url.clone();
        url.set_path(&format!("{}{}", self.base_url.path(), call.path));
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        url
    }

    fn headers(&self, call: &Call<'_>) -> Result<HeaderMap> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.authorization.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, self.user_agent.clone());
        if call.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(key) = call.idempotency_key {
            let key = HeaderValue::from_str(key).map_err(|_| Error::Argument("the key is no header"))?;
            headers.insert(IDEMPOTENCY_KEY, key);
        }
        Ok(headers)
    }

    fn shown(&self, call: &Call<'_>, url: &Url, headers: &HeaderMap, attempt: u32) -> Exchange {
        let shown = headers
            .iter()
            .map(|(name, value)| (name.to_string(), redact(&String::from_utf8_lossy(value.as_bytes()))));
        Exchange {
            method: call.method.to_string(),
            url: redact(url.as_str()),
            headers: shown.collect(),
            attempt,
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waybill")
            .field("mode", &self.mode)
            .field("base_url", &self.base_url.as_str())
            .finish_non_exhaustive()
    }
}

fn http_client(with_tls: bool) -> Result<reqwest::Client> {
    // Another part of the process may have installed a provider, which is fine.
    let _already_installed = rustls::crypto::ring::default_provider().install_default();
    // A redirect would send the order and the key to another server.
    let mut builder = reqwest::Client::builder().redirect(redirect::Policy::none()).no_proxy();
    if !with_tls {
        // Plain HTTP needs no certificates. Loading them fails on a machine without any.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|_| Error::Argument("the certificates of this machine cannot be loaded"))
}

/// The whole body of an answer, unless it is larger than any of the service.
async fn read(mut response: Response) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(no_answer)? {
        if bytes.len() + chunk.len() > ANSWER_MAX_BYTES {
            return Err(NoAnswer::UnusableAnswer.into());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Leaves out the error's own text, because it contains addresses.
fn no_answer(error: reqwest::Error) -> Error {
    let reason = if error.is_timeout() { NoAnswer::Timeout } else { NoAnswer::Unreachable };
    reason.into()
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn read_key(api_key: &str) -> Result<(Mode, HeaderValue)> {
    let mode = Mode::of_key(api_key)?;
    let mut authorization = HeaderValue::try_from(format!("Bearer {api_key}"))
        .unwrap_or_else(|_| unreachable!("a key is visible ASCII"));
    authorization.set_sensitive(true);
    Ok((mode, authorization))
}

/// A Live key needs https, except on this machine.
fn check_protection(mode: Mode, base_url: &Url) -> Result<()> {
    let host = base_url.host_str().unwrap_or_default();
    let host = host.strip_suffix('.').unwrap_or(host);
    let ip = host.trim_matches(['[', ']']).parse::<IpAddr>();
    let is_loopback = match ip {
        Ok(ip) => ip.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    };
    if mode == Mode::Live && base_url.scheme() == "http" && !is_loopback {
        return Err(Error::Argument(
            "base_url (or WAYBILL_BASE_URL) must be https for a Live key: http shows the key to the network",
        ));
    }
    Ok(())
}

fn read_base_url(text: &str) -> Result<Url> {
    let wrong =
        Error::Argument("base_url (or WAYBILL_BASE_URL) must be an http or https URL that ends with /v1");
    let Ok(mut url) = Url::parse(text) else { return Err(wrong) };
    let path = url.path().strip_suffix('/').unwrap_or(url.path()).to_owned();
    let is_plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !is_plain || !matches!(url.scheme(), "http" | "https") || !path.ends_with("/v1") {
        return Err(wrong);
    }
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_addresses_are_checked_before_any_call() {
        let options = ClientOptions::default;
        let key = "sk_test_waybill_1234";
        for (key, url) in [
            ("", "http://api.example/v1"),
            ("sk_test_short", "http://api.example/v1"),
            ("sk_test_waybill_1234\n", "http://api.example/v1"),
            ("pk_test_waybill_1234", "http://api.example/v1"),
            (key, "https://api.example"),
            (key, "ftp://api.example/v1"),
            (key, "http://user@api.example/v1"),
            (key, "http://api.example/v1?a=1"),
        ] {
            let error = Transport::new(key, url, options()).err().unwrap();
            assert!(matches!(error, Error::Argument(_)), "{url}");
            assert!(!error.to_string().contains("1234"), "{error}");
        }
        for time in [Duration::ZERO, Duration::MAX, TIME_MAX + Duration::from_nanos(1)] {
            for options in [
                ClientOptions { attempt_timeout: time, ..options() },
                ClientOptions { deadline: time, ..options() },
            ] {
                assert!(Transport::new(key, "http://api.example/v1", options).is_err(), "{time:?}");
            }
        }
        let transport = Transport::new(key, "http://api.example/delivery/v1/", options()).unwrap();
        assert!(!format!("{transport:?}").contains("1234"));
        let call = Call { query: vec![("types", "a,b c".into())], ..Call::get("/x".into()) };
        assert_eq!(transport.url(&call).as_str(), "http://api.example/delivery/v1/x?types=a%2Cb+c");
        let headers = transport.headers(&call).unwrap();
        assert!(!format!("{headers:?}").contains("1234"));
    }
}
