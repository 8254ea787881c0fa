//! Thousands of clients that send half of a request: their cost for a process, and for its other clients.

use std::time::{Duration, Instant};

use kontor_adapter_diesel::testing::{Kind, TestDatabase, moment};
use reqwest::Method;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::crash::asked;
use crate::customer_client::ApplicationClient;
use crate::process::{Process, ProcessEnvironment};
use crate::support::send;
use crate::trade::Market;

/// Half of the maximum body size.
const HALF: usize = 512 * 1024;
const REQUESTS: usize = 300;
/// Maximum memory for slow clients.
const MAX_KIB: u64 = 100 * 1024;

/// Returns the 99th percentile of storefront response times, the best of three rounds, because other tests run at the
/// same time.
async fn p99(front: &ApplicationClient) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let mut taken = Vec::with_capacity(REQUESTS);
        for number in 0..REQUESTS {
            let began = Instant::now();
            // Each query is different, so none is served from the cache.
            let path = format!("/api/counterparty/products?per_page={}", 1 + number % 90);
            send(front.request(Method::GET, &path)).await.expect(200);
            taken.push(began.elapsed());
        }
        taken.sort_unstable();
        best = best.min(taken[REQUESTS * 99 / 100]);
    }
    best
}

/// Starts a request and leaves it: with a few bytes of its body, half of a large one, or none; permitted or not; and
/// of any kind.
async fn half(environment: &ProcessEnvironment, token: &str, number: usize) -> TcpStream {
    let mut stream = TcpStream::connect(environment.address()).await.unwrap();
    let token = if number.is_multiple_of(4) { String::new() } else { format!("Token: {token}\r\n") };
    let length = if number % 8 == 1 { "Transfer-Encoding: chunked\r\n" } else { "Content-Length: 1048576\r\n" };
    let json = "Content-Type: application/json\r\n";
    let head = format!("POST /api/counterparty/contact_form HTTP/1.1\r\nHost: kontor\r\n{json}{token}{length}\r\n");
    let body = match number % 8 {
        1 => format!("{HALF:x}\r\n{}", " ".repeat(HALF / 2)),
        3 | 5 => " ".repeat(HALF),
        7 => String::new(),
        _ => "{\"name\"".to_owned(),
    };
    // The service may have refused it by now.
    let _ = stream.write_all((head + &body).as_bytes()).await;
    stream
}

/// Returns the memory of a process once it has returned freed memory, every few seconds. The first slow clients are
/// refused after ten seconds.
async fn settled(process: &Process, enough: u64) -> u64 {
    let until = Instant::now() + Duration::from_secs(7);
    while process.memory("VmRSS") > enough && Instant::now() < until {
        moment().await;
    }
    process.memory("VmRSS")
}

fn connections() -> usize {
    asked("SLOW_CONNECTIONS").map_or(400, |count| usize::try_from(count).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_requests_take_neither_memory_nor_time() {
    let environment = ProcessEnvironment::open(TestDatabase::fresh(Kind::Sqlite), 1.0).await;
    let mut process = environment.spawn_with(&["serve"], &[("KONTOR_LOG", "warn".to_owned())]);
    environment.ready(&mut process).await;
    let front = Market::open(&environment).await.owner_client.front;
    let idle_p99 = p99(&front).await;
    let idle = process.memory("VmRSS");
    let mut slow = Vec::new();
    for number in 0..connections() {
        slow.push(half(&environment, &front.app_token, number).await);
    }
    let held_p99 = p99(&front).await;
    let held = settled(&process, idle + MAX_KIB).await;
    let peak = process.memory("VmHWM");
    eprintln!(
        "{} slow connections: RSS {} KiB idle, {held} KiB beside them ({peak} KiB at most); p99 of the storefront {idle_p99:?} idle, \
         {held_p99:?} beside them",
        slow.len(),
        idle
    );
    process.must_run();
    assert!(held.saturating_sub(idle) <= MAX_KIB, "{held} KiB instead of {idle}");
    // Only if it runs alone: other tests take more time than any client.
    let is_alone = asked("SLOW_CONNECTIONS").is_some();
    assert!(
        !is_alone || held_p99 <= idle_p99 * 3 / 2 + Duration::from_millis(5),
        "{held_p99:?} instead of {idle_p99:?}"
    );
    drop(slow);
    process.terminate();
    assert!(process.ended().await.success());
}
