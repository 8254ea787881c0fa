//! Comparison with an independent verifier. Install it by `pip install -r .ci/peers.txt`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::cases::table;
use crate::messenger::TOKEN;

mod python_peers {
    #[test]
    fn an_independent_verifier_judges_the_same() {
        super::an_independent_verifier_judges_the_same();
    }
}

fn an_independent_verifier_judges_the_same() {
    let cases: Vec<_> = table(now()).into_iter().filter(|case| case.compared).collect();
    let asked: Vec<Value> = cases
        .iter()
        .map(|case| {
            let contact = &case.contact;
            json!({
                "phone": contact.phone,
                "auth_date": contact.auth_date,
                "hash": contact.hash,
                "init_data": contact.init_data,
            })
        })
        .collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/max_contacts.py");
    let mut python = Command::new("python3")
        .arg(script)
        .arg(TOKEN)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(json!(asked).to_string().as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let verdicts: Vec<bool> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdicts.len(), cases.len());
    for (case, accepted) in cases.iter().zip(verdicts) {
        assert_eq!(accepted, case.verdict.is_ok(), "{}", case.name);
    }
}

#[expect(clippy::disallowed_methods, reason = "the verifier compares with the clock of the machine")]
fn now() -> DateTime<Utc> {
    std::time::SystemTime::now().into()
}
