//! The open-loop load generator: each request starts at its planned time, whether or not earlier ones are answered.
//! Times are measured from the planned time, so a slow response also counts for the requests that it delays.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::Failure;
use crate::load::{Answer, Request, Sample, Wire};

/// Result of an open loop.
pub struct OpenLoop {
    pub answers: Vec<Answer>,
    /// Number of requests for which no connection was free at the planned time.
    pub late: u32,
    /// From the start to the last response.
    time: Duration,
}

impl OpenLoop {
    /// Returns the rate of responses and their times since the planned times.
    pub fn sample(&self) -> Result<Sample, Failure> {
        Sample::new(self.time, self.answers.iter().map(|answer| answer.time).collect())
    }
}

/// Plans requests in turn at a constant rate per second, for this duration.
pub fn at_intervals(
    rate: f64,
    time: Duration,
    requests: &[Request],
) -> impl Iterator<Item = (Duration, &Request)> + Send {
    let interval = Duration::from_secs_f64(1.0 / rate);
    let planned = (0_u32..).map(move |place| interval * place).take_while(move |after| *after < time);
    planned.zip(requests.iter().cycle())
}

/// Sends each request at its planned time after the start, in ascending order. A connection is opened if none is free,
/// up to `connections`; then the request is late and waits for a response. Ends at the first response with none of
/// these statuses.
pub fn run<'a>(
    address: SocketAddr,
    arrivals: impl Iterator<Item = (Duration, &'a Request)> + Send,
    connections: usize,
    statuses: &[u16],
) -> Result<OpenLoop, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (due, planned) = unbounded_channel();
    let start = Instant::now();
    let (answers, late) = std::thread::scope(|scope| {
        // Timers of the runtime only have a resolution of 1 ms, so a thread keeps the time.
        scope.spawn(move || {
            for (after, request) in arrivals {
                let time = start + after;
                std::thread::sleep(time.saturating_duration_since(Instant::now()));
                // After a failure there is no receiver.
                if due.send((time, request)).is_err() {
                    break;
                }
            }
        });
        runtime.block_on(exchange(address, planned, connections, statuses))
    })?;
    Ok(OpenLoop { answers, late, time: start.elapsed() })
}

/// Sends requests as they become due. Returns the responses and the number of late requests.
async fn exchange(
    address: SocketAddr,
    mut planned: UnboundedReceiver<(Instant, &Request)>,
    connections: usize,
    statuses: &[u16],
) -> Result<(Vec<Answer>, u32), Failure> {
    let (mut answers, mut late) = (Vec::new(), 0);
    let (mut waiting, mut idle, mut running) = (VecDeque::new(), VecDeque::new(), FuturesUnordered::new());
    loop {
        if running.len() < connections
            && let Some((time, request)) = waiting.pop_front()
        {
            // The connection that is idle longest, so that none reaches the timeout of the server.
            running.push(send(idle.pop_front(), address, time, request, statuses));
        }
        tokio::select! {
            Some(arrival) = planned.recv() => {
                late += u32::from(running.len() >= connections);
                waiting.push_back(arrival);
            }
            Some(done) = running.next() => {
                let (wire, answer) = done?;
                idle.push_back(wire);
                answers.push(answer);
            }
            else => return Ok((answers, late)),
        }
    }
}

/// Sends a request on this connection or on a new one. Returns the connection with the response.
async fn send(
    wire: Option<Wire>,
    address: SocketAddr,
    planned: Instant,
    request: &Request,
    statuses: &[u16],
) -> Result<(Wire, Answer), Failure> {
    let mut wire = match wire {
        Some(wire) => wire,
        None => Wire::open(address).await?,
    };
    let (status, _) = wire.send(request).await?;
    if statuses.contains(&status) {
        Ok((wire, Answer { status, time: planned.elapsed() }))
    } else {
        Err(wire.complaint())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    fn request() -> Request {
        Request::new("GET", "/", &[], "")
    }

    #[test]
    fn intervals_are_constant() {
        let requests = [request()];
        let planned: Vec<_> =
            at_intervals(100.0, Duration::from_secs(1), &requests).map(|(after, _)| after.as_millis()).collect();
        assert_eq!(planned, (0..1000).step_by(10).collect::<Vec<u128>>());
    }

    #[test]
    fn the_wait_behind_a_slow_response_counts() {
        const RESPONSE: Duration = Duration::from_millis(200);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut received = [0; 1024];
            while stream.read(&mut received).unwrap() > 0 {
                std::thread::sleep(RESPONSE);
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
            }
        });
        let requests = [request()];
        let arrivals = at_intervals(1000.0, Duration::from_millis(3), &requests);
        let done = run(address, arrivals, 1, &[200]).unwrap();
        assert_eq!((done.answers.len(), done.late), (3, 2));
        for (answer, place) in done.answers.iter().zip(1..) {
            assert!(answer.time + Duration::from_millis(2) >= RESPONSE * place, "{:?}", answer.time);
        }
        assert_eq!(done.sample().unwrap().count(), 3);
    }
}
