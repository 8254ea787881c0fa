//! Spreadsheets become jobs while customers order and the process dies.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use reqwest::multipart::{Form, Part};
use reqwest::{Method, StatusCode};

use super::dice::Dice;
use super::market::{Market, Told, tell};

/// Rows of a file: the first thousand is one commit, the rest another.
pub const ROWS: usize = 1_200;
/// Goods that nobody orders begin with this; there are [`ROWS`] of them.
pub const BULK: &str = "Bulk-";
/// Pieces that a job sets begin here, one more for every file, above what the storekeeper sets.
pub const FIRST_PIECES: usize = 80_000;
/// Jobs that are queued or running: more are not sent.
const AT_ONCE: u64 = 2;
/// So many orders for every file.
const ORDERS: usize = 20;

/// What a file is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goods {
    /// New cards.
    Cards,
    /// Other pieces of goods that nobody orders, and of one that everybody does.
    Stock,
}

/// What is wrong with a file, in its last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing: all of it is written.
    None,
    /// One row, so nothing is written.
    Refused,
    /// One row, and the others are written.
    LeftOut,
}

/// What became of sending a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It is this job.
    Job(i64),
    /// Nobody told.
    Lost,
}

/// A file that was sent.
#[derive(Debug)]
pub struct SentFile {
    pub number: usize,
    pub goods: Goods,
    pub flaw: Flaw,
    pub sent: Sent,
}

impl SentFile {
    /// No two files are called the same.
    pub fn name(&self) -> String {
        format!("file-{}.csv", self.number)
    }

    /// New cards begin with this.
    pub fn prefix(&self) -> String {
        format!("New-{}-", self.number)
    }

    /// How many pieces it sets; no two files the same.
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

/// What the importer remembers.
#[derive(Default)]
pub struct Imports {
    pub files: Vec<SentFile>,
    /// Answers that nobody should get.
    pub strange: Vec<String>,
}

/// Cards and stock of goods that nobody orders.
pub fn bulk() -> (String, String) {
    let (mut cards, mut stock) = (String::new(), String::new());
    for row in 0..ROWS - 1 {
        write!(cards, "\n{BULK}{row};Bulk {row};Quay;").unwrap();
        write!(stock, "\n{BULK}{row};Main;1;5,00").unwrap();
    }
    (cards, stock)
}

/// How many jobs are not over; nobody knows while the process is dead.
async fn open_jobs(market: &Market) -> Option<u64> {
    let path = "/api/jobs?status[]=queued&status[]=running";
    match tell(market.desk.request(Method::GET, path)).await {
        Told::Answer(answer) if answer.status == StatusCode::OK => answer.json()["jobsCount"].as_u64(),
        _ => None,
    }
}

/// Sends one file after the other, sound and faulty ones, as long as [`Market::imports`].
pub async fn import_sheets(market: &Market, mut dice: Dice) -> Imports {
    let mut imports = Imports::default();
    let mut number = 0;
    while market.imports() {
        market.wait_until_open().await;
        let early = market.is_trading() && number * ORDERS > market.begun.load(Ordering::SeqCst);
        if early || open_jobs(market).await.is_none_or(|open| open >= AT_ONCE) {
            tokio::time::sleep(Duration::from_millis(30)).await;
            continue;
        }
        number += 1;
        let goods = dice.pick(&[Goods::Cards, Goods::Stock]);
        let flaw = dice.pick(&[Flaw::None, Flaw::None, Flaw::None, Flaw::Refused, Flaw::LeftOut]);
        // Chance must not spare the database every row.
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
        match tell(market.desk.request(Method::POST, path).multipart(form)).await {
            Told::Answer(answer) if answer.status == StatusCode::ACCEPTED => {
                file.sent = Sent::Job(answer.json()["job"]["id"].as_i64().unwrap());
            }
            Told::NotSent => continue,
            Told::Nothing => {}
            Told::Answer(answer) if answer.status == StatusCode::SERVICE_UNAVAILABLE => {}
            Told::Answer(answer) => imports.strange.push(format!("{answer:?}")),
        }
        imports.files.push(file);
    }
    imports
}
