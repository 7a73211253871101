//! The servers that tests share: databases and virtual hosts of their own.

use local_stack::Servers;

#[tokio::test]
async fn each_database_and_virtual_host_is_new() {
    let servers = Servers::for_tests().await.unwrap();
    let first = servers.create_database().await.unwrap();
    let second = servers.create_database().await.unwrap();
    assert_ne!(first, second);
    let vhost = servers.create_vhost().await.unwrap();
    assert!(vhost.starts_with("amqp://"), "{vhost}");
}

#[tokio::test]
async fn servers_outlive_the_test_that_started_them() {
    let servers = Servers::for_tests().await.unwrap();
    servers.create_database().await.unwrap();
}
