//! What a probe logs.

use std::sync::{Arc, Mutex, PoisonError};

use web::{Readiness, ServeOptions, management_routes};

use crate::{exchange, serving};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_failing_probe_logs_one_line_with_its_reasons() {
    let log = Log::default();
    let writer = log.clone();
    let lines = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _logging = tracing::subscriber::set_default(lines);
    let readiness = Readiness::default()
        .with("database", || async { Err("unreachable") })
        .with("schema", || async { Err("missing") });
    let routes = management_routes(readiness, telemetry::install_metrics("test").unwrap());
    serving(ServeOptions::INTERNAL, routes, async |address, _| {
        let probe = "GET /health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let (head, body) = exchange(address, probe).await.unwrap();
        assert!(head.starts_with("http/1.1 503"), "{head}");
        let checks = serde_json::json!({"database": false, "schema": false});
        assert_eq!((&body["status"], &body["checks"]), (&"not ready".into(), &checks));
    })
    .await
    .unwrap();
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains("WARN")).collect();
    assert!(
        matches!(warnings[..], [line] if line.contains("database: unreachable; schema: missing")),
        "{log}"
    );
}
