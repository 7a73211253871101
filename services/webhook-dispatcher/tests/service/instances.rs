//! Several instances, each a process of its own, some of which are killed or stand still.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::Mode;
use test_kit::{Program, until};

use crate::harness::{Harness, LIFE, client};
use crate::process;
use crate::receiver::{Receiver, reply};

const INSTANCES: usize = 3;
const ORDERS: usize = 30;
/// Published in each round.
const PUBLISHED: usize = 60;

/// Nothing is lost, and no event arrives before its predecessor. What was under way may arrive twice.
#[tokio::test]
async fn instances_survive_kills_and_pauses() {
    let mut harness = Harness::start().await;
    harness.crash().await;
    let mut programs = Vec::new();
    for _ in 0..INSTANCES {
        let (program, internal, _) = start(&harness);
        harness.hooks = client(&internal, &harness.settings.internal.token);
        programs.push(program);
    }
    let receiver = Receiver::start(|_, _| {
        let mut reply = reply(200);
        reply.after = Duration::from_millis(5);
        reply
    });
    harness.endpoint(&receiver).await;
    let orders: Vec<_> = (0..ORDERS).map(|_| harness.new_order(Mode::Live)).collect();
    let life = (1..).zip(LIFE);
    let envelopes: Vec<_> = life
        .flat_map(|(sequence, kind)| orders.iter().map(move |order| (order, sequence, kind)))
        .map(|(order, sequence, kind)| harness.envelope(order, sequence, kind))
        .collect();
    for (round, chunk) in envelopes.chunks(PUBLISHED).enumerate() {
        let seen = receiver.count();
        harness.publish(chunk).await;
        until("the work has begun", async || receiver.count() > seen).await;
        let program = &mut programs[round % INSTANCES];
        if round % 2 == 0 {
            program.kill();
            *program = start(&harness).0;
        } else {
            pause(&harness, program).await;
        }
    }
    let arrived = || receiver.received().iter().map(|one| one.id()).collect::<BTreeSet<_>>().len();
    until("all events arrive", async || arrived() == envelopes.len()).await;
    for order in &orders {
        let mut first = Vec::new();
        for sequence in receiver.sequences(&order.reference) {
            if !first.contains(&sequence) {
                first.push(sequence);
            }
        }
        assert_eq!(first, (1..=8).collect::<Vec<_>>(), "{}", order.reference);
    }
    let unfinished = "deliveries WHERE state <> 'succeeded'";
    until("all outcomes are stored", async || harness.count(unfinished).await == 0).await;
}

fn start(harness: &Harness) -> (Program, url::Url, url::Url) {
    process::start(&mut process::command(harness, "serve"))
}

/// Until its leases have expired, and the others know that it is gone.
async fn pause(harness: &Harness, program: &Program) {
    program.signal("STOP");
    let alive = "dispatchers WHERE alive_until > clock_timestamp()";
    until("it counts as gone", async || harness.count(alive).await == INSTANCES as i64 - 1).await;
    program.signal("CONT");
}
