//! Login against a separate process: effects of a kill, and the set-up of a mini-app.

use std::io::Write as _;
use std::process::Stdio;

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::json;

use crate::client_miniapps::BOT;
use crate::customer_client::ApplicationClient;
use crate::process::ProcessEnvironment;
use crate::support::{Answer, send};

const PHONE: &str = "79005550021";
/// Long enough not to occur in a log by chance.
const MESSENGER_USER: u64 = 3_141_592_653;

async fn log_in(front: &ApplicationClient, contact: &str, code: &str) -> Answer {
    let body = json!({ "phone": contact, "password": code });
    send(front.request(Method::POST, "/api/counterparty/login").json(&body)).await
}

/// Runs `kontor miniapp` with a text on its standard input. Returns whether it succeeded, and its output.
fn miniapp(environment: &ProcessEnvironment, arguments: &[&str], input: &str) -> (bool, String) {
    let mut command = environment.command(&[&["miniapp"], arguments].concat());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that reads nothing may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).unwrap())
}

database_tests! {
    async fn a_code_that_was_sent_outlives_the_process(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        let front = environment.front(&project["app_token"]);
        for contact in [PHONE, "anna@example.com"] {
            let asked = front.request(Method::POST, "/api/counterparty/send_password").json(&json!({ "phone": contact }));
            send(asked).await.expect(200);
        }
        process.kill();

        let process = environment.serve().await;
        for contact in [PHONE, "anna@example.com"] {
            let messages = environment.control(&format!("/messages?to={contact}")).await;
            let code = messages["messages"][0]["code"].as_str().unwrap().to_owned();
            log_in(&front, contact, &code).await.expect(200);
            log_in(&front, contact, &code).await.expect(400);
        }
        assert_eq!(environment.number("SELECT count(*) AS id FROM counterparties").await, 2);
        drop(process);
    }

    async fn a_mini_app_is_set_up_by_a_command(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        let (front, application) = (environment.front(&project["app_token"]), project["application_id"].to_string());
        let sign_in = async || {
            let share = json!({ "token": BOT, "phone": "+7 900 555-00-21", "user_id": MESSENGER_USER });
            let body = send(environment.http.post(format!("{}/control/contacts", environment.sandbox.url())).json(&share)).await.expect(200);
            send(front.request(Method::POST, "/api/counterparty/miniapps/max/contact_auth").json(&body)).await.status.as_u16()
        };
        let place = ["--application", &application, "--provider", "max"];
        let set = [&["set"][..], &place].concat();
        assert_eq!(sign_in().await, 503);
        let (done, printed) = miniapp(&environment, &set, &format!("{BOT}\n"));
        assert!(done && printed == format!("set max for application {application}\n"), "{printed}");
        assert_eq!(sign_in().await, 200);
        let sealed = format!("SELECT count(*) AS id FROM application_miniapps WHERE sealed_token LIKE '%{BOT}%'");
        assert_eq!(environment.number(&sealed).await, 0);

        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "54321:another-bot\n").unwrap();
        let by_file = [&set[..], &["--token-file", file.path().to_str().unwrap()]].concat();
        assert!(miniapp(&environment, &by_file, "").0);
        assert_eq!(sign_in().await, 401);

        let elsewhere = ["--application", "999", "--provider", "max"];
        let (telegram, vk) = (["--application", "1", "--provider", "telegram"], ["--application", "1", "--provider", "vk"]);
        for (arguments, input, complaint) in [
            ([&["set"][..], &place].concat(), "", "one word"),
            ([&["set"][..], &place].concat(), "two words", "one word"),
            ([&["set"][..], &elsewhere].concat(), BOT, "no such application"),
            ([&["set"][..], &telegram].concat(), BOT, "does not sign contacts"),
            ([&["set"][..], &vk].concat(), BOT, "--provider must be max"),
            ([&["set"][..], &place, &["--token-file", "absent"]].concat(), "", "absent"),
            ([&["remove"][..], &elsewhere].concat(), "", "has no bot"),
        ] {
            let (done, printed) = miniapp(&environment, &arguments, input);
            assert!(!done && printed.contains(complaint), "{arguments:?}: {printed}");
            assert!(!printed.contains(BOT), "{printed}");
        }
        assert_eq!(sign_in().await, 401);

        let remove = [&["remove"][..], &place].concat();
        assert!(miniapp(&environment, &remove, "").0);
        assert!(!miniapp(&environment, &remove, "").0);
        assert_eq!(sign_in().await, 503);

        // However many are refused, only some of a kind are logged; other callers notice nothing.
        for _ in 0..8 {
            let telegram = front.request(Method::POST, "/api/counterparty/miniapps/telegram/contact_auth");
            let refused = send(telegram.json(&json!({}))).await;
            assert_eq!(refused.expect(422)["error"]["request_id"], refused.headers["x-request-id"].to_str().unwrap());
        }
        drop(process);
        let log = environment.log();
        let logged = |text: &str| log.lines().filter(|line| line.contains(text)).collect::<Vec<_>>();
        let refused = logged("\"refused\"");
        let of_kind = |code: &str| refused.iter().filter(|line| line.contains(code)).count();
        let kinds = ["miniapp_contact_auth_not_supported", "miniapp_contact_auth_not_configured"].map(of_kind);
        assert_eq!(kinds, [5, 2], "{refused:#?}");
        assert_ne!(of_kind("\"stage\":\"/api/counterparty/miniapps/{provider}/contact_auth\""), 0, "{refused:#?}");
        for secret in [BOT, &MESSENGER_USER.to_string(), "auth_date="] {
            assert_eq!(logged(secret), [""; 0], "{secret} is logged");
        }
    }
}
