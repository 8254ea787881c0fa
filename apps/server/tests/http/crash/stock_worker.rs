//! Staff and small spreadsheets set stock while customers order and the process is killed.

use reqwest::{Method, StatusCode};
use serde_json::json;

use super::market::{CountedOutcome, Market, outcome_of};
use super::rng::TestRng;

/// First quantity that is set, increased by one every time.
pub const FIRST_PIECES: i64 = 60_000;

/// Requests recorded by the storekeeper.
#[derive(Default)]
pub struct Ledger {
    /// Stock level and its quantity, from responses; all quantities are different.
    pub answered: Vec<(i64, i64)>,
    /// Number of requests without a response.
    pub lost: usize,
    /// Unexpected responses.
    pub unexpected: Vec<String>,
}

/// Sets the stock of items that are not scarce, by request or by spreadsheet, until the market closes.
pub async fn keep_stock(market: &Market, mut rng: TestRng) -> Ledger {
    let mut ledger = Ledger::default();
    let plenty = market.items.len() - 1;
    let mut pieces = FIRST_PIECES;
    while market.is_trading() {
        market.wait_until_open().await;
        let first = rng.below(plenty);
        let by_sheet = rng.one_in(2);
        let items = if by_sheet { vec![first, (first + 1) % plenty] } else { vec![first] };
        let wanted: Vec<(&super::market::Item, i64)> = items
            .into_iter()
            .map(|item| {
                pieces += 1;
                (&market.items[item], pieces)
            })
            .collect();
        let request = if by_sheet {
            let rows: Vec<String> =
                wanted.iter().map(|(item, pieces)| format!("\n{};Main;{pieces}", item.article)).collect();
            market
                .owner_client
                .sheet("/api/inventories/upload", &format!("article;warehouse;quantity{}", rows.concat()))
        } else {
            let (item, pieces) = wanted[0];
            let path = format!("/api/inventories/{}", item.inventory);
            market.owner_client.request(Method::PUT, &path).json(&json!({ "quantity": pieces }))
        };
        match outcome_of(request).await {
            CountedOutcome::Answer(answer) if answer.status == StatusCode::OK => {
                ledger.answered.extend(wanted.iter().map(|(item, pieces)| (item.inventory, *pieces)));
            }
            CountedOutcome::NotSent => {}
            CountedOutcome::Nothing => ledger.lost += wanted.len(),
            CountedOutcome::Answer(answer) if answer.status == StatusCode::SERVICE_UNAVAILABLE => {
                ledger.lost += wanted.len();
            }
            CountedOutcome::Answer(answer) => ledger.unexpected.push(format!("{answer:?}")),
        }
        rng.rest(10, 60).await;
    }
    ledger
}
