//! The search among many orders: frequent words are found along the newest orders, and rare ones by the index.

use diesel_async::SimpleAsyncConnection;
use domain::{Mode, TrackingCode};
use serde_json::{Value, json};

use crate::business::Business;
use crate::harness::{OrderApi, text};
use crate::search::{found, get, indexed, page, place, references};

/// 3,000 failed orders, and 1,000 newer ones that are delivered, all like a first one of Asha but for these words: of the
/// failed ones Tara's, and of one of them Rhea's.
async fn with_many_orders(service: &OrderApi, business: &Business) {
    place(business, false, "newest", ["Asha Rao", "+919876543210", "Mysuru", "570001"]).await;
    indexed(service, 1).await;
    let codes: Vec<_> =
        (0..4_000).map(|_| TrackingCode::generate(Mode::Test, &service.entropy).to_string()).collect();
    let many = format!(
        "INSERT INTO orders (id, business_id, mode, placement, attempt, order_reference, idempotency_key, fingerprint, request_id,
            key_id, tracking_code, order_source, status, cod_status, payment_type, delivery_fee_paise, cod_amount_paise, details,
            receipt, sequence, created_at, updated_at)
        SELECT 'ord_0' || lpad(n::text, 25, '0'), business_id, mode, placement, attempt, 'old-' || n, 'old-' || n, fingerprint,
            request_id, key_id, code, order_source, CASE WHEN n > 3000 THEN 'delivered' ELSE 'failed' END, cod_status,
            payment_type, delivery_fee_paise, cod_amount_paise, details, receipt, sequence, created_at, updated_at
        FROM orders, string_to_table('{}', ' ') WITH ORDINALITY AS codes (code, n);
        INSERT INTO order_search (order_id, business_id, words)
        SELECT orders.id, orders.business_id, array_to_tsvector(ARRAY[right(orders.business_id, 6) || CASE
            WHEN order_reference = 'old-7' THEN '*rhea' WHEN status = 'failed' THEN '*tara' ELSE '*asha' END])
        FROM orders WHERE order_reference <> 'newest'",
        codes.join(" ")
    );
    service.connection().await.batch_execute(&many).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn frequent_and_rare_words_are_found_among_many_orders() {
    let service = OrderApi::start().await;
    let business = service.business(0);
    with_many_orders(&service, &business).await;
    let first = page(&service, business.id, "search=asha").await;
    assert_eq!(
        (references(&first).len(), &first["hasMore"], &first["next"]),
        (20, &json!(true), &Value::Null)
    );
    assert_eq!(found(&service, business.id, "rhea", "").await, ["old-7"], "by the index");
    assert_eq!(found(&service, business.id, "rhea", "&status=failed").await, ["old-7"]);
    for more in ["&mode=live", "&status=created", "&createdFrom=2020-01-01T00:00:00Z"] {
        assert_eq!(found(&service, business.id, "rhea", more).await, Vec::<String>::new(), "{more}");
    }
    assert_eq!(found(&service, business.id, "nobody", "").await, Vec::<String>::new());
    // Frequent, but never in this state: the page ends before it is full, and says where the next one begins.
    let query = "search=asha&status=failed";
    let short = page(&service, business.id, query).await;
    assert_eq!((references(&short).len(), &short["hasMore"]), (0, &json!(true)));
    let after = format!("{query}&startingAfter={}", text(&short, "next"));
    let last = page(&service, business.id, &after).await;
    assert_eq!((references(&last).len(), &last["hasMore"], &last["next"]), (0, &json!(false), &Value::Null));
    // The staff find the same: among the newest orders of all businesses, or by the index.
    let anywhere = async |query: &str| -> (usize, Value, Value) {
        let found = get(&service, &format!("orders/search?search={query}")).await.expect(200).unwrap();
        let count = found["data"].as_array().unwrap().len();
        (count, found["hasMore"].clone(), found["next"].clone())
    };
    assert_eq!(anywhere("asha").await, (20, json!(true), Value::Null));
    assert_eq!(anywhere("rhea&status=failed").await, (1, json!(false), Value::Null));
    assert_eq!(anywhere("nobody").await, (0, json!(false), Value::Null));
    let (count, has_more, next) = anywhere(query.trim_start_matches("search=")).await;
    assert_eq!((count, has_more), (0, json!(true)));
    let after = format!("asha&status=failed&startingAfter={}", next.as_str().unwrap());
    assert_eq!(anywhere(&after).await, (0, json!(false), Value::Null));
}
