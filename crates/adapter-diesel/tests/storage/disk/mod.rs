//! Kills at any change of a file, power losses and disk failures. Confirmed writes are stored, writes in progress are
//! stored completely or not at all, and writes that cannot be stored are refused.

mod catalog;
mod content;
mod course;
mod orders;
mod people;
mod run;
mod state;
mod subscriptions;

use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::RecordRepository;
use kontor_organization::model::{Department, DepartmentDraft};
use run::{Run, Scenario};

use crate::catalog::records::{name, system};
use crate::fixtures;

/// Writes one test per scenario.
macro_rules! scenarios {
    ($(async fn $name:ident($db:ident, $run:ident) $body:block)+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            async fn scenario($db: &kontor_adapter_diesel::testing::TestDatabase, $run: &mut $crate::disk::run::Run) $body
            let path = concat!(module_path!(), "::", stringify!($name));
            $crate::disk::holds(path.split_once("disk::").unwrap().1, scenario).await;
        }
    )+};
}
use scenarios;

#[expect(clippy::disallowed_methods, reason = "tests are configured by their environment alone")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn number(name: &str) -> Option<u64> {
    variable(name).map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn power_seeds() -> std::ops::Range<u64> {
    match number("POWER_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("POWER_SEEDS").unwrap_or(8),
    }
}

/// Runs a scenario through every kind of disk failure.
async fn holds(name: &'static str, scenario: impl Scenario) {
    let mut course = Run::record(name, "", &scenario).await;
    course.outlasts_kills().await.unwrap_or_else(|why| panic!("{why}"));
    let seeds = power_seeds();
    for seed in seeds.clone() {
        course.outlasts_loss_of_power(seed).await.unwrap_or_else(|why| panic!("{why}"));
    }
    let refused = Run::fail(&scenario).await;
    assert!(refused > 0, "{name}: no disk failed");
    println!(
        "{name}: killed at each of {} changes, power lost {} times, {refused} times refused by a failing disk",
        course.recording.len() + 1,
        seeds.end - seeds.start,
    );
}

async fn two_departments(db: &TestDatabase, run: &mut Run) {
    let project = fixtures::project(db).await;
    run.begin(db);
    let departments: &dyn RecordRepository<Department> = &db.database;
    for title in ["Sales", "Stock"] {
        let draft = DepartmentDraft { name: name(title), description: None, branch_id: None };
        run.step(title, async || departments.insert(system(project), draft.clone()).await).await;
    }
}

/// Confirmed writes are on the disk. This test detects a missing wait for the sync.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unsynced_data_is_missing() {
    let mut losses = Vec::new();
    for level in ["FULL", "NORMAL"] {
        let settings = format!("PRAGMA synchronous = {level}");
        let mut course = Run::record("unsynced_data_is_missing", &settings, &two_departments).await;
        course.outlasts_kills().await.unwrap();
        let mut lost = 0;
        for seed in 0..100 {
            lost += u32::from(course.loses(seed).await);
        }
        losses.push(lost);
    }
    println!("of 100 losses of power, {} lost something that was answered without waiting for the disk", losses[1]);
    assert!(losses[0] == 0 && losses[1] > 0, "{losses:?}");
}
