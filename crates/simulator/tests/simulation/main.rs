//! Runs of the simulator. `SIM_SEED`, `SIM_DAYS` and `SIM_MERCHANTS` choose another run.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod falsified;

use std::time::Instant;

use kontor_adapter_diesel::testing::Kind;
use kontor_simulator::{Broken, Outcome, Plan, Simulation};

#[expect(clippy::disallowed_methods, reason = "a test that is told how long to run")]
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// A thread of its own, as the service has none to share.
///
/// # Panics
/// If the runtime cannot be built.
pub fn on_one_thread<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

fn simulate(plan: Plan) -> Result<Outcome, Broken> {
    on_one_thread(Simulation::run(plan))
}

/// Returns the processor time of this process in seconds, to the hundredth, or nothing if the system does not report
/// it.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<u32>().ok());
    Some((f64::from(ticks(11)?) + f64::from(ticks(12)?)) / 100.0)
}

fn trade(database: Kind, days: u64, merchants: u64) -> Result<Outcome, Broken> {
    let days = u32::try_from(asked("SIM_DAYS").unwrap_or(days)).unwrap();
    let merchants = u32::try_from(asked("SIM_MERCHANTS").unwrap_or(merchants)).unwrap();
    let seed = asked("SIM_SEED").unwrap_or(20_271_031);
    let plan = Plan { seed, days, merchants: usize::try_from(merchants).unwrap(), database };
    println!("SIM_SEED={seed} SIM_DAYS={days} SIM_MERCHANTS={merchants} {database:?}");
    let (began, before) = (Instant::now(), processor_seconds());
    let outcome = simulate(plan)?;
    let merchant_days = f64::from(days) * f64::from(merchants);
    let used = before.zip(processor_seconds()).map_or_else(|| began.elapsed().as_secs_f64(), |(from, to)| to - from);
    let Outcome { hash, ended, died, met, done, .. } = &outcome;
    println!("hash {hash:016x}, until {ended}, {died} died, {met:?}, {done:?}");
    println!(
        "{merchant_days} merchant-days, {} steps, {used:.1} s of processor time: {:.0} merchant-days in an hour of it",
        outcome.steps,
        merchant_days * 3_600.0 / used
    );
    let few = u64::from(days) * u64::from(merchants) * 25;
    assert!(outcome.steps > few, "{} steps: too little happened", outcome.steps);
    Ok(outcome)
}

#[test]
fn merchants_trade() {
    trade(Kind::Sqlite, 2, 4).unwrap_or_else(|broken| panic!("{broken}"));
}

mod use_cases_meet_within_transactions {
    use super::{Kind, Outcome, trade};

    #[test]
    fn postgres() {
        let Outcome { met, .. } = trade(Kind::Postgres, 2, 3).unwrap_or_else(|broken| panic!("{broken}"));
        assert!(met.held > 10 && met.waited > 0, "{met:?}: do they meet at all?");
    }
}

#[test]
fn a_seed_repeats_itself() {
    let plan = Plan { seed: 7, days: 1, merchants: 2, database: Kind::Sqlite };
    let (first, again) = (simulate(plan).unwrap(), simulate(plan).unwrap());
    assert_eq!(first, again);
    let other = simulate(Plan { seed: 8, ..plan }).unwrap();
    assert_ne!(first.hash, other.hash);
}
