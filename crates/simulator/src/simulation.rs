//! A run: merchants, days, steps, and the checks after each.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_kernel::testing::TestRng;
use kontor_kernel::{Clock as _, Contact, Phone};
use kontor_orders::OrderCommand;
use kontor_payments::model::{GatewayStatus, ProviderId};

use crate::acts::workers::{DUTIES, Duty};
use crate::acts::{Act, ActResult, Effect, Member, Scene, agents, customers, foreign_records, members, staff, workers};
use crate::audit;
use crate::invariants::{self, Dialect, When};
use crate::merchant::Merchant;
use crate::scheduler::Met;
use crate::services::Services;
use crate::trace::Trace;

/// Parameters of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of days of trade.
    pub days: u32,
    /// Number of merchants.
    pub merchants: usize,
    /// Database of the run. On PostgreSQL use cases also meet within transactions.
    pub database: Kind,
}

/// A broken rule.
#[derive(Debug)]
pub struct Broken {
    /// Name of the rule.
    pub rule: &'static str,
    /// Description of the violation.
    pub how: String,
    plan: Plan,
    trace: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { seed, days, merchants, database } = self.plan;
        writeln!(f, "broken: {}\n  {}\nthe last steps:\n{}", self.rule, self.how, self.trace)?;
        let place = if database == Kind::Postgres { " postgres" } else { "" };
        write!(f, "again: SIM_MERCHANTS={merchants} just simulate {seed} {days}{place}")
    }
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Hash of all steps.
    pub hash: u64,
    /// Number of steps.
    pub steps: u64,
    /// Counts by use case: how often it was done, and how often it was refused or had nothing to act on.
    pub done: BTreeMap<&'static str, (u64, u64)>,
    /// Number of use cases whose process died.
    pub died: u64,
    /// Meetings within transactions.
    pub met: Met,
    /// Time at which the last day ended.
    pub ended: DateTime<Utc>,
}

/// A code that was sent.
struct LiveCode {
    code: String,
    at: DateTime<Utc>,
    used: bool,
}

/// A request that may be repeated.
struct Request {
    merchant: usize,
    member: Member,
    key: u64,
    wish: OrderCommand,
    at: DateTime<Utc>,
}

/// A run in progress.
pub struct Simulation {
    plan: Plan,
    db: TestDatabase,
    services: Arc<Services>,
    rng: TestRng,
    /// Dice of agents and of those who decide about their calls.
    agent_rng: TestRng,
    /// Number and time of the latest calls of agents, by merchant.
    calls: Vec<(usize, u64, DateTime<Utc>)>,
    call_count: u64,
    merchants: Vec<Arc<Merchant>>,
    members: Vec<Vec<Member>>,
    codes: BTreeMap<(usize, String), LiveCode>,
    requests: Vec<Request>,
    late: Vec<(ProviderId, GatewayStatus)>,
    trace: Trace,
    numbers: u64,
    died: u64,
    met: Met,
    calm: bool,
}

/// Range of the statement numbers from which the statement to hold back is chosen.
const STATEMENTS: u64 = 60;

/// Shortly before changes of daylight saving time, a leap day and the end of a year.
const STARTS: [&str; 5] = [
    "2027-03-12T22:00:00Z",
    "2027-03-26T20:00:00Z",
    "2027-10-29T21:00:00Z",
    "2027-12-29T21:00:00Z",
    "2028-02-26T21:00:00Z",
];

impl Simulation {
    /// Creates the database and the merchants.
    pub async fn open(plan: Plan) -> Self {
        let mut rng = TestRng::new(plan.seed);
        let db = TestDatabase::fresh(plan.database);
        let start = rng.one_of(&STARTS).unwrap().parse().unwrap();
        let services = Arc::new(Services::over(&db.database, start, &mut rng));
        let mut merchants = Vec::new();
        for number in 0..plan.merchants {
            merchants.push(Arc::new(Merchant::opens(number, &db, &services).await));
        }
        let members = merchants.iter().map(|_| Vec::new()).collect();
        Self {
            plan,
            db,
            services,
            rng,
            // Another generator, so that the run of trade is the same with and without agents.
            agent_rng: TestRng::new(plan.seed.rotate_left(32)),
            calls: Vec::new(),
            call_count: 0,
            merchants,
            members,
            codes: BTreeMap::new(),
            requests: Vec::new(),
            late: Vec::new(),
            trace: Trace::default(),
            numbers: 0,
            died: 0,
            met: Met::default(),
            calm: false,
        }
    }

    /// Runs all days, and then a time without faults.
    pub async fn run(plan: Plan) -> Result<Outcome, Broken> {
        let mut simulation = Self::open(plan).await;
        simulation.trade().await?;
        simulation.comes_to_rest().await?;
        Ok(simulation.outcome())
    }

    /// Runs all days.
    pub async fn trade(&mut self) -> Result<(), Broken> {
        for _ in 0..self.plan.days {
            self.a_day().await?;
        }
        Ok(())
    }

    /// Returns the result so far.
    pub fn outcome(&self) -> Outcome {
        Outcome {
            hash: self.trace.hash(),
            steps: self.trace.steps(),
            done: self.trace.done().clone(),
            died: self.died,
            met: self.met,
            ended: self.services.clock.now(),
        }
    }

    fn broken(&self, rule: &'static str, how: impl Into<String>) -> Broken {
        Broken { rule, how: how.into(), plan: self.plan, trace: self.trace.to_string() }
    }

    fn scene(&mut self, merchant: usize) -> Scene {
        Scene { services: self.services.clone(), merchant: self.merchants[merchant].clone(), rng: self.rng.split() }
    }

    fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn member(&mut self, merchant: usize) -> Option<Member> {
        self.rng.one_of(&self.members[merchant])
    }

    /// Runs one day in eight parts: each merchant's customers and staff act, then the workers do what is due.
    async fn a_day(&mut self) -> Result<(), Broken> {
        for _ in 0..8 {
            for merchant in 0..self.merchants.len() {
                for _ in 0..4 {
                    self.something_happens(merchant).await?;
                }
                self.agents_work(merchant).await?;
            }
            self.payers_decide().await?;
            let most = 1 + u32::try_from(self.rng.below(30)).unwrap();
            for duty in DUTIES {
                self.works(duty, most).await?;
            }
            self.services.clock.advance(TimeDelta::minutes(150 + i64::try_from(self.rng.below(58)).unwrap()));
        }
        if self.rng.percent(30) {
            self.services.outside.complete_refunds();
        }
        self.look(When::EveryDay, None).await
    }

    /// Runs one use case, or several concurrently.
    async fn something_happens(&mut self, merchant: usize) -> Result<(), Broken> {
        if self.rng.percent(12) {
            return self.log_in_step(merchant).await;
        }
        if self.rng.percent(2) {
            return self.a_method_is_deleted(merchant).await;
        }
        let crowd = if self.rng.percent(35) { 2 + self.rng.below(4) } else { 1 };
        let mut acts = Vec::new();
        for _ in 0..crowd {
            acts.extend(self.next_acts(merchant));
        }
        self.step(merchant, acts).await
    }

    /// Chooses the next acts. A repeated request or a repeated refund adds two.
    fn next_acts(&mut self, merchant: usize) -> Vec<Act> {
        let Some(member) = self.member(merchant) else {
            return vec![staff::corrects_stock(self.scene(merchant))];
        };
        let mut scene = self.scene(merchant);
        match self.rng.below(100) {
            0..26 => self.an_order(merchant, member),
            26..29 => {
                let phone = Phone::parse(&format!("7900{:07}", self.rng.below(60))).unwrap();
                vec![customers::orders_by_contact(scene, phone)]
            }
            29..34 => self.an_order_again(merchant, scene),
            34..52 => vec![staff::moves(scene)],
            52..62 => {
                // Two employees request the same refund.
                let twice = self.rng.percent(30);
                let other = twice.then(|| staff::gives_back(scene.clone()));
                std::iter::once(staff::gives_back(scene)).chain(other).collect()
            }
            62..70 => vec![staff::changes_lines(scene)],
            70..75 => vec![staff::corrects_stock(scene)],
            75..77 => vec![staff::imports_stock(scene)],
            77..83 => {
                let name = self.next_number();
                vec![staff::scans(scene, name)]
            }
            83..87 => vec![members::subscribes(scene, member)],
            87..91 => vec![members::changes_mind(scene, member)],
            91..93 => vec![members::change_subscription_as_staff(scene, member)],
            93 => vec![customers::leaves(scene, member)],
            94 => vec![customers::signs_out(scene.clone(), member, scene.rng.percent(40))],
            _ => {
                let other = (merchant + 1) % self.merchants.len();
                let (theirs, victim) = (self.merchants[other].clone(), self.member(other));
                vec![foreign_records::reach(scene, theirs, victim, Some(member))]
            }
        }
    }

    fn an_order(&mut self, merchant: usize, member: Member) -> Vec<Act> {
        let (mut scene, key) = (self.scene(merchant), self.next_number());
        let wish = customers::wish(&mut scene, key);
        let at = self.services.clock.now();
        self.requests.push(Request { merchant, member: member.clone(), key, wish: wish.clone(), at });
        let twice = self.rng.percent(25);
        let other = twice.then(|| customers::orders(scene.clone(), member.clone(), key, wish.clone()));
        std::iter::once(customers::orders(scene, member, key, wish)).chain(other).collect()
    }

    /// Repeats a request that was sent within a day.
    fn an_order_again(&mut self, merchant: usize, scene: Scene) -> Vec<Act> {
        let yesterday = self.services.clock.now() - TimeDelta::days(1);
        self.requests.retain(|request| request.at > yesterday);
        let own = self.requests.iter().filter(|request| request.merchant == merchant);
        let own: Vec<_> = own.map(|one| (one.member.clone(), one.key, one.wish.clone())).collect();
        let chosen = self.rng.one_of(&own);
        chosen.map(|(member, key, wish)| customers::orders(scene, member, key, wish)).into_iter().collect()
    }

    /// Lets agents send calls, employees decide about them, and workers continue them, all concurrently.
    async fn agents_work(&mut self, merchant: usize) -> Result<(), Broken> {
        let (began, mut rng) = (self.services.clock.now(), self.agent_rng.split());
        // Shorter than the time for which a call is answered with its stored result.
        self.calls.retain(|(_, _, at)| began - *at < TimeDelta::hours(4));
        let mut acts = Vec::new();
        for _ in 0..2 + rng.below(4) {
            let scene = self.agent_scene(merchant, &mut rng);
            acts.push(match rng.below(10) {
                0..5 => agents::asks(scene, self.a_call(merchant, &mut rng)),
                5..9 => agents::decides(scene),
                _ => agents::continues(scene, 5),
            });
        }
        let is_revoked = rng.percent(3);
        if is_revoked {
            acts.push(agents::revokes(self.agent_scene(merchant, &mut rng)));
        }
        self.meet(merchant, acts, &mut rng).await?;
        if is_revoked {
            // A call with another token is another call, so those of the revoked one are not repeated.
            self.calls.retain(|(caller, ..)| *caller != merchant);
            let renewed = self.merchants[merchant].with_agent_token(&self.db).await;
            self.merchants[merchant] = Arc::new(renewed);
        }
        self.look(When::EveryStep, Some(began - TimeDelta::seconds(10))).await
    }

    fn agent_scene(&self, merchant: usize, rng: &mut TestRng) -> Scene {
        Scene { services: self.services.clone(), merchant: self.merchants[merchant].clone(), rng: rng.split() }
    }

    /// Returns the number of a new call, or of one that is repeated.
    fn a_call(&mut self, merchant: usize, rng: &mut TestRng) -> u64 {
        let own: Vec<u64> = self.calls.iter().filter(|call| call.0 == merchant).map(|call| call.1).collect();
        if let Some(number) = rng.one_of(&own).filter(|_| rng.percent(40)) {
            return number;
        }
        self.call_count += 1;
        self.calls.push((merchant, self.call_count, self.services.clock.now()));
        self.call_count
    }

    /// Requests a code and uses it: concurrently or after a wrong one, in time or too late.
    async fn log_in_step(&mut self, merchant: usize) -> Result<(), Broken> {
        let known = self.rng.percent(40);
        let known = if known { self.member(merchant) } else { None };
        let contact = known.map_or_else(
            || {
                let number = self.rng.below(60);
                let text = if self.rng.percent(80) {
                    format!("7900{number:07}")
                } else {
                    format!("customer{number}@mail.example")
                };
                Contact::parse(&text).unwrap()
            },
            |member| member.contact,
        );
        let scene = self.scene(merchant);
        self.step(merchant, vec![customers::asks_for_code(scene, contact.clone())]).await?;
        let place = (merchant, contact.as_str().to_owned());
        let Some(code) = self.codes.get(&place).map(|live| live.code.clone()) else { return Ok(()) };
        if self.rng.percent(10) {
            let scene = self.scene(merchant);
            self.step(merchant, vec![customers::asks_for_code(scene, contact.clone())]).await?;
        }
        if self.rng.percent(10) {
            self.services.clock.advance(TimeDelta::minutes(6));
        }
        let mut acts = Vec::new();
        for _ in 0..=self.rng.below(3) {
            let tried = if self.rng.percent(15) { "1234".to_owned() } else { code.clone() };
            acts.push(customers::signs_in(self.scene(merchant), contact.clone(), tried));
        }
        self.step(merchant, acts).await
    }

    async fn a_method_is_deleted(&mut self, merchant: usize) -> Result<(), Broken> {
        let now = self.services.clock.now().format("%Y-%m-%d %H:%M:%S");
        let departing =
            format!("SELECT 'departing' AS name, count(*) AS number FROM charges WHERE departing_until > '{now}'");
        let waits = self.db.named_numbers(departing).await.iter().any(|(_, number)| *number > 0);
        let member = self.member(merchant).filter(|_| !waits);
        let Some(member) = member else { return Ok(()) };
        let scene = self.scene(merchant);
        self.step(merchant, vec![members::deletes_method(scene, member)]).await
    }

    /// Ends payments by payers and banks. The acquirer reports the status at once, twice, a day later, or never.
    async fn payers_decide(&mut self) -> Result<(), Broken> {
        for (payment, status) in std::mem::take(&mut self.late) {
            let scene = self.scene(0);
            self.step(0, vec![customers::pays(scene, payment, status, 1)]).await?;
        }
        for payment in self.services.outside.waiting() {
            if !self.calm && self.rng.percent(45) {
                continue;
            }
            let status = if self.rng.percent(75) { GatewayStatus::Succeeded } else { GatewayStatus::Canceled };
            let reported = self.rng.below(4);
            let merchant = usize::try_from(self.rng.below(u64::try_from(self.merchants.len()).unwrap())).unwrap();
            if reported == 3 {
                self.late.push((payment.clone(), status));
            }
            let scene = self.scene(merchant);
            let mut acts = vec![customers::pays(scene, payment, status, reported % 3)];
            if !self.calm && self.rng.percent(40) {
                acts.push(staff::moves(self.scene(merchant)));
                acts.push(workers::works(self.scene(merchant), Duty::Charges, 3));
            }
            self.step(merchant, acts).await?;
        }
        Ok(())
    }

    /// Runs a duty; sometimes with two workers, one of which may die.
    async fn works(&mut self, duty: Duty, most: u32) -> Result<(), Broken> {
        let two = !self.calm && !matches!(duty, Duty::Events) && self.rng.percent(30);
        let mut acts = vec![workers::works(self.scene(0), duty, most)];
        if two {
            acts.push(workers::works(self.scene(0), duty, most));
        }
        self.step(0, acts).await
    }

    /// Runs use cases concurrently, applies their effects, checks the rules, and lets some time pass.
    async fn step(&mut self, merchant: usize, acts: Vec<Act>) -> Result<(), Broken> {
        let (began, mut rng) = (self.services.clock.now(), self.rng.clone());
        let met = self.meet(merchant, acts, &mut rng).await;
        self.rng = rng;
        met?;
        self.look(When::EveryStep, Some(began - TimeDelta::seconds(10))).await?;
        let pause = TimeDelta::milliseconds(500 + i64::try_from(self.rng.below(40_000)).unwrap());
        self.services.clock.advance(if self.rng.percent(3) { TimeDelta::seconds(-2) } else { pause });
        Ok(())
    }

    /// Runs use cases concurrently, and applies their effects.
    async fn meet(&mut self, merchant: usize, acts: Vec<Act>, rng: &mut TestRng) -> Result<(), Broken> {
        let mut runs = Vec::new();
        for act in acts {
            let dies = !self.calm && rng.percent(4);
            let lives = if dies { u32::try_from(rng.below(9)).ok() } else { None };
            runs.push((act, lives));
        }
        let (services, mut rng) = (self.services.clone(), rng.split());
        let within = self.plan.database == Kind::Postgres && runs.len() > 1 && !self.calm;
        let outcomes = if within {
            let statement = usize::try_from(rng.below(STATEMENTS)).unwrap();
            services.turns.interleave_within(runs, &mut rng, &services.database, statement, &mut self.met).await
        } else {
            services.turns.interleave(runs, &mut rng).await
        };
        for did in outcomes {
            let Some(did) = did else {
                self.died += 1;
                self.trace.add(self.services.clock.now(), merchant, "dies", "");
                continue;
            };
            self.learn(merchant, did)?;
        }
        Ok(())
    }

    fn learn(&mut self, merchant: usize, did: ActResult) -> Result<(), Broken> {
        let now = self.services.clock.now();
        self.trace.add(now, merchant, did.what, &did.outcome);
        match did.effect {
            Effect::Nothing => {}
            Effect::Broken(rule, how) => return Err(self.broken(rule, how)),
            Effect::CodeSent(contact, code) => {
                self.codes.insert((merchant, contact.as_str().to_owned()), LiveCode { code, at: now, used: false });
            }
            Effect::SignedIn(member, code) => {
                let place = (merchant, member.contact.as_str().to_owned());
                let live = self.codes.get_mut(&place);
                let lets_in = live.filter(|live| {
                    !live.used && live.code == code && now - live.at <= TimeDelta::minutes(5) + TimeDelta::seconds(2)
                });
                let Some(live) = lets_in else {
                    let how = format!("{} signed in once more, or too late, by {code}", member.contact);
                    return Err(self.broken(invariants::ONE_CODE, how));
                };
                live.used = true;
                self.comes(merchant, *member);
            }
            Effect::SignedOut(scope, everywhere) => self.members[merchant].retain(|member| {
                let same = member.scope.counterparty_id == scope.counterparty_id;
                !(same && (everywhere || member.scope.token_id == scope.token_id))
            }),
            Effect::Left(scope) => {
                self.members[merchant].retain(|member| member.scope.counterparty_id != scope.counterparty_id);
            }
            Effect::Subscribed(scope, ids) => {
                let own = self.members[merchant].iter_mut();
                for member in own.filter(|member| member.scope.counterparty_id == scope.counterparty_id) {
                    member.subscriptions.extend(ids.iter().copied());
                    member.subscriptions.sort_unstable();
                    member.subscriptions.dedup();
                }
            }
        }
        Ok(())
    }

    /// Records a login; earlier subscriptions of the customer are kept.
    fn comes(&mut self, merchant: usize, mut member: Member) {
        let who = member.scope.counterparty_id;
        let known = self.members[merchant].iter().find(|known| known.scope.counterparty_id == who);
        member.subscriptions = known.map(|known| known.subscriptions.clone()).unwrap_or_default();
        self.members[merchant].push(member);
    }

    /// Checks every rule of this time.
    pub async fn look(&self, when: When, since: Option<DateTime<Utc>>) -> Result<(), Broken> {
        let dialect = match self.plan.database {
            Kind::Sqlite => Dialect::Sqlite,
            Kind::Postgres => Dialect::Postgres,
        };
        let counted = self.db.named_numbers(invariants::query(when, since, dialect)).await;
        let rows: Vec<(String, i64)> = counted.into_iter().filter(|(_, number)| *number > 0).collect();
        if let Some((name, _)) = rows.first() {
            let rule = invariants::INVARIANTS.iter().find(|rule| rule.name == name).unwrap();
            return Err(self.broken(rule.name, format!("rows that break a rule: {rows:?}")));
        }
        let money = audit::compare(&self.db, &self.services.outside, since).await;
        money.map_err(|(rule, how)| self.broken(rule, how))?;
        if when == When::EveryStep {
            return Ok(());
        }
        let mut differences = Vec::new();
        self.services.database.examine(None, |difference| differences.push(difference)).await.unwrap();
        if let Some(first) = differences.first() {
            return Err(
                self.broken(invariants::DERIVED_DATA_MATCHES, format!("{} differences, {first:?}", differences.len()))
            );
        }
        if when == When::AtRest {
            let rest = audit::settle(&self.db, &self.services.outside).await;
            rest.map_err(|(rule, how)| self.broken(rule, how))?;
        }
        Ok(())
    }

    /// Stops faults and new requests and lets time pass, so that everything open ends.
    pub async fn comes_to_rest(&mut self) -> Result<(), Broken> {
        self.calm = true;
        self.services.outside.stop_faults();
        for _ in 0..28 {
            self.services.clock.advance(TimeDelta::hours(12));
            self.services.outside.complete_refunds();
            self.payers_decide().await?;
            for duty in DUTIES {
                self.works(duty, 10_000).await?;
            }
            let mut rng = self.agent_rng.split();
            let continued = agents::continues(self.agent_scene(0, &mut rng), 10_000);
            self.meet(0, vec![continued], &mut rng).await?;
        }
        self.look(When::AtRest, None).await
    }

    /// Writes past all ports, to break a rule on purpose.
    pub async fn falsify(&self, statements: &str) {
        self.db.run(statements.to_owned()).await;
    }
}
