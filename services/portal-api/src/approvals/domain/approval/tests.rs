//! The steps as a table, and as random walks against the rules that must always hold.

use super::*;
use crate::business::domain::BusinessStatus;
use proptest::prelude::*;

fn person(last: char) -> OperatorActor {
    let id = format!("stf_01ARZ3NDEKTSV4RRFFQ69G5FA{last}");
    OperatorActor::Person { id: id.parse().unwrap(), email: format!("{last}@carrier.example") }
}

fn caller(actor: OperatorActor, may: bool) -> ApprovalCaller {
    ApprovalCaller { actor, may }
}

fn action(kind: ApprovalKind) -> ProtectedAction {
    match kind {
        ApprovalKind::Credit => {
            ProtectedAction::Credit { amount_paise: Paise::new(700), reference: "invoice-7".to_owned() }
        }
        ApprovalKind::Debit => ProtectedAction::Debit(WalletDebit {
            amount_paise: Paise::new(700),
            reference: "correction-7".to_owned(),
            reason: "Entered twice".to_owned(),
            reverses: None,
        }),
        ApprovalKind::RaiseLimit => {
            ProtectedAction::RaiseLimit { credits_above_paise: Some(Paise::new(700)) }
        }
        ApprovalKind::LiftSuspension => ProtectedAction::LiftSuspension(SuspensionLift {
            change: BusinessChange {
                status: Some(BusinessStatus::Active),
                subscription_active: None,
                live_access: None,
                plan: None,
                reason: None,
            },
            suspension: 1,
        }),
        ApprovalKind::IssueResetLink => {
            ProtectedAction::IssueResetLink { user_id: "usr_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap() }
        }
    }
}

fn requested(kind: ApprovalKind, by: OperatorActor) -> Approval {
    let id = "apr_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    let business = "biz_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    Approval::request(id, Some(business), action(kind), by, DateTime::UNIX_EPOCH)
}

fn at(hours: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::hours(hours)
}

#[test]
fn accounts_are_related_by_chains_and_by_a_common_inviter() {
    let given = [("a", "b"), ("b", "c"), ("a", "d"), ("x", "y")];
    let given = given.map(|(giver, receiver)| (giver.to_owned(), receiver.to_owned()));
    for (one, other, expected) in [
        ("a", "b", true),
        ("c", "a", true),
        ("c", "d", true),
        ("y", "x", true),
        ("a", "x", false),
        ("a", "a", false),
    ] {
        assert_eq!(are_related(&given, one, other), expected, "{one} {other}");
    }
}

#[test]
fn only_another_person_with_the_permission_approves() {
    let token = OperatorActor::Token {
        id: "opt_01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(),
        name: "robot".to_owned(),
    };
    for kind in ApprovalKind::VARIANTS {
        let by_asha = requested(*kind, person('A'));
        let missing = ApprovalRefusal::PermissionMissing(kind.permission());
        for (actor, may, expected) in [
            (person('A'), true, ApprovalRefusal::OwnRequest),
            (person('B'), false, missing),
            (token.clone(), true, ApprovalRefusal::PersonRequired),
            (OperatorActor::Configuration, true, ApprovalRefusal::PersonRequired),
        ] {
            let by = caller(actor, may);
            assert_eq!(by_asha.approve(&by, true, None, at(1)), Err(expected), "{kind}: {by:?}");
            assert_eq!(by_asha.reject(&by, "no".to_owned(), at(1)), Err(expected), "{kind}: {by:?}");
            assert!(!by_asha.is_decidable(&by, at(1)));
        }
        let ravi = caller(person('B'), true);
        assert!(by_asha.is_decidable(&ravi, at(1)));
        let approved = by_asha.approve(&ravi, true, None, at(1)).unwrap();
        assert_eq!(approved.stored, ApprovalState::Approved);
        assert_eq!(approved.approve(&ravi, true, None, at(2)), Ok(approved.clone()), "the first result");
        let of_token = requested(*kind, token.clone());
        assert!(of_token.approve(&caller(person('A'), true), true, None, at(1)).is_ok());
    }
}

#[test]
fn an_end_applies_until_the_outcome_of_a_credit_may_be_unknown() {
    let ravi = caller(person('B'), true);
    for kind in ApprovalKind::VARIANTS {
        let open = requested(*kind, person('A'));
        assert_eq!(open.state(at(23)), ApprovalState::Pending);
        assert_eq!(open.state(at(24)), ApprovalState::Expired);
        let expired = Err(ApprovalRefusal::WrongState(ApprovalState::Expired));
        assert_eq!(open.approve(&ravi, true, None, at(24)), expired);
        let approved = open.approve(&ravi, true, None, at(23)).unwrap();
        assert_eq!(approved.state(at(24)) == ApprovalState::Approved, kind.moves_money(), "{kind}");
    }
}

#[test]
fn a_requester_or_an_approver_who_has_left_stops_the_execution() {
    let (asha, ravi) = (caller(person('A'), true), caller(person('B'), true));
    let open = requested(ApprovalKind::IssueResetLink, person('A'));
    assert_eq!(open.approve(&ravi, false, None, at(1)), Err(ApprovalRefusal::RequesterInactive));
    let approved = open.approve(&ravi, true, None, at(1)).unwrap();
    assert_eq!(approved.fetch_link(&asha, false, at(1)), Err(ApprovalRefusal::ApproverInactive));
    assert_eq!(approved.fetch_link(&ravi, true, at(1)), Err(ApprovalRefusal::NotRequester));
    let missing = ApprovalRefusal::PermissionMissing(OperatorPermission::IssuePasswordResets);
    assert_eq!(approved.fetch_link(&caller(person('A'), false), true, at(1)), Err(missing));
    let fetched = approved.fetch_link(&asha, true, at(1)).unwrap();
    let again = ApprovalRefusal::WrongState(ApprovalState::Executed);
    assert_eq!(fetched.fetch_link(&asha, true, at(1)), Err(again), "once");
    let credit = requested(ApprovalKind::Credit, person('A')).approve(&ravi, true, None, at(1)).unwrap();
    assert_eq!(credit.fetch_link(&asha, true, at(1)), Err(ApprovalRefusal::NoLink));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Approve,
    Reject,
    Withdraw,
    FetchLink,
    Finish,
    Fail,
}

/// What the commands do with the result of a step: a lifted suspension ends in the same transaction, a credit later.
fn step(
    before: &Approval,
    step: Step,
    by: &ApprovalCaller,
    other_may: bool,
    now: DateTime<Utc>,
) -> Option<Approval> {
    let is_running = before.stored == ApprovalState::Approved && before.kind().moves_money();
    match step {
        Step::Approve => before.approve(by, other_may, None, now).ok().map(|after| {
            let ends =
                after.stored == ApprovalState::Approved && after.kind() == ApprovalKind::LiftSuspension;
            if ends { after.executed(None, now) } else { after }
        }),
        Step::Reject => before.reject(by, "no".to_owned(), now).ok(),
        Step::Withdraw => before.withdraw(by, now).ok(),
        Step::FetchLink => before.fetch_link(by, other_may, now).ok(),
        Step::Finish => is_running.then(|| before.clone().executed(Some("trf".to_owned()), now)),
        Step::Fail => is_running.then(|| before.clone().failed("reference_reused".to_owned(), now)),
    }
}

fn steps() -> impl Strategy<Value = Vec<(Step, u8, bool, bool, i64)>> {
    let one = prop_oneof![
        Just(Step::Approve),
        Just(Step::Reject),
        Just(Step::Withdraw),
        Just(Step::FetchLink),
        Just(Step::Finish),
        Just(Step::Fail),
    ];
    prop::collection::vec((one, 0..4_u8, any::<bool>(), any::<bool>(), 0..8_i64), 1..20)
}

fn actor(number: u8) -> OperatorActor {
    match number {
        0 => person('A'),
        1 => person('B'),
        2 => person('C'),
        _ => OperatorActor::Configuration,
    }
}

proptest! {
    #[test]
    fn nothing_is_executed_without_a_second_person_or_twice(
        kind in prop::sample::select(ApprovalKind::VARIANTS),
        requester in 0..4_u8,
        steps in steps(),
    ) {
        let mut current = requested(kind, actor(requester));
        let (mut hours, mut executions) = (0, 0);
        for (one, number, may, other_may, waits) in steps {
            hours += waits;
            let (by, now) = (caller(actor(number), may), at(hours));
            let Some(after) = step(&current, one, &by, other_may, now) else { continue };
            let was_over = current.ended_at.is_some() || current.state(now) == ApprovalState::Expired;
            prop_assert!(!was_over || after == current, "{current:?} -> {after:?}");
            if after.stored != current.stored && after.stored == ApprovalState::Executed {
                executions += 1;
                let decision = after.decision.as_ref().unwrap();
                prop_assert_ne!(Some(decision.by), after.requester.staff());
            }
            if current.decision.is_none() && after.decision.is_some() {
                prop_assert!(may && by.actor.staff().is_some() && number != requester);
                prop_assert!(other_may || after.stored == ApprovalState::Rejected);
            }
            prop_assert_eq!(&after.action, &current.action);
            prop_assert_eq!(after.ended_at.is_some(), after.expires_at.is_none() && after.stored != ApprovalState::Approved);
            current = after;
        }
        prop_assert!(executions <= 1);
    }
}
