//! A service that answers from a script.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use kontor_client::{Client, Retries};

/// A service that gives one response for each connection, and keeps the requests.
pub struct Server {
    url: String,
    requests: Receiver<String>,
}

impl Server {
    /// Starts a service with these responses. An empty one breaks the connection.
    pub fn start(responses: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for response in responses {
                let (mut stream, _) = listener.accept().unwrap();
                sender.send(request(&mut stream)).unwrap();
                stream.write_all(response.as_bytes()).unwrap();
            }
        });
        Self { url, requests }
    }

    /// Returns a client of the service with short pauses.
    pub fn client(&self) -> Client {
        let retries = Retries { pause: Duration::from_millis(1), ..Retries::default() };
        Client::new(&self.url).unwrap().with_retries(retries)
    }

    /// Returns the requests so far, in order.
    pub fn requests(&self) -> Vec<String> {
        self.requests.try_iter().collect()
    }
}

/// Returns a response with a JSON body. Headers end with a line break.
pub fn response(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

/// Returns a header of a request.
pub fn header<'r>(request: &'r str, name: &str) -> Option<&'r str> {
    let mut lines = request.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn request(stream: &mut TcpStream) -> String {
    let (mut text, mut buffer) = (String::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut buffer).unwrap();
        text.push_str(std::str::from_utf8(buffer.get(..count).unwrap()).unwrap());
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length: usize = header(head, "content-length").map_or(0, |length| length.parse().unwrap());
            body.len() >= length
        });
        if whole || count == 0 {
            return text;
        }
    }
}
