//! Lists, page by page.

use chrono::TimeDelta;
use domain::{ApiKeyId, Mode};
use internal_api::PageQuery;
use test_kit::{invalid_fields, refusal};

use crate::harness::Harness;

#[tokio::test]
async fn pages_are_newest_first_and_miss_nothing() {
    let harness = Harness::start().await;
    let mut newest_first = Vec::new();
    for at in 0..7 {
        // Two keys share each moment.
        harness.advance(TimeDelta::seconds(at % 2));
        newest_first.push(harness.create(Mode::Test).await.view);
    }
    newest_first.sort_by_key(|view| std::cmp::Reverse((view.created_at, view.id)));

    let mut seen = Vec::new();
    let mut page = PageQuery { limit: 3, starting_after: None };
    loop {
        let answer = harness.keys.list(harness.business, &page).await.unwrap();
        page.starting_after = answer.data.last().map(|view| view.id.to_string());
        seen.extend(answer.data);
        if !answer.has_more {
            break;
        }
        assert_eq!(seen.len() % 3, 0);
    }
    assert_eq!(seen, newest_first);
    assert!(harness.keys.list(harness.business, &page).await.unwrap().data.is_empty());
}

#[tokio::test]
async fn an_unknown_page_is_refused() {
    let harness = Harness::start().await;
    let unknown = ApiKeyId::generate(&harness.clock, &harness.entropy).to_string();
    for starting_after in [unknown, "nonsense".to_owned()] {
        let page = PageQuery { limit: 3, starting_after: Some(starting_after) };
        let refused = refusal(harness.keys.list(harness.business, &page).await);
        assert_eq!((refused.status, invalid_fields(&refused)), (400, vec!["startingAfter"]));
    }
    for limit in [0, 101] {
        let page = PageQuery { limit, starting_after: None };
        let refused = refusal(harness.keys.list(harness.business, &page).await);
        assert_eq!((refused.status, invalid_fields(&refused)), (400, vec!["limit"]));
    }
}
