//! Request counters. Their labels come from closed sets: declared routes, the methods below, and usual statuses or
//! status classes. Client input never becomes a label, since a series is kept until the process ends.

use std::sync::OnceLock;
use std::time::Duration;

use actix_web::http::Method;
use metrics::{Counter, Histogram};

/// Counters of one endpoint. Their lookup by labels happens once, because it costs more than many requests.
pub struct RequestCounters {
    method: &'static str,
    route: &'static str,
    seconds: OnceLock<Histogram>,
    answers: [OnceLock<Counter>; STATUSES.len()],
}

/// Usual statuses of endpoints. Others are looked up each time, and counted by their class.
const STATUSES: [u16; 16] = [200, 201, 202, 400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 500, 502, 503];

impl RequestCounters {
    /// Creates the counters of an endpoint.
    pub const fn new(method: &'static str, route: &'static str) -> Self {
        Self { method, route, seconds: OnceLock::new(), answers: [const { OnceLock::new() }; STATUSES.len()] }
    }

    /// Counts one response.
    pub fn count(&self, status: u16, elapsed: Duration) {
        let seconds = self.seconds.get_or_init(|| histogram(self.method, self.route));
        seconds.record(elapsed.as_secs_f64());
        let usual = STATUSES.iter().zip(&self.answers).find(|(usual, _)| **usual == status);
        match usual {
            Some((_, counter)) => counter.get_or_init(|| counter_of(self.method, self.route, status)).increment(1),
            None => counter_of(self.method, self.route, status).increment(1),
        }
    }
}

/// Counts one response to a request without an endpoint. `route` is a declared template, or one fixed word for the
/// rest.
pub fn count_unrouted(method: &'static str, route: &str, status: u16, elapsed: Duration) {
    histogram(method, route).record(elapsed.as_secs_f64());
    counter_of(method, route, status).increment(1);
}

/// Returns the label of a method: its name if HTTP defines it, otherwise `other`.
pub fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Returns the label of a status: the number of a usual status, otherwise the class.
fn status_label(status: u16) -> String {
    if STATUSES.contains(&status) { status.to_string() } else { format!("{}xx", status / 100) }
}

fn histogram(method: &'static str, route: &str) -> Histogram {
    metrics::histogram!("kontor_http_request_seconds", "method" => method, "route" => route.to_owned())
}

fn counter_of(method: &'static str, route: &str, status: u16) -> Counter {
    let labels = [("method", method.to_owned()), ("route", route.to_owned()), ("status", status_label(status))];
    metrics::counter!("kontor_http_requests_total", &labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics_exporter_prometheus::PrometheusBuilder;

    #[test]
    fn usual_and_unusual_answers_are_counted_by_their_labels() {
        let recorder = PrometheusBuilder::new().build_recorder();
        let traffic = RequestCounters::new("GET", "/api/x/{id}");
        metrics::with_local_recorder(&recorder, || {
            for status in [200, 418, 200, 404, 451] {
                traffic.count(status, Duration::from_millis(2));
            }
            count_unrouted("GET", "unmatched", 404, Duration::ZERO);
        });
        let text = recorder.handle().render();
        let total = |route: &str, status: &str, count: u32| {
            let line =
                format!("kontor_http_requests_total{{method=\"GET\",route=\"{route}\",status=\"{status}\"}} {count}");
            assert!(text.contains(&line), "{line}\n{text}");
        };
        total("/api/x/{id}", "200", 2);
        total("/api/x/{id}", "404", 1);
        total("/api/x/{id}", "4xx", 2);
        total("unmatched", "404", 1);
        let timed = "kontor_http_request_seconds_count{method=\"GET\",route=\"/api/x/{id}\"} 5";
        assert!(text.contains(timed), "{text}");
    }
}
