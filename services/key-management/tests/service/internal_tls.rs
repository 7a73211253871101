//! Calls over TLS: callers verify the service, whose certificate is renewed while it runs.

use std::fs;
use std::path::Path;

use internal_api::keys::KeysClient;
use internal_api::{CallError, Peer, PeerOptions};
use local_stack::{Authority, Certified};
use settings::Certificates;
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::harness::Harness;

/// A call over a new connection to `host`. The key is malformed, so the verdict needs no database.
async fn call(harness: &Harness, host: &str, trusted: &Authority) -> Result<(), CallError> {
    call_at(harness, host, harness.internal_tls.unwrap().port(), trusted).await
}

async fn call_at(harness: &Harness, host: &str, port: u16, trusted: &Authority) -> Result<(), CallError> {
    let url = Url::parse(&format!("https://{host}:{port}/")).unwrap();
    let ca = Certificates::parse(trusted.pem().to_owned()).unwrap();
    let (token, options) = (&harness.settings.internal.token, PeerOptions::default());
    let peer = Peer::new("key-management", url, Some(&ca), token, options).unwrap();
    KeysClient(peer).verify("malformed").await.map(drop)
}

fn authority() -> (Authority, Certified) {
    let authority = Authority::new("services").unwrap();
    let certified = authority.certify(&["localhost"]).unwrap();
    (authority, certified)
}

fn write(folder: &Path, certified: &Certified) {
    fs::write(folder.join("tls.key"), &certified.key).unwrap();
    fs::write(folder.join("tls.crt"), &certified.certificate).unwrap();
}

#[tokio::test]
async fn a_caller_verifies_the_authority_and_the_name() {
    let ((ours, certified), (other, _)) = (authority(), authority());
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &certified);
    let harness = Harness::start_with_tls(folder.path()).await;
    call(&harness, "localhost", &ours).await.unwrap();
    for (host, trusted, cause) in
        [("localhost", &other, "BadSignature"), ("127.0.0.1", &ours, "not valid for")]
    {
        let error = call(&harness, host, trusted).await.unwrap_err().to_string();
        assert!(error.contains("invalid peer certificate") && error.contains(cause), "{error}");
    }
    // The plain listener stays.
    assert_eq!(harness.verdict("malformed").await, None);
}

#[tokio::test]
async fn a_connection_that_fails_is_made_once_more() {
    let (ours, certified) = authority();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &certified);
    let harness = Harness::start_with_tls(folder.path()).await;
    let service = harness.internal_tls.unwrap();
    for (failing, succeeds) in [(1, true), (2, false)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            for _ in 0..failing {
                drop(listener.accept().await);
            }
            let (mut caller, _) = listener.accept().await?;
            tokio::io::copy_bidirectional(&mut caller, &mut TcpStream::connect(service).await?).await
        });
        let outcome = call_at(&harness, "localhost", port, &ours).await;
        assert_eq!(outcome.is_ok(), succeeds, "{failing}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_renewed_certificate_is_served_without_a_restart_and_an_unusable_one_is_not() {
    let ((former, certified), (new, renewed)) = (authority(), authority());
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &certified);
    let harness = Harness::start_with_tls(folder.path()).await;

    fs::write(folder.path().join("tls.crt"), &renewed.certificate).unwrap();
    call(&harness, "localhost", &former).await.expect("the former pair, because the new files do not fit");

    write(folder.path(), &renewed);
    call(&harness, "localhost", &new).await.expect("the new pair");
    assert!(call(&harness, "localhost", &former).await.is_err());

    fs::remove_file(folder.path().join("tls.key")).unwrap();
    call(&harness, "localhost", &new).await.expect("the former pair, because the key is missing");
}
