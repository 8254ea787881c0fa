//! A wave of renewals: a hundred thousand of a million subscriptions fall due together. They are charged at the
//! configured rate while visitors read. The rest is found and queued.

use std::time::{Duration, Instant};

use chrono::{DateTime, Datelike as _, Days, Months, TimeDelta, Utc};
use kontor::adapters::SystemClock;
use kontor::config::Config;
use kontor_kernel::Clock as _;
use kontor_sandbox::{Sandbox, SandboxConfig, SandboxHandle};
use kontor_subscriptions::ports::SubscriptionStore as _;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::renewals::{AT_ONCE, LEASE, Row, text, write_rows};
use crate::Failure;
use crate::load::{self, Pair, Request, RunLengths, Target};
use crate::report::{Figure, Goal, Report};
use crate::shop::{AT, Data, OnServer, Shop, in_one_commit};
use crate::storefront::{card, categories, list};

/// Size of the wave.
struct Wave {
    /// Number of subscriptions that are not due.
    waiting: usize,
    /// Number due together.
    due: usize,
    /// Number of the due ones with a saved payment method at the acquirer; they come first. It exceeds what is
    /// charged in the time.
    chargeable: usize,
    /// Duration of charging and reading.
    time: Duration,
}

const FULL: Wave = Wave { waiting: 900_000, due: 100_000, chargeable: 800, time: Duration::from_secs(20) };
const QUICK: Wave = Wave { waiting: 9_000, due: 1_000, chargeable: 150, time: Duration::from_secs(4) };

/// First identifier of the subscriptions that were never paid.
const FIRST: usize = 10_000_000;
const TIMEOUT: Duration = Duration::from_mins(2);

/// The acquirer, on separate threads.
struct Acquirer {
    runtime: Runtime,
    sandbox: SandboxHandle,
}

impl Acquirer {
    fn start() -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let config = SandboxConfig { workers: 1, ..SandboxConfig::new(std::sync::Arc::new(SystemClock)) };
        let sandbox = runtime.block_on(Sandbox::start(config))?;
        Ok(Self { runtime, sandbox })
    }

    /// Configures a service to use this acquirer.
    fn configure(&self, config: &mut Config) {
        let known = SandboxConfig::new(std::sync::Arc::new(SystemClock));
        config.acquirer_url = format!("{}/v3", self.sandbox.url());
        config.acquirer_shop_id = known.shop_id;
        config.acquirer_secret_key = known.secret_key.into();
    }

    /// Pays the latest payments.
    fn pay(&self, payments: usize) -> Result<(), Failure> {
        let address = self.sandbox.addr();
        let newest = Request::new("GET", &format!("/control/payments?limit={payments}"), &[], "");
        let known: Value = serde_json::from_slice(&load::ask(address, &newest, 200)?)?;
        let known = known.get("payments").and_then(Value::as_array).ok_or("the acquirer lists no payments")?;
        let pay = |id: &str| Request::new("POST", &format!("/control/payments/{id}"), &[], r#"{"outcome":"succeed"}"#);
        let requests = known.iter().filter_map(|payment| payment.get("id")?.as_str()).map(pay).collect();
        all(&Target { address, expected: 200, requests, once: true })
    }

    fn stop(self) {
        self.runtime.block_on(self.sandbox.stop());
    }
}

/// Sends every request once.
fn all(target: &Target) -> Result<(), Failure> {
    let (_, answers) = load::answers(target, RunLengths::FULL.connections, 1, TIMEOUT)?;
    let wanted = target.requests.len();
    if answers.len() == wanted { Ok(()) } else { Err(format!("{} of {wanted} were answered", answers.len()).into()) }
}

/// Measures the wave, on SQLite or on the server.
pub fn measure(lengths: &RunLengths, server: Option<&str>, report: &mut Report) -> Result<(), Failure> {
    let wave = if lengths.is_quick() { QUICK } else { FULL };
    let acquirer = Acquirer::start()?;
    let database = server.map(|server| OnServer::create(server, "wave")).transpose()?;
    let shop =
        Shop::configured(database.as_ref().map(|database| database.url.clone()), |config| acquirer.configure(config))?;
    let offers = shop.offers()?;
    let (plan, goods) = offers.split_last().ok_or("nothing is sold")?;
    let end = subscribe(&shop, &acquirer, &wave, plan.product)?;
    fill(&shop, &wave, end)?;
    if let Some(database) = &database {
        database.vacuum()?;
    }

    let service = shop.remembering()?;
    let lists = categories(goods).into_iter().map(|category| list(&shop, category));
    let requests = lists.chain(goods.iter().take(200).map(|offer| card(&shop, offer))).collect();
    let reads = Target { address: service.address, expected: 200, requests, once: false };
    // A rate at which reading alone does not use all processors.
    let read = |time| load::run(&reads, 2, 1, time);
    read(lengths.warm_up)?;
    let quiet = read(wave.time)?;
    fall_due(&shop, &wave, end)?;
    let busy = read(wave.time)?;
    let charged = count(&shop, "subscription_payments WHERE origin = 'renewal' AND state = 'succeeded'")?;
    let failed = count(&shop, "subscription_payments WHERE origin = 'renewal' AND state = 'failed'")?;
    service.close(&shop);

    let (all, due) = (wave.waiting + wave.due, wave.due);
    let per_second = shop.config().subscription_charges_per_second;
    let data = shop.close();
    acquirer.stop();
    if charged == 0 || failed > 0 {
        return Err(format!("{charged} subscriptions were charged, {failed} were not").into());
    }
    let title = format!("{due} renewals due among {all}");
    let rate = f64::from(charged) / wave.time.as_secs_f64();
    let least = f64::from(per_second) * 0.9;
    report.add(Figure::plain(format!("{title}, charged at {per_second}/s"), rate, "charges/s", Goal::AtLeast(least)));
    let slow = busy.percentile(99).as_secs_f64() / quiet.percentile(99).as_secs_f64();
    let pair = Pair { ours: busy, peer: quiet };
    report.add(Figure::times(format!("{title}: p99 of reads meanwhile"), slow, Goal::AtMost(1.5)).beside(&pair));

    let (found, took) = queue(&data)?;
    let title = format!("{found} renewals due among {all}: all found and queued");
    report.add(Figure::plain(title, took.as_secs_f64(), "s", Goal::AtMost(5.0)));
    Ok(())
}

/// Creates customers who subscribed a month ago through the API. Returns the end of their first period.
fn subscribe(shop: &Shop, acquirer: &Acquirer, wave: &Wave, plan: i64) -> Result<DateTime<Utc>, Failure> {
    let (project, application) = (shop.project.project_id, shop.project.application_id);
    in_one_commit(
        shop,
        vec![
            format!(
                "UPDATE nomenclatures SET kind_id = 1, is_subscription = TRUE, price = 49000, billing_period_months = 1 \
                 WHERE id = {plan}"
            ),
            format!(
                "INSERT INTO subscription_nomenclatures (project_id, application_id, nomenclature_id, plan_slug, position, \
                 is_active, created_at, updated_at) \
                 VALUES ({project}, {application}, {plan}, 'club', 1, TRUE, '{AT}', '{AT}')"
            ),
        ],
    )?;
    let body = json!({ "nomenclature_id": plan, "autopay_consent": true }).to_string();
    let check_out = |bearer: String| {
        let headers = [("Token", shop.project.app_token.as_str()), ("Authorization", bearer.as_str())];
        Request::new("POST", "/api/counterparty/subscriptions/checkout", &headers, &body)
    };
    let requests = shop.customers(wave.chargeable)?.into_iter().map(check_out).collect();
    all(&Target { address: shop.address, expected: 201, requests, once: true })?;
    acquirer.sandbox.set_notification_url(format!("http://{}/callbacks/acquirer", shop.address));
    acquirer.pay(wave.chargeable)?;
    let began = Instant::now();
    while usize::try_from(count(shop, "subscriptions WHERE status = 'active'")?)? < wave.chargeable {
        if began.elapsed() > TIMEOUT {
            return Err("not every subscription becomes active".into());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    // On a day that every month has, in the time zone of the project.
    let mut end = SystemClock.now() - TimeDelta::hours(1);
    while (end + TimeDelta::hours(3)).day() > 28 {
        end = end.checked_sub_days(Days::new(1)).ok_or("no such day")?;
    }
    Ok(end)
}

fn fill(shop: &Shop, wave: &Wave, end: DateTime<Utc>) -> Result<(), Failure> {
    let began = Instant::now();
    let later = SystemClock.now() + TimeDelta::days(2);
    let rows = (0..wave.waiting + wave.due - wave.chargeable).map(|place| {
        let spread = i64::try_from(place * 7_919 % (25 * 24 * 3_600)).unwrap_or_default();
        Row { id: FIRST + place, customer: 1 + place % wave.chargeable, end: later + TimeDelta::seconds(spread) }
    });
    write_rows(shop, &shop.project, rows)?;
    let all = wave.waiting + wave.due;
    eprintln!("wave: {all} subscriptions written in {:.0} s, due since {end}", began.elapsed().as_secs_f64());
    Ok(())
}

/// Makes the subscriptions fall due together, first those with a method known to the acquirer.
fn fall_due(shop: &Shop, wave: &Wave, end: DateTime<Utc>) -> Result<(), Failure> {
    let start = end.checked_sub_months(Months::new(1)).ok_or("no such month")?;
    let (day, first) = ((end + TimeDelta::hours(3)).day(), start.to_rfc3339());
    let schedule = format!(r#"[{{"from":1,"first":"{first}","zone":"Europe/Moscow","months":1,"day":{day}}}]"#);
    let due = |end: DateTime<Utc>, which: String| {
        let (start, end) = (text(start), text(end));
        format!(
            "UPDATE subscriptions SET schedule = '{schedule}', period_start = '{start}', period_end = '{end}', \
             next_charge_at = '{end}', wake_at = '{end}' WHERE {which}"
        )
    };
    let one_of = (wave.waiting + wave.due) / wave.due;
    let last = FIRST + one_of * (wave.due - wave.chargeable) - 1;
    let start = text(start);
    in_one_commit(
        shop,
        vec![
            format!("UPDATE subscription_payments SET started_at = '{start}', ended_at = '{start}'"),
            due(end + TimeDelta::seconds(1), format!("id BETWEEN {FIRST} AND {last} AND id % {one_of} = 0")),
            due(end, format!("id < {FIRST}")),
        ],
    )
}

fn count(data: &Data, of: &str) -> Result<u32, Failure> {
    Ok(u32::try_from(data.numbers(format!("SELECT count(*) AS number FROM {of}"))?.into_iter().sum::<i64>())?)
}

/// Runs the worker's first query for all due subscriptions, after the earlier leases have expired.
fn queue(data: &Data) -> Result<(usize, Duration), Failure> {
    let now = SystemClock.now() + TimeDelta::minutes(10);
    let began = Instant::now();
    let mut found = 0;
    loop {
        let leased = data.runtime.block_on(data.database.lease_due(now, now + LEASE, AT_ONCE))?.len();
        if leased == 0 {
            return Ok((found, began.elapsed()));
        }
        found += leased;
    }
}
