//! Separate databases and virtual hosts on the servers that tests share.

use local_stack::{Servers, query};

#[tokio::test]
async fn each_database_is_new_and_closed_to_the_others() {
    let servers = Servers::for_tests().await.unwrap();
    let first = servers.create_database().await.unwrap();
    let second = servers.create_database().await.unwrap();
    query(&first, "CREATE TABLE mine (id int); INSERT INTO mine VALUES (1), (2);").await.unwrap();
    assert_eq!(query(&first, "SELECT id, 'x' FROM mine ORDER BY id;").await.unwrap(), "1|x\n2|x");
    assert!(query(&second, "SELECT * FROM mine;").await.is_err());

    let (_, database) = first.rsplit_once('/').unwrap();
    let (role_of_second, _) = second.rsplit_once('/').unwrap();
    let trespass = query(&format!("{role_of_second}/{database}"), "SELECT 1;").await;
    assert!(trespass.unwrap_err().to_string().contains("permission denied"));
    let elsewhere = query(&format!("{role_of_second}/postgres"), "SELECT 1;").await;
    assert!(elsewhere.unwrap_err().to_string().contains("permission denied"));
}

#[tokio::test]
async fn each_virtual_host_accepts_a_client() {
    let servers = Servers::for_tests().await.unwrap();
    let first = servers.create_vhost().await.unwrap();
    let second = servers.create_vhost().await.unwrap();
    assert_ne!(first, second);
    for url in [first, second] {
        let client = lapin::Connection::connect(&url, lapin::ConnectionProperties::default()).await.unwrap();
        client.close(200, "done".into()).await.unwrap();
    }
}

/// Each test here has its own thread and runtime, which end at different times. The servers must not end with the
/// runtime that started them.
#[test]
fn servers_outlive_the_runtime_that_started_them() {
    for _ in 0..2 {
        let thread = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let url = Servers::for_tests().await.unwrap().create_database().await.unwrap();
                assert_eq!(query(&url, "SELECT 1;").await.unwrap(), "1");
            });
        });
        thread.join().unwrap();
    }
}
