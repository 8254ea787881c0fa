//! Logins with a code, beside bare commits to the same file.

use std::time::Duration;

use kontor_kernel::SecretCipher as _;
use serde_json::json;

use crate::Failure;
use crate::load::{self, Request, RunLengths, Sample, Target, in_turns};
use crate::orders::{commits, open};
use crate::report::{Figure, Goal};
use crate::shop::{AT, Shop, in_one_commit};

/// Codes for one round: more than it uses up. Every code is valid for one login.
const CODES: u32 = 20_000;
/// Number of the first customer.
const FIRST: u32 = 1_000_000;
/// Number of codes stored by one statement.
const CHUNK: usize = 500;

/// Customers with a code they have not used yet.
pub struct Logins<'a> {
    shop: &'a Shop,
    next: u32,
    of_a_round: u32,
}

impl<'a> Logins<'a> {
    /// Prepares enough codes for all rounds and a warm-up.
    pub fn prepare(shop: &'a Shop, lengths: &RunLengths) -> Result<Self, Failure> {
        let of_a_round = if lengths.is_quick() { CODES / 10 } else { CODES };
        prepare(shop, of_a_round * (u32::try_from(lengths.rounds)? + 1))?;
        Ok(Self { shop, next: 0, of_a_round })
    }

    /// Runs one round with this many concurrent logins.
    pub fn run(&mut self, connections: usize, threads: usize, time: Duration) -> Result<Sample, Failure> {
        let numbers = self.next..self.next + self.of_a_round;
        self.next = numbers.end;
        let requests = numbers.map(|number| login(self.shop, number)).collect();
        let target = Target { address: self.shop.address, expected: 200, requests, once: true };
        load::run(&target, connections, threads, time)
    }
}

/// Measures logins with codes that were sent before. Each is one commit, which uses the code up and stores the token
/// and its session.
pub fn measure(lengths: &RunLengths) -> Result<Figure, Failure> {
    let shop = Shop::empty(None)?;
    let mut file = open(&shop)?;
    let mut customers = Logins::prepare(&shop, lengths)?;
    let mut logins = |time| customers.run(lengths.connections, lengths.threads, time);
    commits(&mut file, lengths.warm_up)?;
    logins(lengths.warm_up)?;
    let pair = in_turns(
        lengths.rounds,
        || logins(lengths.round),
        || -> Result<Sample, Failure> { commits(&mut file, lengths.round) },
    )?;
    shop.close();
    let name = format!("logins by code, {} at once", lengths.connections);
    Ok(Figure::ratio(name, pair.ratio(), Goal::AtLeast(0.15)).beside(&pair))
}

/// Returns the phone of the customer with this number.
pub fn phone(number: u32) -> String {
    format!("7900{number:07}")
}

/// Returns the code of the customer with this number.
pub fn code(number: u32) -> String {
    format!("{:04}", number % 10_000)
}

fn login(shop: &Shop, number: u32) -> Request {
    let body = json!({ "phone": phone(number), "password": code(number) });
    let headers = [("Token", shop.project.app_token.as_str())];
    Request::new("POST", "/api/counterparty/login", &headers, &body.to_string())
}

/// Stores customers with a code each, as `send_password` does.
pub fn prepare(shop: &Shop, count: u32) -> Result<(), Failure> {
    let project = shop.project.project_id;
    let cipher = shop.cipher();
    let numbers: Vec<u32> = (0..count).collect();
    let mut statements = Vec::new();
    for chunk in numbers.chunks(CHUNK) {
        let rows = |row: &dyn Fn(u32) -> String| chunk.iter().map(|number| row(*number)).collect::<Vec<_>>().join(", ");
        let customer = |number| format!("({}, {project}, false, '{}', '{AT}', '{AT}')", FIRST + number, phone(number));
        let contact = |number| format!("({project}, '{}', {})", phone(number), FIRST + number);
        let code = |number| {
            let context = format!("one-time-code:{project}:{}", phone(number));
            let fingerprint = cipher.keyed_fingerprint(&context, &code(number));
            format!("({project}, '{}', '{fingerprint}', 5, '9999-01-01 00:00:00', '{AT}')", phone(number))
        };
        statements.push(format!(
            "INSERT INTO counterparties (id, project_id, is_company, phone_1, created_at, updated_at) VALUES {}",
            rows(&customer)
        ));
        statements.push(format!(
            "INSERT INTO login_contacts (project_id, contact, counterparty_id) VALUES {}",
            rows(&contact)
        ));
        statements.push(format!(
            "INSERT INTO one_time_codes (project_id, contact, fingerprint, attempts_left, expires_at, created_at) VALUES {}",
            rows(&code)
        ));
    }
    in_one_commit(shop, statements)
}
