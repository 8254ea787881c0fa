//! Request bodies that arrive slowly, in part or not at all.

use std::time::{Duration, Instant};

use kontor::config::Config;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_adapter_diesel::{database_tests, retry_until};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Project, TestServer, send};

/// Timeout of every wait in these tests.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection for writing in parts.
struct Wire(TcpStream);

impl Wire {
    async fn open(server: &TestServer) -> Self {
        Self(TcpStream::connect(server.url.strip_prefix("http://").unwrap()).await.unwrap())
    }

    async fn send(&mut self, piece: &[u8]) {
        self.0.write_all(piece).await.unwrap();
    }

    /// Reads until the server closes the connection. Returns status, and head with body.
    async fn end(mut self) -> (u16, String) {
        let mut text = Vec::new();
        // A server that closes a connection with unread data may reset it after its response.
        let read = tokio::time::timeout(PATIENCE, self.0.read_to_end(&mut text)).await;
        assert!(read.is_ok(), "the server leaves the connection open");
        let text = String::from_utf8(text).unwrap();
        let status = text.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
        (status, text)
    }
}

fn head(method: &str, path: &str, more: &str, length: usize) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: kontor\r\nContent-Length: {length}\r\n{more}\r\n")
}

fn json_of(bearer: &str) -> String {
    format!("Content-Type: application/json\r\nConnection: close\r\nAuthorization: Bearer {bearer}\r\n")
}

/// Sends a request with a slow body. Runs `event` after the guard has read the head, and before the rest is sent.
async fn meanwhile(server: &TestServer, head: String, body: &[u8], event: impl AsyncFnOnce()) -> (u16, String) {
    let mut wire = Wire::open(server).await;
    let seen = server.db.database.statements();
    let (first, rest) = body.split_at(body.len() / 2);
    wire.send(head.as_bytes()).await;
    wire.send(first).await;
    let until = Instant::now() + PATIENCE;
    while server.db.database.statements() == seen {
        retry_until!(until, "the guard asks the database");
    }
    event().await;
    // The guard checks the caller again only if the body does not arrive at once.
    tokio::time::sleep(Duration::from_millis(50)).await;
    wire.send(rest).await;
    wire.end().await
}

async fn branches(server: &TestServer, project: &Project) -> i64 {
    let owner = server.owner(project).await;
    let listed = send(server.as_staff(&owner, Method::GET, "/api/branches")).await.expect(200);
    listed["branchesCount"]
        .as_i64()
        .unwrap_or_else(|| i64::try_from(listed["branches"].as_array().unwrap().len()).unwrap())
}

fn form(file: &str) -> (String, Vec<u8>) {
    let body =
        format!("--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n{file}\r\n--X--\r\n");
    ("Content-Type: multipart/form-data; boundary=X\r\nConnection: close\r\n".to_owned(), body.into_bytes())
}

database_tests! {
    async fn staff_who_lost_their_rights_while_the_body_came_do_nothing(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let before = branches(&server, &project).await;
        let body = json!({ "name": "Late" }).to_string();
        let events = [
            ("UPDATE users SET is_banned = true WHERE id = {user}", 401),
            ("DELETE FROM access_tokens WHERE id = {token}", 401),
            ("DELETE FROM role_permissions WHERE role_id = (SELECT role_id FROM users WHERE id = {user})", 403),
        ];
        for key in ["", "Idempotency-Key: late-NUMBER\r\n"] {
            for (number, (event, status)) in events.into_iter().enumerate() {
                let bearer = server.staff_with(&project, &["view-branches", "create-branches"]).await;
                let token = bearer.split('|').next().unwrap();
                let user = format!("(SELECT subject_id FROM access_tokens WHERE id = {token})");
                let event = event.replace("{user}", &user).replace("{token}", token);
                let key = key.replace("NUMBER", &number.to_string());
                let head = head("POST", "/api/branches", &(json_of(&bearer) + &key), body.len());
                let (answered, text) = meanwhile(&server, head, body.as_bytes(), async || server.execute(&event).await).await;
                assert_eq!(answered, status, "{event}: {text}");
            }
        }
        assert_eq!(branches(&server, &project).await, before, "nothing was made");
        // A caller that keeps its permissions may send slowly.
        let bearer = server.staff_with(&project, &["view-branches", "create-branches"]).await;
        let slow = head("POST", "/api/branches", &json_of(&bearer), body.len());
        let (answered, text) = meanwhile(&server, slow, body.as_bytes(), async || {}).await;
        assert_eq!(answered, 201, "{text}");
    }

    async fn a_file_of_staff_who_signed_out_meanwhile_is_not_taken(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let (kind, body) = form("article;name;category;price\nA-1;Anchor;Harbour;\n");
        for signs_out in [true, false] {
            let owner = server.owner(&project).await;
            let head = head("POST", "/api/nomenclatures/import", &format!("{kind}Authorization: Bearer {owner}\r\n"), body.len());
            let event = async || {
                if signs_out {
                    send(server.as_staff(&owner, Method::POST, "/api/user/logout")).await.expect(200);
                }
            };
            let (answered, text) = meanwhile(&server, head, &body, event).await;
            assert_eq!(answered, if signs_out { 401 } else { 200 }, "{text}");
        }
    }

    async fn a_customer_who_signed_out_meanwhile_changes_nothing(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let (_, bearer) = server.customer(&project).await;
        let body = json!({ "first_name": "Late" }).to_string();
        let more = format!("Token: {}\r\n{}", project.app_token, json_of(&bearer));
        let head = head("PUT", "/api/counterparty", &more, body.len());
        let event = async || {
            send(server.as_customer(&project, &bearer, Method::POST, "/api/counterparty/logout")).await.expect(200);
        };
        let (answered, text) = meanwhile(&server, head, body.as_bytes(), event).await;
        assert_eq!(answered, 401, "{text}");
    }
}

async fn server(change: impl FnOnce(&mut Config)) -> TestServer {
    TestServer::start_with(TestDatabase::fresh(Kind::Sqlite), change).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_stops_is_refused_and_its_connection_closed() {
    let server = server(|config| config.body_seconds = 1).await;
    let owner = server.owner(&server.project().await).await;
    let json = format!("Content-Type: application/json\r\nAuthorization: Bearer {owner}\r\n");
    for (more, start) in [
        (format!("Content-Length: 1000\r\n{json}"), "{\"name\":"),
        (format!("Transfer-Encoding: chunked\r\n{json}"), "8\r\n{\"name\":\r\n"),
        (format!("Content-Length: 1000\r\nIdempotency-Key: stopped\r\n{json}"), "{\"name\":"),
    ] {
        let mut wire = Wire::open(&server).await;
        wire.send(format!("POST /api/branches HTTP/1.1\r\nHost: kontor\r\n{more}\r\n{start}").as_bytes()).await;
        let began = Instant::now();
        let (status, text) = wire.end().await;
        assert_eq!(status, 408, "{text}");
        assert!(text.contains("was not received in time"), "{text}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_body_is_not_read() {
    let server = server(|_| {}).await;
    let owner = server.owner(&server.project().await).await;
    for (path, credentials, refused) in [
        ("/api/branches", String::new(), 401),
        ("/api/branches", "Authorization: Bearer 1|x\r\n".to_owned(), 401),
        ("/api/counterparty/contact_form", String::new(), 401),
        ("/api/files", String::new(), 401),
        ("/api/nowhere", String::new(), 404),
        ("/api/branches", format!("Content-Length: 9000000\r\nAuthorization: Bearer {owner}\r\n"), 413),
    ] {
        let body = if credentials.contains("Length") {
            ["", ""]
        } else {
            ["Content-Length: 900000\r\n", "Transfer-Encoding: chunked\r\n"]
        };
        for length in body {
            let mut wire = Wire::open(&server).await;
            let json = "Content-Type: application/json\r\n";
            wire.send(format!("POST {path} HTTP/1.1\r\nHost: kontor\r\n{json}{credentials}{length}\r\n").as_bytes())
                .await;
            let began = Instant::now();
            let (status, text) = wire.end().await;
            assert_eq!(status, refused, "{path} {length}: {text}");
            assert!(began.elapsed() < Duration::from_secs(10), "{path} {length}: {:?}", began.elapsed());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_take_no_more_memory_than_they_may_together() {
    let server = server(|config| {
        config.body_memory_mb = 1;
        config.body_limit = 1 << 20;
    })
    .await;
    let owner = server.owner(&server.project().await).await;
    let half = vec![b' '; 600 << 10];
    let mut slow = Wire::open(&server).await;
    slow.send(head("POST", "/api/branches", &json_of(&owner), 1 << 20).as_bytes()).await;
    slow.send(&half).await;
    let held = async || {
        let text = send(server.request(Method::GET, "/metrics")).await.text;
        let line = text.lines().find(|line| line.starts_with("kontor_request_bodies_bytes")).unwrap();
        line.split(' ').next_back().unwrap().parse::<f64>().unwrap()
    };
    let until = Instant::now() + PATIENCE;
    while held().await < 600.0 * 1024.0 {
        retry_until!(until, "the body is held");
    }
    let body = format!("{}{}", " ".repeat(600 << 10), json!({ "name": "Quick" }));
    let quick = server.as_staff(&owner, Method::POST, "/api/branches").header("Content-Type", "application/json");
    send(quick.body(body)).await.expect(201);
    let (status, text) = slow.end().await;
    assert_eq!(status, 503, "the one that began first gives way: {text}");
    assert!(text.to_lowercase().contains("retry-after: 1"), "{text}");
    let until = Instant::now() + PATIENCE;
    while held().await > 0.0 {
        retry_until!(until, "what bodies took is given back");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rest_of_a_body_may_come_in_pieces() {
    let server = server(|_| {}).await;
    let owner = server.owner(&server.project().await).await;
    let body = json!({ "name": "Склад", "address": "x".repeat(400) }).to_string();
    let mut wire = Wire::open(&server).await;
    wire.send(head("POST", "/api/branches", &json_of(&owner), body.len()).as_bytes()).await;
    for piece in body.as_bytes().chunks(7) {
        wire.send(piece).await;
    }
    let (status, text) = wire.end().await;
    assert_eq!(status, 201, "{text}");
    let made: Value = serde_json::from_str(text.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(made["branch"]["name"], "Склад");
}
