//! Growth with the catalog: the same requests at two sizes, and among two thousand projects.

mod book;
mod market;
pub mod renewals;
pub mod site;
pub mod staff_lists;
pub mod wave;

use std::time::{Duration, Instant};

use kontor::adapters::SystemClock;
use kontor_kernel::Clock;

use self::market::{Item, Market, Place};
use crate::Failure;
use crate::load::{self, Pair, Request, RunLengths, Sample, Target};
use crate::report::{Figure, Goal, Report};
use crate::shop::{Data, OnServer, Shop, in_one_commit};

/// Sizes of the measured data.
pub struct Sizes {
    small: usize,
    large: usize,
    outsiders: usize,
    items_of_outsider: usize,
    rounds: usize,
    round: Duration,
}

impl Sizes {
    /// Values for real figures.
    pub const FULL: Self = Self {
        small: 10_000,
        large: 1_000_000,
        outsiders: 1_999,
        items_of_outsider: 250,
        rounds: 5,
        round: Duration::from_millis(1_500),
    };
    /// Values for a smoke run.
    pub const QUICK: Self = Self {
        small: 1_000,
        large: 30_000,
        outsiders: 40,
        items_of_outsider: 50,
        rounds: 1,
        round: Duration::from_millis(200),
    };
}

/// Maximum growth of the median time from the small catalog to the large one.
const GROWTH: f64 = 1.5;
/// The same for a search, and for page 1,000 compared with page 1.
const MORE: f64 = 3.0;

/// Maximum 95th percentile of a search in the large catalog, in milliseconds.
const SEARCH: f64 = 30.0;
/// Maximum median time of a list with facets, as a multiple of the list without.
const FACETS: f64 = 2.0;

const PER_PAGE: usize = 20;
/// Number of the deep page, with the default page size.
const DEEP: usize = 1_000;
/// Default page size.
const PAGE: usize = 10;
/// Number of different requests of one kind.
const KINDS: usize = 500;

/// Rows of one statement, and statements of one commit.
const ROWS: usize = 500;
const STATEMENTS: usize = 40;

/// Rows after which a server has statistics by itself, a minute later.
const MANY: usize = 50_000;

/// Stores the statements and the rows of this many places, in several commits.
fn store_in_batches<const N: usize>(
    data: &Data,
    mut statements: Vec<String>,
    size: usize,
    rows: impl Fn(&[usize]) -> Result<[String; N], Failure>,
) -> Result<(), Failure> {
    let places: Vec<usize> = (0..size).collect();
    for chunk in places.chunks(ROWS) {
        statements.extend(rows(chunk)?);
        if statements.len() >= STATEMENTS {
            in_one_commit(data, std::mem::take(&mut statements))?;
            if size >= MANY && chunk.last() < Some(&MANY) {
                data.analyze()?;
            }
        }
    }
    in_one_commit(data, statements)
}

/// A service on a separate database, and the data that its project was filled with.
struct Filled<D> {
    name: &'static str,
    shop: Shop,
    data: D,
    /// Dropped after the service.
    _database: Option<OnServer>,
}

impl<D> Filled<D> {
    fn open(
        name: &'static str,
        server: Option<&str>,
        fill: impl FnOnce(&Shop) -> Result<D, Failure>,
    ) -> Result<Self, Failure> {
        let began = Instant::now();
        let database = server.map(|server| OnServer::create(server, name)).transpose()?;
        let shop = Shop::empty(database.as_ref().map(|database| database.url.clone()))?;
        let data = fill(&shop)?;
        if let Some(database) = &database {
            database.vacuum()?;
        }
        eprintln!("{name}: filled in {:.0} s", began.elapsed().as_secs_f64());
        Ok(Self { name, shop, data, _database: database })
    }
}

/// Creates a catalog of this size, and other projects with their items. Derives ledger, offers and search.
fn fill(shop: &Shop, size: usize, outsiders: usize, of_outsider: usize) -> Result<Market, Failure> {
    let mut place = Place::default();
    let market = place.fill(shop, &shop.project, size)?;
    for _ in 0..outsiders {
        place.outsider(shop, of_outsider)?;
    }
    shop.runtime.block_on(shop.database.correct_ledger(None, SystemClock.now()))?;
    shop.runtime.block_on(shop.database.rebuild_offers())?;
    Ok(market)
}

type Setup = Filled<Market>;

impl Setup {
    fn get(&self, path: &str) -> Request {
        Request::new(
            "GET",
            &format!("/api/counterparty/{path}"),
            &[("Token", self.shop.project.app_token.as_str())],
            "",
        )
    }

    fn target(&self, requests: Vec<Request>) -> Target {
        Target { address: self.shop.address, expected: 200, requests: requests.into(), once: false }
    }

    /// Creates one request for each category.
    fn per_category(&self, path: impl Fn(i64) -> String) -> Target {
        self.target(self.data.categories.iter().map(|category| self.get(&path(*category))).collect())
    }

    /// Returns items spread over the whole catalog.
    fn items(&self) -> impl Iterator<Item = Item> + '_ {
        let step = (self.data.size / KINDS).max(1);
        (0..self.data.size).step_by(step).map(|place| Item::at(self.data.seed, place))
    }

    fn cards(&self) -> Result<Target, Failure> {
        let card = |item: Item| Ok(self.get(&format!("products/{}", self.data.id(item.place)?)));
        Ok(self.target(self.items().map(card).collect::<Result<_, Failure>>()?))
    }

    fn searches(&self, query: impl Fn(&Item) -> String) -> Target {
        self.searches_with(query, "")
    }

    /// Creates searches with more parameters.
    fn searches_with(&self, query: impl Fn(&Item) -> String, more: &str) -> Target {
        let ask = |item: Item| {
            let query = query(&item);
            self.get(&format!("products?per_page={PER_PAGE}&query={}{more}", encoded(&query)))
        };
        self.target(self.items().map(ask).collect())
    }
}

/// Encodes a text for a query string.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Returns a search text for the item.
fn asked(item: &Item) -> String {
    match item.place / 7 % 5 {
        0 => item.article().to_lowercase(),
        1 => item.article().replace('-', " "),
        2 => item.model().to_string(),
        3 => model_part(item),
        _ => several_words(item),
    }
}

fn model_part(item: &Item) -> String {
    format!("{} {}", item.model() / 10, item.thing().to_uppercase())
}

fn several_words(item: &Item) -> String {
    let [series, material, colour] = item.words();
    format!("{colour} {} {material} {}", part_of(series), item.thing().to_lowercase())
}

/// Returns some letters from the middle of a word.
fn part_of(word: &str) -> String {
    word.chars().skip(1).take(4).collect()
}

fn list_of(category: i64) -> String {
    format!("products?category_id[]={category}&per_page={PER_PAGE}")
}

/// A list to which more parameters can be added.
type List = (&'static str, fn(&Setup, &str) -> Target);

type Kind = (&'static str, Goal, fn(&Setup) -> Result<Target, Failure>);

/// Returns the series of the item with two letters swapped, and its model.
fn misspelt(item: &Item) -> String {
    let [series, ..] = item.words();
    let mut letters: Vec<char> = series.chars().collect();
    letters.swap(2, 3);
    format!("{} {}", letters.into_iter().collect::<String>(), item.model())
}

/// Returns the kind of the item with a letter left out, and its colour.
fn misspelt_alone(item: &Item) -> String {
    let [.., colour] = item.words();
    let letters = item.thing().chars().enumerate();
    format!("{} {colour}", letters.filter(|(place, _)| *place != 3).map(|(_, letter)| letter).collect::<String>())
}

fn kinds() -> [Kind; 14] {
    let (flat, search) = (Goal::AtMost(GROWTH), Goal::AtMost(MORE));
    [
        ("list of a category", flat, |at| Ok(at.per_category(list_of))),
        ("list of everything", flat, |at| Ok(at.target(vec![at.get("products?per_page=20")]))),
        ("list by price", flat, |at| Ok(at.per_category(|id| format!("{}&order_by=price_asc", list_of(id))))),
        ("card", flat, Setup::cards),
        ("prices of everything", flat, |at| Ok(at.target(vec![at.get("prices")]))),
        ("prices of a category", flat, |at| Ok(at.per_category(|id| format!("prices?category_id[]={id}")))),
        ("categories", flat, |at| Ok(at.target(vec![at.get("categories")]))),
        ("search, as people ask", search, |at| Ok(at.searches(asked))),
        ("search, four words", Goal::None, |at| Ok(at.searches(several_words))),
        ("search, part of a model", Goal::None, |at| Ok(at.searches(model_part))),
        ("search, what a twentieth is called", Goal::None, |at| Ok(at.searches(|item| item.thing().to_owned()))),
        ("search, a misspelt word and a model", search, |at| Ok(at.searches(misspelt))),
        ("search, misspelt, found for thousands", Goal::None, |at| Ok(at.searches(misspelt_alone))),
        ("facets of a category", Goal::None, |at| Ok(at.per_category(|id| format!("{}&facets=1", list_of(id))))),
    ]
}

/// Measures everything at both sizes, and the small size among other projects.
pub fn measure(lengths: &RunLengths, server: Option<&str>, report: &mut Report) -> Result<(), Failure> {
    let sizes = if lengths.is_quick() { Sizes::QUICK } else { Sizes::FULL };
    let small = Setup::open("small", server, |shop| fill(shop, sizes.small, 0, 0))?;
    let crowd = Setup::open("crowd", server, |shop| fill(shop, sizes.small, sizes.outsiders, sizes.items_of_outsider))?;
    let large = Setup::open("large", server, |shop| fill(shop, sizes.large, 0, 0))?;
    for (name, goal, target) in kinds() {
        let figure = format!("{name}: {} items by {}", sizes.large, sizes.small);
        report.add(compare(&sizes, figure, goal, &target(&large)?, &target(&small)?)?);
    }
    for (name, goal, target) in kinds() {
        let figure = format!("{name}: {} other projects by none", sizes.outsiders);
        report.add(compare(&sizes, figure, goal, &target(&crowd)?, &target(&small)?)?);
    }
    for (name, _, target) in kinds().iter().filter(|(name, ..)| name.starts_with("search")) {
        let sample = run(&sizes, &target(&large)?)?;
        let time = sample.percentile(95).as_secs_f64() * 1_000.0;
        let figure = format!("{name}: p95 at {} items", sizes.large);
        report.add(Figure::plain(figure, time, "ms", Goal::AtMost(SEARCH)).alone(&sample));
    }
    let lists: [List; 2] = [
        ("a category", |at, more| at.per_category(|id| format!("{}{more}", list_of(id)))),
        ("a search", |at, more| at.searches_with(misspelt, more)),
    ];
    for (name, list) in lists {
        let figure = format!("{name} with facets by without, {} items", sizes.large);
        report.add(compare(&sizes, figure, Goal::AtMost(FACETS), &list(&large, "&facets=1"), &list(&large, ""))?);
    }
    for setup in [&small, &large] {
        let deep = DEEP.min(setup.data.size / PAGE);
        for order in ["", "&order_by=name_asc", "&order_by=price_desc"] {
            let at = |page: usize| setup.target(vec![setup.get(&format!("products?page={page}{order}"))]);
            let name = format!("page {deep} by page 1, {}{order}", setup.name);
            report.add(compare(&sizes, name, Goal::AtMost(MORE), &at(deep), &at(1))?);
        }
    }
    Ok(())
}

/// Returns the median time as a multiple of the peer's. Both sides use two connections, in alternation, so that the
/// time is that of the work and not of a queue.
fn compare(sizes: &Sizes, name: String, goal: Goal, ours: &Target, peer: &Target) -> Result<Figure, Failure> {
    let mut pairs = Vec::with_capacity(sizes.rounds);
    run(sizes, peer)?;
    run(sizes, ours)?;
    for _ in 0..sizes.rounds {
        let peer = run(sizes, peer)?;
        pairs.push(Pair { ours: run(sizes, ours)?, peer });
    }
    let growth = |pair: &Pair| middle(&pair.ours) / middle(&pair.peer);
    pairs.sort_by(|left, right| growth(left).total_cmp(&growth(right)));
    let place = pairs.len() / 2;
    let pair = pairs.into_iter().nth(place).ok_or("there must be a round")?;
    Ok(Figure::times(name, growth(&pair), goal).beside(&pair))
}

fn run(sizes: &Sizes, target: &Target) -> Result<Sample, Failure> {
    load::run(target, 2, 1, sizes.round)
}

fn middle(sample: &Sample) -> f64 {
    sample.percentile(50).as_secs_f64()
}
