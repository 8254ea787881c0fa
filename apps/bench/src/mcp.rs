//! A tool call over MCP beside the request that it makes: the same record by the same token, one call at a time.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::Failure;
use crate::load::{self, Request, RunLengths, Target, in_turns};
use crate::report::{Figure, Goal, Report};
use crate::shop::{AT, Shop, in_one_commit, sha256};
use crate::site::write_pages;

/// Number of content pages to read.
const PAGES: usize = 200;
/// Number of tokens: so many that none reaches its limit of messages.
const TOKENS: usize = 200;
/// Number of the first token.
const FIRST: usize = 2_000_000;
const VERSION: &str = "2026-07-28";

/// Measures the time that the protocol adds.
pub fn measure(lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let shop = Shop::empty(None)?;
    write_pages(&shop, &shop.owner()?, PAGES)?;
    let bearers = log_in(&shop)?;
    let query = format!("SELECT id AS number FROM pages WHERE project_id = {} ORDER BY id", shop.project.project_id);
    let pages = shop.numbers(query)?;
    let calls = || bearers.iter().zip(pages.iter().cycle());
    let target = |requests: Arc<[Request]>| Target { address: shop.address, expected: 200, requests, once: false };
    let ours = target(calls().map(|(bearer, page)| tool_call(bearer, *page)).collect());
    let peer = target(calls().map(|(bearer, page)| plain(bearer, *page)).collect());
    let run = |target: &Target, time| load::run(target, 1, 1, time);
    run(&peer, lengths.warm_up)?;
    run(&ours, lengths.warm_up)?;
    let pair = in_turns(lengths.rounds, || run(&ours, lengths.round), || run(&peer, lengths.round))?;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    let added = |percent| milliseconds(pair.ours.percentile(percent)) - milliseconds(pair.peer.percentile(percent));
    let figure = |percent: usize, goal| {
        let name = format!("a tool call over MCP, added to the plain endpoint, p{percent}");
        Figure::plain(name, added(percent), "ms", goal).beside(&pair)
    };
    report.add(figure(50, Goal::AtMost(1.0)));
    report.add(figure(99, Goal::None));
    shop.close();
    Ok(())
}

/// Logs the owner in this many times. Returns the values of the headers `Authorization`.
fn log_in(shop: &Shop) -> Result<Vec<String>, Failure> {
    let project = shop.project.project_id;
    let secret = |number: usize| format!("secret-of-token-{number}");
    let numbers = FIRST..FIRST + TOKENS;
    let statements = numbers.clone().map(|number| {
        format!(
            "INSERT INTO access_tokens (id, guard, subject_id, project_id, fingerprint, created_at, expires_at) \
             SELECT {number}, 'user', id, {project}, '{}', '{AT}', '9999-01-01 00:00:00' FROM users \
             WHERE project_id = {project} ORDER BY id LIMIT 1",
            sha256(&secret(number)),
        )
    });
    in_one_commit(shop, statements.collect())?;
    Ok(numbers.map(|number| format!("Bearer {number}|{}", secret(number))).collect())
}

fn plain(bearer: &str, page: i64) -> Request {
    Request::new("GET", &format!("/api/pages/{page}"), &[("Authorization", bearer)], "")
}

fn tool_call(bearer: &str, page: i64) -> Request {
    let headers = [
        ("Authorization", bearer),
        ("MCP-Protocol-Version", VERSION),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "get_page"),
    ];
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "get_page", "arguments": { "page_id": page }, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    Request::new("POST", "/mcp", &headers, &body.to_string())
}
