//! Third-party verifiers. Install the Python one by `pip install -r .ci/peers.txt`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use chrono::{DateTime, TimeDelta, Utc};

use crate::support::{BODY, SECRET, request};

/// Runs the script with the data of a receiver.
fn verify(at: DateTime<Utc>) {
    let request = request("https://shop.example/hook", at);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/stripe_verify.py");
    let header = |name| request.header(name).unwrap();
    let mut python = Command::new("python3")
        .arg(script)
        .args([SECRET, header("X-Webhook-Timestamp"), header("X-Signature")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(request.body.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("all steps passed"));
}

mod python_peers {
    #[test]
    fn the_official_stripe_verifier_accepts_a_delivery_and_nothing_else() {
        super::verify(super::now());
    }
}

mod openssl {
    #[test]
    fn openssl_makes_the_same_signature() {
        super::openssl_makes_the_same_signature();
    }
}

fn openssl_makes_the_same_signature() {
    let at = DateTime::UNIX_EPOCH + TimeDelta::seconds(1_800_000_000);
    let request = request("https://shop.example/hook", at);
    let openssl = Command::new("openssl")
        .args(["dgst", "-sha256", "-hmac", SECRET])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut openssl = openssl.unwrap();
    write!(openssl.stdin.take().unwrap(), "1800000000.{BODY}").unwrap();
    let output = String::from_utf8(openssl.wait_with_output().unwrap().stdout).unwrap();
    let digest = output.trim().rsplit(' ').next().unwrap();
    assert_eq!(request.header("X-Signature"), Some(format!("sha256={digest}").as_str()));
}

#[expect(clippy::disallowed_methods, reason = "the verifier compares with the clock of the machine")]
fn now() -> DateTime<Utc> {
    std::time::SystemTime::now().into()
}
