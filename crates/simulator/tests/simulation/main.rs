//! Runs of the simulator. `SIM_SEED`, `SIM_DAYS` and `SIM_MERCHANTS` choose another one.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod falsified;

use std::time::Instant;

use kontor_simulator::{Broken, Outcome, Plan, Simulation};

#[expect(clippy::disallowed_methods, reason = "a test that is told how long to run")]
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// A thread of its own, as the service has none to share.
///
/// # Panics
/// When there is no runtime to be had.
pub fn on_one_thread<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

fn simulate(plan: Plan) -> Result<Outcome, Broken> {
    on_one_thread(Simulation::run(plan))
}

/// The seconds of processor time that this process has used, to the hundredth; nothing where the system does not tell.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<u32>().ok());
    Some((f64::from(ticks(11)?) + f64::from(ticks(12)?)) / 100.0)
}

#[test]
fn merchants_trade() {
    let days = u32::try_from(asked("SIM_DAYS").unwrap_or(2)).unwrap();
    let merchants = u32::try_from(asked("SIM_MERCHANTS").unwrap_or(4)).unwrap();
    let seed = asked("SIM_SEED").unwrap_or(20_271_031);
    let plan = Plan { seed, days, merchants: usize::try_from(merchants).unwrap() };
    println!("SIM_SEED={seed} SIM_DAYS={days} SIM_MERCHANTS={merchants}");
    let (began, before) = (Instant::now(), processor_seconds());
    let outcome = simulate(plan).unwrap_or_else(|broken| panic!("{broken}"));
    let merchant_days = f64::from(days) * f64::from(merchants);
    let used = before.zip(processor_seconds()).map_or_else(|| began.elapsed().as_secs_f64(), |(from, to)| to - from);
    println!("hash {:016x}, until {}, {} died, {:?}", outcome.hash, outcome.ended, outcome.died, outcome.done);
    println!(
        "{merchant_days} merchant-days, {} steps, {used:.1} s of processor time: {:.0} merchant-days in an hour of it",
        outcome.steps,
        merchant_days * 3_600.0 / used
    );
    assert!(outcome.steps > u64::from(days) * 100, "{} steps: too little happened", outcome.steps);
}

#[test]
fn a_seed_repeats_itself() {
    let plan = Plan { seed: 7, days: 1, merchants: 2 };
    let (first, again) = (simulate(plan).unwrap(), simulate(plan).unwrap());
    assert_eq!(first, again);
    let other = simulate(Plan { seed: 8, ..plan }).unwrap();
    assert_ne!(first.hash, other.hash);
}
