//! Spreadsheets become jobs while customers order and the process is killed.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use reqwest::multipart::{Form, Part};
use reqwest::{Method, StatusCode};

use super::market::{CountedOutcome, Market, outcome_of};
use super::rng::TestRng;

/// Rows of a file: the first thousand is one commit, the rest another.
pub const ROWS: usize = 1_200;
/// Prefix of items that are never ordered; there are [`ROWS`] of them.
pub const BULK: &str = "Bulk-";
/// First quantity that a job sets, increased by one for every file, above those of the storekeeper.
pub const FIRST_PIECES: usize = 80_000;
/// Maximum number of queued or running jobs.
const AT_ONCE: u64 = 2;
/// Number of orders for every file.
const ORDERS: usize = 20;

/// Contents of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goods {
    /// New items.
    Cards,
    /// Quantities of items that are never ordered, and of one that is ordered often.
    Stock,
}

/// Error in the last row of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// No error: all of it is written.
    None,
    /// One row is wrong, so nothing is written.
    Refused,
    /// One row is wrong, and the others are written.
    LeftOut,
}

/// Outcome of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// The upload became this job.
    Job(i64),
    /// No response.
    Lost,
}

/// An uploaded file.
#[derive(Debug)]
pub struct SentFile {
    pub number: usize,
    pub goods: Goods,
    pub flaw: Flaw,
    pub sent: Sent,
}

impl SentFile {
    /// Returns the file name, which is unique.
    pub fn name(&self) -> String {
        format!("file-{}.csv", self.number)
    }

    /// Returns the prefix of new items.
    pub fn prefix(&self) -> String {
        format!("New-{}-", self.number)
    }

    /// Returns the quantity the file sets, which is unique.
    pub fn pieces(&self) -> usize {
        FIRST_PIECES + self.number
    }

    fn text(&self, market: &Market) -> String {
        let mut text = String::new();
        let bad = self.flaw != Flaw::None;
        match self.goods {
            Goods::Cards => {
                text.push_str("article;name;category;price");
                for row in 0..ROWS {
                    write!(text, "\n{}{row};Card {row};Quay / Shed {};", self.prefix(), row % 3).unwrap();
                }
                text.push_str(if bad { "\nNameless;;Quay;" } else { "" });
            }
            Goods::Stock => {
                text.push_str("article;warehouse;quantity");
                let ordered = &market.items[self.number % (market.items.len() - 1)];
                let bulk = (0..ROWS - 1).map(|row| format!("{BULK}{row}"));
                for article in bulk.chain([ordered.article.to_owned()]) {
                    write!(text, "\n{article};Main;{}", self.pieces()).unwrap();
                }
                text.push_str(if bad { "\nNobody knows it;Main;1" } else { "" });
            }
        }
        text
    }
}

/// Uploads recorded by the importer.
#[derive(Default)]
pub struct Imports {
    pub files: Vec<SentFile>,
    /// Unexpected responses.
    pub unexpected: Vec<String>,
}

/// Returns the item and stock sheets of items that are never ordered.
pub fn bulk() -> (String, String) {
    let (mut cards, mut stock) = (String::new(), String::new());
    for row in 0..ROWS - 1 {
        write!(cards, "\n{BULK}{row};Bulk {row};Quay;").unwrap();
        write!(stock, "\n{BULK}{row};Main;1;5,00").unwrap();
    }
    (cards, stock)
}

/// Returns the number of unfinished jobs; `None` while the process is dead.
async fn open_jobs(market: &Market) -> Option<u64> {
    let path = "/api/jobs?status[]=queued&status[]=running";
    match outcome_of(market.owner_client.request(Method::GET, path)).await {
        CountedOutcome::Answer(answer) if answer.status == StatusCode::OK => answer.json()["jobsCount"].as_u64(),
        _ => None,
    }
}

/// Uploads files in sequence, valid and faulty ones, while [`Market::imports`] is true.
pub async fn import_sheets(market: &Market, mut rng: TestRng) -> Imports {
    let mut imports = Imports::default();
    let mut number = 0;
    while market.imports() {
        market.wait_until_open().await;
        let early = market.is_trading() && number * ORDERS > market.begun.load(Ordering::SeqCst);
        if early || open_jobs(market).await.is_none_or(|open| open >= AT_ONCE) {
            rng.rest(30, 0).await;
            continue;
        }
        number += 1;
        let goods = rng.pick(&[Goods::Cards, Goods::Stock]);
        let flaw = rng.pick(&[Flaw::None, Flaw::None, Flaw::None, Flaw::Refused, Flaw::LeftOut]);
        // At least one valid file must be accepted, whatever the random choices.
        let is_taken = |file: &SentFile| file.flaw == Flaw::None && file.sent != Sent::Lost;
        let flaw = if imports.files.iter().any(is_taken) { flaw } else { Flaw::None };
        let mut file = SentFile { number, goods, flaw, sent: Sent::Lost };
        let path = match goods {
            Goods::Cards => "/api/nomenclatures/import",
            Goods::Stock => "/api/inventories/upload",
        };
        let sheet = Part::text(file.text(market)).file_name(file.name());
        let partial = if flaw == Flaw::LeftOut { "1" } else { "0" };
        let form = Form::new().text("async", "1").text("partial", partial).part("file", sheet);
        match outcome_of(market.owner_client.request(Method::POST, path).multipart(form)).await {
            CountedOutcome::Answer(answer) if answer.status == StatusCode::ACCEPTED => {
                file.sent = Sent::Job(answer.json()["job"]["id"].as_i64().unwrap());
            }
            CountedOutcome::NotSent => continue,
            CountedOutcome::Nothing => {}
            CountedOutcome::Answer(answer) if answer.status == StatusCode::SERVICE_UNAVAILABLE => {}
            CountedOutcome::Answer(answer) => imports.unexpected.push(format!("{answer:?}")),
        }
        imports.files.push(file);
    }
    imports
}
