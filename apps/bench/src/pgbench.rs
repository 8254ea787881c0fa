//! Orders on PostgreSQL beside the same rows written by `pgbench`: the database without the service.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Failure;
use crate::crowd::CUSTOMERS;
use crate::load::{RunLengths, Sample, in_turns};
use crate::report::{Figure, Goal, Report};
use crate::shop::Shop;

/// Writes the rows of an order of one line without payment in one statement, as `store` in
/// `crates/adapter-diesel/src/orders/place.rs` does. The price is taken from the stock level, the name of the line is
/// always the same. A colon before a letter is a variable of `pgbench`, also within a text.
const ORDER: &str = include_str!("order.sql");

/// Measures orders beside `pgbench`, with as many sessions as there are customers.
pub fn measure(
    shop: &Shop,
    url: &str,
    lengths: &RunLengths,
    report: &mut Report,
    orders: impl FnMut() -> Result<Sample, Failure>,
) -> Result<(), Failure> {
    let Some(program) = program() else {
        eprintln!("SKIPPED orders beside pgbench: it is neither on PATH nor in /usr/lib/postgresql");
        return Ok(());
    };
    let script = shop.folder().join("order.sql");
    std::fs::write(&script, ORDER)?;
    let (first, last) = stock(shop)?;
    let variables = [
        ("project", shop.project.project_id),
        ("application", shop.project.application_id),
        ("first", first),
        ("last", last),
    ];
    let seconds = (lengths.warm_up + lengths.round).as_secs_f64().ceil();
    let mut command = Command::new(program);
    command.args(["-n", "-M", "prepared", "--log"]);
    command.args(["-c", &CUSTOMERS.to_string(), "-j", &lengths.threads.to_string(), "-T", &seconds.to_string()]);
    command.args(variables.iter().map(|(name, value)| format!("--define={name}={value}")));
    command.arg("-f").arg(&script).arg(url);
    let pair = in_turns(lengths.rounds, orders, || run(&mut command, lengths.warm_up))?;
    let name = "durable orders on PostgreSQL by the same rows written by pgbench";
    report.add(Figure::ratio(name, pair.ratio(), Goal::AtLeast(0.5)).beside(&pair));
    Ok(())
}

/// Returns the path of `pgbench`, of the newest version installed.
fn program() -> Option<PathBuf> {
    let versions = Path::new("/usr/lib/postgresql").read_dir().into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = versions.map(|version| version.path().join("bin/pgbench")).collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("pgbench"));
    found.into_iter().rev().chain(on_path).find(|path| path.exists())
}

/// Returns the first and the last id of the stock levels, which have no gaps.
fn stock(shop: &Shop) -> Result<(i64, i64), Failure> {
    let project = shop.project.project_id;
    let ids = shop.numbers(format!("SELECT id AS number FROM inventories WHERE project_id = {project} ORDER BY id"))?;
    match ids.as_slice() {
        [first, .., last] if usize::try_from(last - first + 1)? == ids.len() => Ok((*first, *last)),
        _ => Err("the ids of the stock levels are not consecutive".into()),
    }
}

/// Runs `pgbench`. Transactions of the warm-up, in which its new sessions plan the statement, do not count.
fn run(command: &mut Command, warm_up: Duration) -> Result<Sample, Failure> {
    // The logs are written to the current folder, one per thread.
    let folder = tempfile::tempdir()?;
    let output = command.current_dir(folder.path()).output()?;
    if !output.status.success() {
        return Err(format!("pgbench failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let mut transactions = Vec::new();
    for log in std::fs::read_dir(folder.path())? {
        for line in std::fs::read_to_string(log?.path())?.lines() {
            transactions.push(transaction(line).ok_or_else(|| format!("pgbench logged {line:?}"))?);
        }
    }
    transactions.sort_unstable();
    let [(first, _), .., (last, _)] = transactions.as_slice() else {
        return Err("pgbench logged no transactions".into());
    };
    let from = *first + warm_up;
    let times = transactions.iter().filter(|(end, _)| *end > from).map(|(_, time)| *time).collect();
    Sample::new(last.saturating_sub(from), times)
}

/// Reads the end of a transaction, since 1970, and its duration. A line of the log has: client, number, duration in
/// microseconds, script, end in seconds, microseconds of the end.
fn transaction(line: &str) -> Option<(Duration, Duration)> {
    let mut fields = line.split(' ').skip(2).map(|field| field.parse().ok());
    let time = fields.next()??;
    let seconds = fields.nth(1)??;
    let end = Duration::from_secs(seconds) + Duration::from_micros(fields.next()??);
    Some((end, Duration::from_micros(time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_read() {
        let (end, time) = transaction("0 199 2241 0 1175850568 995598").unwrap();
        assert_eq!((end, time), (Duration::from_micros(1_175_850_568_995_598), Duration::from_micros(2_241)));
        assert_eq!(transaction("0 199 failed 0 1175850568 995598"), None);
    }
}
