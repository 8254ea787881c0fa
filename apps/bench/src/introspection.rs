//! Token introspection by backends, beside a bare server that answers with as many bytes.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::Failure;
use crate::load::{Request, RunLengths, Target};
use crate::report::{Goal, Report};
use crate::shop::{AT, OnServer, Shop, in_one_commit, sha256};
use crate::storefront::beside;

/// Number of clients, each with a token to introspect: so many that none reaches its limit.
const CLIENTS: u32 = 4_000;

/// Measures introspection of active tokens on SQLite and, when a server is given, on PostgreSQL.
pub fn measure(lengths: &RunLengths, postgres: Option<&str>, report: &mut Report) -> Result<(), Failure> {
    on(None, "introspection, SQLite", 0.4, lengths, report)?;
    match postgres {
        None => eprintln!("SKIPPED introspection on PostgreSQL: set --postgres or TEST_DATABASE_URL"),
        Some(server) => {
            let database = OnServer::create(server, "introspection")?;
            on(Some(database.url.clone()), "introspection, PostgreSQL", 0.2, lengths, report)?;
        }
    }
    Ok(())
}

fn on(url: Option<String>, name: &str, goal: f64, lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let shop = Shop::empty(url)?;
    let bearers = shop.customers(usize::try_from(CLIENTS)?)?;
    let requests = (1..=CLIENTS).zip(&bearers).map(|(number, bearer)| question(number, bearer)).collect();
    let statements = (1..=CLIENTS).map(|number| {
        format!(
            "INSERT INTO introspection_clients (client_id, project_id, application_id, audience, fingerprint, is_active, \
             created_at) VALUES ('{}', {}, {}, 'backend-{number}', '{}', true, '{AT}')",
            client_id(number),
            shop.project.project_id,
            shop.project.application_id,
            sha256(&secret(number)),
        )
    });
    in_one_commit(&shop, statements.collect())?;
    let target = Target { address: shop.address, expected: 200, requests, once: false };
    report.add(beside(&shop, lengths, name, Goal::AtLeast(goal), target)?);
    shop.close();
    Ok(())
}

fn client_id(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn secret(number: u32) -> String {
    format!("secret-of-the-backend-with-the-usual-length-{number:04}")
}

fn question(number: u32, bearer: &str) -> Request {
    let credentials = BASE64_STANDARD.encode(format!("{}:{}", client_id(number), secret(number)));
    let token = bearer.trim_start_matches("Bearer ").replace('|', "%7C");
    let body = format!("token={token}&audience=backend-{number}");
    let headers = [("Authorization", format!("Basic {credentials}"))];
    let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
    Request::form("/api/counterparty/auth/introspect", &headers, &body)
}
