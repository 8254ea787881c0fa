//! The service is killed at every step of a recurring charge, and at random times during many. Each period is charged
//! once, the acquirer and the database agree, and nothing is left half done.
//!
//! `CRASH_KILLS` sets more random kills than the short run, `CRASH_SEED` repeats their choices.

mod books;
pub mod members;

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use diesel::RunQueryDsl as _;
use kontor_adapter_diesel::{Abort, database_tests, retry_until};
use kontor_kernel::StoreError;
use serde_json::{Value, json};

use self::members::{Members, subscriptions};
use crate::crash::rng::TestRng;
use crate::crash::{TIME_PASSES, asked};
use crate::process::{PATIENCE, Process, ProcessEnvironment};

/// Longer than a kill needs, in milliseconds.
const HELD: u64 = 20_000;
/// Ends the leases of the dead worker.
const LEASES_END: [&str; 1] = ["UPDATE subscriptions SET wake_at = next_charge_at WHERE next_charge_at IS NOT NULL"];
/// No receiver listens there.
const NOWHERE: &str = "http://127.0.0.1:1/";

/// A service that is killed.
struct KillScenario {
    members: Members,
    /// `None` while it is dead.
    process: Option<Process>,
    kills: usize,
    /// Number of attempts that were open at the kills.
    struck: i64,
}

impl KillScenario {
    async fn begin(environment: ProcessEnvironment) -> Self {
        let process = Some(environment.serve().await);
        Self { members: Members::join(environment).await, process, kills: 0, struck: 0 }
    }

    fn environment(&self) -> &ProcessEnvironment {
        &self.members.environment
    }

    /// Turns the acquirer's notifications on or off.
    fn notifications(&self, arrive: bool) {
        let url = if arrive { format!("{}/callbacks/acquirer", self.environment().url()) } else { NOWHERE.to_owned() };
        self.environment().sandbox.set_notification_url(url);
    }

    /// Waits until the payment of the only open attempt has this status.
    async fn payment(&self, status: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(payment) = self.members.payment().await.filter(|payment| payment["status"] == status) {
                return payment;
            }
            retry_until!(until, "no payment is {status}");
        }
    }

    /// Waits until an attempt has ended.
    async fn first_ended(&self) {
        let until = Instant::now() + PATIENCE;
        while self.members.ended().await == 0 {
            retry_until!(until, "no attempt ends");
        }
    }

    /// Kills the process. Returns the number of attempts left open.
    async fn kill(&mut self) -> i64 {
        self.process.take().unwrap().kill();
        self.kills += 1;
        let open = self.members.open().await;
        self.struck += open;
        open
    }

    /// Moves time forward and starts another process, until no work is left.
    async fn recover(&mut self) {
        self.notifications(true);
        self.environment().forgive().await;
        for member in 0..self.members.cards.len() {
            self.members.direct(member, json!([])).await;
        }
        self.time_passes().await;
        self.process = Some(self.environment().serve().await);
        self.members.settle().await;
        books::examine(&self.members).await;
    }

    async fn time_passes(&self) {
        self.environment().execute(&TIME_PASSES).await;
        self.environment().execute(&LEASES_END).await;
    }

    /// The attempt is committed and the request is on its way, but the acquirer has done nothing yet.
    async fn dies_before_the_acquirer_acts(&mut self) {
        self.environment().fault("acquirer", "delay", 1, Duration::from_secs(4)).await;
        self.members.fall_due(0).await;
        self.environment().faults_are_met().await;
        assert_eq!(self.members.payment().await, Some(Value::Null));
        assert_eq!(self.kill().await, 1);
    }

    /// The acquirer has the money, and its response is never read.
    async fn dies_before_the_answer(&mut self) {
        self.notifications(false);
        self.members.direct(0, json!([{ "outcome": "succeed", "fault": "timeout", "delay_ms": HELD }])).await;
        self.members.fall_due(0).await;
        self.payment("succeeded").await;
        assert_eq!(self.kill().await, 1);
    }

    /// The response is read, and the commit of its outcome waits for a lock on the charge.
    async fn dies_before_the_outcome_is_committed(&mut self) {
        self.notifications(false);
        self.members.direct(0, json!([{ "outcome": "succeed", "fault": "timeout", "delay_ms": 2_000 }])).await;
        self.members.fall_due(0).await;
        let payment = self.payment("succeeded").await["id"].as_str().unwrap().to_owned();
        let lock = Lock::on_open_charges(self.environment()).await;
        let until = Instant::now() + PATIENCE;
        let is_read = |line: &str| line.contains("payment requested") && line.contains(&payment);
        while !self.environment().log().lines().any(is_read) {
            retry_until!(until, "the answer is not read");
        }
        assert_eq!(self.kill().await, 1);
        lock.release().await;
        assert_eq!(self.members.open().await, 1, "the outcome is not committed");
    }

    /// The outcome is committed, from the response.
    async fn dies_after_the_outcome(&mut self) {
        self.notifications(false);
        self.members.fall_due(0).await;
        self.first_ended().await;
        self.kill().await;
        assert!(self.members.ended().await < subscriptions(), "the others are still to be charged");
    }

    /// The outcome is committed, from the notification, which came first. The response is never read.
    async fn dies_after_the_notification(&mut self) {
        let held = json!([{ "outcome": "succeed", "fault": "timeout", "delay_ms": HELD, "notifies_first": true }]);
        self.members.direct(0, held).await;
        self.members.fall_due(0).await;
        self.first_ended().await;
        assert_eq!((self.kill().await, self.members.ended().await), (0, 1));
    }

    /// Kills while all members are charged by a failing acquirer, until there were this many more kills.
    async fn rage(&mut self, kills: usize, rng: &mut TestRng) {
        let wanted = self.kills + kills;
        while self.kills < wanted {
            let mut declining = 0;
            for member in 0..self.members.cards.len() {
                let (steps, declines) = acquirer_mode(rng);
                self.members.direct(member, steps).await;
                declining += i64::from(declines);
            }
            self.members.fall_due(declining).await;
            while self.kills < wanted && !self.members.is_settled().await {
                rng.rest(0, 700).await;
                self.kill().await;
                if rng.one_in(2) {
                    self.time_passes().await;
                }
                self.process = Some(self.environment().spawn(&["serve"]));
                rng.rest(300, 0).await;
            }
            self.kill().await;
            self.time_passes().await;
            self.process = Some(self.environment().serve().await);
            self.members.settle().await;
            books::examine(&self.members).await;
        }
    }
}

/// Chooses the outcomes of a member's charges, and returns `true` if they are declined.
fn acquirer_mode(rng: &mut TestRng) -> (Value, bool) {
    let delay = 50 + rng.below(400);
    let (step, declines) = match rng.below(8) {
        0 => (json!({ "outcome": "succeed" }), false),
        1 => (json!({ "outcome": "succeed", "fault": "timeout", "delay_ms": delay, "times": null }), false),
        2 => (json!({ "outcome": "succeed", "fault": "drop_after_commit", "times": null }), false),
        3 => (
            json!({ "outcome": "succeed", "fault": "http_500_after_commit", "notifications": "duplicate", "times": null }),
            false,
        ),
        // These faults come before any work, so a repeat gets the next step of the script.
        4 => (json!({ "outcome": "succeed", "fault": "drop", "times": 2 }), false),
        5 => (json!({ "outcome": "pending", "after_seconds": 1, "then": "succeed", "times": null }), false),
        6 => (
            json!({ "outcome": "succeed", "fault": "timeout", "delay_ms": delay, "notifies_first": true, "times": null }),
            false,
        ),
        _ => (json!({ "outcome": "decline", "reason": "insufficient_funds", "times": null }), true),
    };
    (json!([step]), declines)
}

/// A transaction that keeps others from committing changes of open charges.
struct Lock {
    release: mpsc::Sender<()>,
    held: tokio::task::JoinHandle<()>,
}

impl Lock {
    async fn on_open_charges(environment: &ProcessEnvironment) -> Self {
        let (release, released) = mpsc::channel();
        let (begun, begins) = mpsc::channel();
        let (database, released) = (environment.connect(), Arc::new(Mutex::new(released)));
        let held = tokio::spawn(async move {
            let done = database.write_and_invalidate_all(move |connection| {
                let touch = "UPDATE charges SET checks = checks WHERE state IN ('prepared', 'pending')";
                diesel::sql_query(touch).execute(connection)?;
                begun.send(()).unwrap();
                released.lock().unwrap().recv_timeout(PATIENCE).unwrap();
                Ok::<_, Abort<StoreError>>(())
            });
            done.await.unwrap();
        });
        tokio::task::spawn_blocking(move || begins.recv_timeout(PATIENCE).unwrap()).await.unwrap();
        Self { release, held }
    }

    async fn release(self) {
        self.release.send(()).unwrap();
        self.held.await.unwrap();
    }
}

database_tests! {
    async fn every_period_is_charged_once_when_the_process_is_killed(db: TestDatabase) {
        let (kind, started) = (db.kind, Instant::now());
        let seed = asked("CRASH_SEED").unwrap_or_else(TestRng::any_seed);
        let kills = asked("CRASH_KILLS").map_or(12, |kills| usize::try_from(kills).unwrap());
        println!("{kind:?}: CRASH_SEED={seed} repeats the choices of this run");
        let mut scenario = KillScenario::begin(ProcessEnvironment::open(db, 0.05).await).await;
        scenario.dies_before_the_acquirer_acts().await;
        scenario.recover().await;
        scenario.dies_before_the_answer().await;
        scenario.recover().await;
        scenario.dies_before_the_outcome_is_committed().await;
        scenario.recover().await;
        scenario.dies_after_the_outcome().await;
        scenario.recover().await;
        scenario.dies_after_the_notification().await;
        scenario.recover().await;
        let (stepwise, struck) = (started.elapsed(), std::mem::take(&mut scenario.struck));
        scenario.rage(kills, &mut TestRng::new(seed)).await;
        assert!(scenario.struck > 0, "no random kill hit an open charge");
        let process = scenario.process.take().unwrap();
        process.terminate();
        assert!(process.ended().await.success());
        println!(
            "{kind:?}: {} kills, {struck} open charges hit step by step in {stepwise:.1?}, {} at random moments, {} charges of {} \
             periods, {:.1?} in all",
            scenario.kills,
            scenario.struck,
            scenario.members.expected.succeeded + scenario.members.expected.declined,
            scenario.members.rounds,
            started.elapsed()
        );
    }
}
