//! The closed-loop load generator: requests over keep-alive connections, in sequence on each, as fast as they are
//! answered. Also the lengths and numbers of measurements, and the alternation of two sides.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Failure;

/// A request, complete except for the address of the visitor.
#[derive(Clone)]
pub struct Request {
    before: Vec<u8>,
    after: Vec<u8>,
    expected: Option<u16>,
    keyed: bool,
}

impl Request {
    /// Creates a request with these headers and, unless it is empty, a JSON body.
    pub fn new(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Self {
        Self::with(method, path, headers, "application/json", body)
    }

    /// Creates a `POST` request with these headers and a form.
    pub fn form(path: &str, headers: &[(&str, &str)], body: &str) -> Self {
        Self::with("POST", path, headers, "application/x-www-form-urlencoded", body)
    }

    fn with(method: &str, path: &str, headers: &[(&str, &str)], content_type: &str, body: &str) -> Self {
        let mut before = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n");
        for (name, value) in headers {
            before = before + name + ": " + value + "\r\n";
        }
        before += "X-Forwarded-For: ";
        let after = if body.is_empty() {
            "\r\n\r\n".to_owned()
        } else {
            format!("\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        };
        Self { before: before.into_bytes(), after: after.into_bytes(), expected: None, keyed: false }
    }

    /// Sets an expected status for this request.
    pub fn answered(self, status: u16) -> Self {
        Self { expected: Some(status), ..self }
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.clear();
        out.extend_from_slice(&self.before);
        write!(out, "{}", visitor())?;
        if self.keyed {
            write!(out, "\r\nIdempotency-Key: bench-{}", KEYS.fetch_add(1, Ordering::Relaxed))?;
        }
        out.extend_from_slice(&self.after);
        Ok(())
    }
}

/// Number of idempotency keys used.
static KEYS: AtomicU32 = AtomicU32::new(0);

/// Returns the address of the next of 65,536 visitors. Limits per address are checked and counted, never reached.
fn visitor() -> Ipv4Addr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    Ipv4Addr::from_bits(0x0A00_0000 | NEXT.fetch_add(1, Ordering::Relaxed) & 0xFFFF)
}

/// A server and the requests to send.
#[derive(Clone)]
pub struct Target {
    pub address: SocketAddr,
    /// The only successful status, unless a request expects another.
    pub expected: u16,
    /// Connection `i` of `n` sends requests `i`, `i + n`, `i + 2n` and so on, repeatedly.
    pub requests: Arc<[Request]>,
    /// `true` if every request may be sent only once; the run ends when none is left.
    pub once: bool,
}

impl Target {
    /// Returns the same requests, with a new idempotency key for each sending.
    pub fn keyed(&self) -> Self {
        let requests = self.requests.iter().map(|request| Request { keyed: true, ..request.clone() }).collect();
        Self { requests, ..*self }
    }
}

/// Result of a measurement.
pub struct Sample {
    count: u32,
    time: Duration,
    /// Ascending.
    latencies: Vec<Duration>,
}

impl Sample {
    /// Creates a sample from the durations of all operations done within `time`.
    pub fn new(time: Duration, mut latencies: Vec<Duration>) -> Result<Self, Failure> {
        latencies.sort_unstable();
        let count = u32::try_from(latencies.len())?;
        if count == 0 { Err("nothing was measured".into()) } else { Ok(Self { count, time, latencies }) }
    }

    /// Returns the number of operations.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the operations per second.
    pub fn per_second(&self) -> f64 {
        f64::from(self.count) / self.time.as_secs_f64()
    }

    /// Returns the duration within which this percentage of the operations was done.
    pub fn percentile(&self, percent: usize) -> Duration {
        let place = (self.latencies.len() * percent).div_ceil(100).saturating_sub(1);
        self.latencies.get(place).copied().unwrap_or_default()
    }
}

/// A response with an expected status.
pub struct Answer {
    pub status: u16,
    /// From the first byte sent to the last one received. In an open loop, from the planned time.
    pub time: Duration,
}

/// Sends requests on `connections` connections, spread over `threads` threads, for this duration.
pub fn run(target: &Target, connections: usize, threads: usize, time: Duration) -> Result<Sample, Failure> {
    let (taken, answers) = answers(target, connections, threads, time)?;
    Sample::new(taken, answers.into_iter().map(|answer| answer.time).collect())
}

/// Like [`run`], but returns each response and the total time.
pub fn answers(
    target: &Target,
    connections: usize,
    threads: usize,
    time: Duration,
) -> Result<(Duration, Vec<Answer>), Failure> {
    let start = Instant::now();
    let until = start + time;
    let answers = std::thread::scope(|scope| {
        let spawn = |thread: usize| {
            let mine = (0..connections).filter(move |connection| connection % threads == thread);
            scope.spawn(move || on_thread(target, mine.collect(), connections, until))
        };
        let running: Vec<_> = (0..threads).map(spawn).collect();
        let mut answers = Vec::new();
        for thread in running {
            answers.extend(thread.join().map_err(|_| "a thread of the load generator panicked")??);
        }
        Ok::<_, Failure>(answers)
    })?;
    Ok((start.elapsed(), answers))
}

fn on_thread(target: &Target, mine: Vec<usize>, step: usize, until: Instant) -> Result<Vec<Answer>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let running: Vec<_> =
            mine.into_iter().map(|first| tokio::spawn(connection(target.clone(), first, step, until))).collect();
        let mut answers = Vec::new();
        for connection in running {
            answers.extend(connection.await??);
        }
        Ok(answers)
    })
}

async fn connection(target: Target, first: usize, step: usize, until: Instant) -> Result<Vec<Answer>, Failure> {
    let mut wire = Wire::open(target.address).await?;
    let mut answers = Vec::new();
    let mut next = first;
    while Instant::now() < until && !(target.once && next >= target.requests.len()) {
        let request = target.requests.get(next % target.requests.len()).ok_or("there are no requests to send")?;
        let status = request.expected.unwrap_or(target.expected);
        let sent = Instant::now();
        wire.exchange(request, status).await?;
        answers.push(Answer { status, time: sent.elapsed() });
        next += step;
    }
    Ok(answers)
}

/// Sends a request once and returns the body.
pub fn ask(address: SocketAddr, request: &Request, expected: u16) -> Result<Vec<u8>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut wire = Wire::open(address).await?;
        let body = wire.exchange(request, expected).await?;
        Ok(wire.answer.split_off(wire.answer.len().saturating_sub(body)))
    })
}

/// Returns the average size of the response bodies of the first `most` requests, in bytes.
pub fn body_size(target: &Target, most: usize) -> Result<usize, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut wire = Wire::open(target.address).await?;
        let mut total = 0;
        let asked = target.requests.len().min(most);
        for request in target.requests.iter().take(asked) {
            total += wire.exchange(request, target.expected).await?;
        }
        total.checked_div(asked).ok_or_else(|| "there are no requests to send".into())
    })
}

/// A connection with its buffers.
pub struct Wire {
    stream: TcpStream,
    out: Vec<u8>,
    answer: Vec<u8>,
}

impl Wire {
    pub async fn open(address: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, out: Vec::with_capacity(1024), answer: Vec::with_capacity(32 * 1024) })
    }

    /// Sends a request and reads its response, which must have this status. Returns the size of the body.
    async fn exchange(&mut self, request: &Request, expected: u16) -> Result<usize, Failure> {
        let (status, body) = self.send(request).await?;
        if status == expected { Ok(body) } else { Err(self.complaint()) }
    }

    /// Sends a request and reads its response. Returns the status and the size of the body.
    pub async fn send(&mut self, request: &Request) -> Result<(u16, usize), Failure> {
        request.write(&mut self.out)?;
        self.stream.write_all(&self.out).await?;
        self.answer.clear();
        let (head, body) = loop {
            self.receive().await?;
            if let Some(end) = self.answer.windows(4).position(|window| window == b"\r\n\r\n") {
                let head = std::str::from_utf8(self.answer.get(..end).unwrap_or_default())?;
                break (end + 4, content_length(head)?);
            }
        };
        while self.answer.len() < head + body {
            self.receive().await?;
        }
        let status = self.answer.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        Ok((status.ok_or("a response has no status")?, body))
    }

    /// Returns an error with the last request and its response.
    pub fn complaint(&self) -> Failure {
        let question = String::from_utf8_lossy(self.out.split(|byte| *byte == b'\r').next().unwrap_or_default());
        format!("{question} was answered with\n{}", String::from_utf8_lossy(&self.answer)).into()
    }

    async fn receive(&mut self) -> Result<(), Failure> {
        if self.stream.read_buf(&mut self.answer).await? == 0 {
            return Err("the server closed a connection".into());
        }
        Ok(())
    }
}

fn content_length(head: &str) -> Result<usize, Failure> {
    let length = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find_map(|(name, value)| name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse()));
    Ok(length.ok_or("a response has no Content-Length")??)
}

/// Lengths and numbers of measurements.
pub struct RunLengths {
    /// Time before the first round, on each side.
    pub warm_up: Duration,
    /// Time of one round of one side.
    pub round: Duration,
    /// Rounds of each side.
    pub rounds: usize,
    /// Connections of the load generator; the same number of customers place orders.
    pub connections: usize,
    /// Threads of the load generator.
    pub threads: usize,
    /// Starts of the binary.
    pub starts: usize,
    /// Idle time before resident memory is read.
    pub idle: Duration,
}

impl RunLengths {
    /// Values for real figures.
    pub const FULL: Self = Self {
        warm_up: Duration::from_secs(1),
        round: Duration::from_secs(3),
        rounds: 3,
        connections: 16,
        threads: 2,
        starts: 5,
        idle: Duration::from_secs(3),
    };
    /// Returns `true` if the figures are not meant to be used.
    pub fn is_quick(&self) -> bool {
        self.rounds < Self::FULL.rounds
    }

    /// Values for a smoke run.
    pub const QUICK: Self = Self {
        warm_up: Duration::from_millis(50),
        round: Duration::from_millis(150),
        rounds: 1,
        starts: 1,
        idle: Duration::from_millis(300),
        ..Self::FULL
    };
}

/// One round of each side, run one after the other.
pub struct Pair {
    pub ours: Sample,
    pub peer: Sample,
}

impl Pair {
    /// Returns the service's rate as a share of the peer's rate.
    pub fn ratio(&self) -> f64 {
        self.ours.per_second() / self.peer.per_second()
    }
}

/// Alternates both sides and returns the median pair. The second round of a pair is the first of the next. So changes
/// in the machine's speed and a single disturbed round do not count.
pub fn in_turns(
    rounds: usize,
    mut ours: impl FnMut() -> Result<Sample, Failure>,
    mut peer: impl FnMut() -> Result<Sample, Failure>,
) -> Result<Pair, Failure> {
    let mut pairs = Vec::with_capacity(rounds);
    for round in 0..rounds {
        pairs.push(if round % 2 == 0 {
            let peer = peer()?;
            Pair { ours: ours()?, peer }
        } else {
            Pair { ours: ours()?, peer: peer()? }
        });
    }
    median(pairs, |left, right| left.ratio().total_cmp(&right.ratio()))
}

/// Returns the median round, so that a single disturbed round does not count.
pub fn median<T>(mut rounds: Vec<T>, compare: impl FnMut(&T, &T) -> std::cmp::Ordering) -> Result<T, Failure> {
    rounds.sort_by(compare);
    let middle = rounds.len() / 2;
    rounds.into_iter().nth(middle).ok_or_else(|| "there must be a round".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        let times = (1..=100).rev().map(Duration::from_millis).collect();
        let sample = Sample::new(Duration::from_secs(2), times).unwrap();
        assert_eq!(sample.percentile(50), Duration::from_millis(50));
        assert_eq!(sample.percentile(99), Duration::from_millis(99));
        assert!((sample.per_second() - 50.0).abs() < f64::EPSILON);
    }

    #[test]
    fn the_length_is_found_in_any_case() {
        assert_eq!(content_length("HTTP/1.1 200 OK\r\nContent-LENGTH: 17\r\nx: y").unwrap(), 17);
        assert!(content_length("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked").is_err());
    }
}
