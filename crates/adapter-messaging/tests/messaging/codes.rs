//! Calls with a code and codes by e-mail.

use std::net::SocketAddr;
use std::time::Duration;

use chrono::DateTime;
use kontor_adapter_messaging::{
    CallSettings, CodeMessenger, FlashCalls, Mailer, MailerError, PhoneCodes, SmsCodes, SmtpCredentials, SmtpSettings,
    SmtpTls,
};
use kontor_auth::model::{Login, WaitingCall};
use kontor_auth::ports::{ApprovalMailSender, CodeSender, PasswordSender};
use kontor_kernel::{Email, Name, Phone, SendError, TaskId};
use kontor_organization::model::{TaskLine, TaskNotice};
use kontor_organization::ports::TaskMailSender;

use tokio::io::AsyncWriteExt as _;

use crate::support::{Outside, outside};

fn calls(outside: &Outside, api_id: &str) -> FlashCalls {
    FlashCalls::new(CallSettings { base_url: outside.sandbox.url().to_owned(), api_id: api_id.into() }).unwrap()
}

fn sms(outside: &Outside, api_id: &str) -> SmsCodes {
    SmsCodes::new(CallSettings { base_url: outside.sandbox.url().to_owned(), api_id: api_id.into() }).unwrap()
}

fn settings(server: SocketAddr) -> SmtpSettings {
    SmtpSettings {
        host: server.ip().to_string(),
        port: server.port(),
        tls: SmtpTls::None,
        credentials: None,
        from: "Магазин <shop@kontor.example>".to_owned(),
    }
}

fn phone() -> Phone {
    Phone::parse("79001234567").unwrap()
}

fn email() -> Email {
    Email::parse("buyer@mail.example").unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codes_reach_the_phone_and_the_mailbox() {
    let outside = outside().await;
    let mailer = || Mailer::new(settings(outside.sandbox.smtp_addr())).unwrap();
    let messenger = CodeMessenger::new(PhoneCodes::Calls(calls(&outside, "sandbox-api-id")), mailer());
    for ip in [None, Some("203.0.113.7".parse().unwrap())] {
        let code = messenger.code_to_phone(&phone(), "012345", ip).await.unwrap();
        assert_eq!(code.len(), 4);
        assert_eq!(outside.messages("79001234567").await[0]["code"], code.as_str());
    }
    let by_sms = CodeMessenger::new(PhoneCodes::Sms(sms(&outside, "sandbox-api-id")), mailer());
    assert_eq!(by_sms.code_to_phone(&phone(), "012345", None).await.unwrap(), "012345");
    let message = &outside.messages("79001234567").await[0];
    assert_eq!((message["channel"].as_str(), message["code"].as_str()), (Some("sms"), Some("012345")));
    // One message of an SMS in Cyrillic holds 70 characters.
    assert!(message["text"].as_str().unwrap().chars().count() <= 70, "{message}");
    messenger.email_code(&email(), "012345").await.unwrap();
    let mail = &outside.messages("buyer@mail.example").await[0];
    assert_eq!((mail["channel"].as_str(), mail["code"].as_str()), (Some("email"), Some("012345")));
    assert!(mail["subject"].as_str().unwrap().starts_with("Код для входа"), "{mail}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_was_not_made_is_an_error() {
    let outside = outside().await;
    let refused = calls(&outside, "another account").call(&phone(), None).await;
    assert!(matches!(refused, Err(SendError::Refused(text)) if text.starts_with("200: ")));
    for fault in ["refuse", "http_500", "drop", "timeout"] {
        outside.fault("telephony", fault).await;
        let patient = calls(&outside, "sandbox-api-id").with_timeout(Duration::from_secs(2));
        let error = patient.call(&phone(), None).await.unwrap_err();
        assert!(matches!(error, SendError::Unavailable(_)), "{fault}: {error}");
        assert!(!error.to_string().contains("sandbox-api-id"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_was_not_taken_is_an_error() {
    let outside = outside().await;
    let refused = sms(&outside, "another account").send_code(&phone(), "012345").await;
    assert!(matches!(refused, Err(SendError::Refused(text)) if text.starts_with("200: ")));
    for fault in ["refuse", "http_500", "drop", "timeout"] {
        outside.fault("telephony", fault).await;
        let patient = sms(&outside, "sandbox-api-id").with_timeout(Duration::from_secs(2));
        let error = patient.send_code(&phone(), "012345").await.unwrap_err();
        assert!(matches!(error, SendError::Unavailable(_)), "{fault}: {error}");
        assert!(!error.to_string().contains("sandbox-api-id") && !error.to_string().contains("012345"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_that_was_not_taken_is_an_error() {
    let outside = outside().await;
    let mailer = || Mailer::new(settings(outside.sandbox.smtp_addr())).unwrap();
    outside.fault("mail", "refuse").await;
    let refused = mailer().send_code(&email(), "012345").await;
    assert!(matches!(refused, Err(SendError::Refused(_))), "{refused:?}");
    for fault in ["http_500", "drop", "timeout"] {
        outside.fault("mail", fault).await;
        let outcome = mailer().with_timeout(Duration::from_secs(2)).send_code(&email(), "012345").await;
        assert!(matches!(outcome, Err(SendError::Unavailable(_))), "{fault}: {outcome:?}");
    }
    mailer().send_code(&email(), "012345").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_temporary_password_reaches_the_mailbox() {
    let outside = outside().await;
    let mailer = Mailer::new(settings(outside.sandbox.smtp_addr())).unwrap();
    let login = Login::parse("анна.к").unwrap();
    mailer.email_password(&email(), &login, &"Zq0uJ4Zq0uJ4Zq0u".into()).await.unwrap();
    let mail = &outside.messages("buyer@mail.example").await[0];
    assert!(mail["subject"].as_str().unwrap().starts_with("Временный пароль"), "{mail}");
    let text = mail["text"].as_str().unwrap();
    assert!(text.starts_with("Zq0uJ4Zq0uJ4Zq0u") && text.contains("анна.к"), "{text}");
    for (fault, lasting) in [("refuse", true), ("drop", false)] {
        outside.fault("mail", fault).await;
        let error = mailer.email_password(&email(), &login, &"Zq0uJ4Zq0uJ4Zq0u".into()).await.unwrap_err();
        assert_eq!(matches!(error, SendError::Refused(_)), lasting, "{error}");
        assert!(!error.to_string().contains("Zq0uJ4"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_reach_the_mailbox_in_one_mail() {
    let outside = outside().await;
    let mailer = Mailer::new(settings(outside.sandbox.smtp_addr())).unwrap();
    let task = |id, news, title: &str| TaskLine {
        id: TaskId::new(id).unwrap(),
        title: Name::parse(title).unwrap(),
        news,
        status: Name::parse("new").unwrap(),
        deadline: Some(DateTime::UNIX_EPOCH),
    };
    let tasks: Vec<TaskLine> = (1..=60).map(|id| task(id, TaskNotice::Assigned, "Позвонить Анне <b>")).collect();
    mailer.email_tasks(&email(), &tasks).await.unwrap();
    let mail = &outside.messages("buyer@mail.example").await[0];
    assert_eq!(mail["subject"], "Задачи: 60 / Tasks: 60");
    let text = mail["text"].as_str().unwrap();
    assert!(text.starts_with("1. Позвонить Анне <b>"), "{text}");
    assert_eq!(text.matches("assigned to you").count(), 50, "{text}");
    assert!(text.contains("срок / deadline: 1970-01-01 00:00 UTC") && text.contains("And 10"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_wait_reach_the_mailbox_with_links() {
    let outside = outside().await;
    let mailer = Mailer::new(settings(outside.sandbox.smtp_addr())).unwrap();
    let call = WaitingCall {
        public_id: uuid::Uuid::nil(),
        agent: "Bot".to_owned(),
        operation: "POST /api/brands".to_owned(),
        expires_at: DateTime::UNIX_EPOCH,
    };
    let calls = vec![call; 25];
    let inbox = "https://shop.example/console/agent-actions";
    mailer.email_approvals(&email(), &calls, Some(inbox.to_owned())).await.unwrap();
    mailer.email_approvals(&email(), &calls[..1], None).await.unwrap();
    let mails = outside.messages("buyer@mail.example").await;
    let linked = |mail: &serde_json::Value| mail["text"].as_str().unwrap().contains("https://");
    let with_links = mails.iter().find(|mail| linked(mail)).unwrap();
    assert_eq!(with_links["subject"], "Вызовы агентов: 25 / Agents' calls to approve: 25");
    let text = with_links["text"].as_str().unwrap();
    let link = format!("{inbox}/00000000-0000-0000-0000-000000000000");
    assert_eq!(text.matches(&link).count(), 20, "{text}");
    assert!(text.contains("approve until: 1970-01-01 00:00 UTC") && text.contains("And 5"), "{text}");
    let without = mails.iter().find(|mail| !linked(mail)).unwrap();
    let text = without["text"].as_str().unwrap();
    assert!(text.contains("Bot: POST /api/brands") && text.contains("Agents' calls"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_is_used_and_missing_tls_is_not_overlooked() {
    let outside = outside().await;
    let server = outside.sandbox.smtp_addr();
    let credentials = SmtpCredentials { user: "shop".to_owned(), password: "secret".into() };
    let known = Mailer::new(SmtpSettings { credentials: Some(credentials), ..settings(server) }).unwrap();
    known.send_code(&email(), "012345").await.unwrap();
    let sent = outside.messages("buyer@mail.example").await.len();
    for tls in [SmtpTls::StartTls, SmtpTls::Tls] {
        let protected = Mailer::new(SmtpSettings { host: "localhost".to_owned(), tls, ..settings(server) }).unwrap();
        let outcome = protected.with_timeout(Duration::from_secs(3)).send_code(&email(), "012345").await;
        assert!(outcome.is_err(), "{tls:?}");
    }
    assert_eq!(outside.messages("buyer@mail.example").await.len(), sent);
}

#[tokio::test]
async fn a_server_that_is_silent_or_absent_is_unavailable() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mailer = Mailer::new(settings(silent.local_addr().unwrap())).unwrap().with_timeout(Duration::from_millis(200));
    assert!(matches!(mailer.send_code(&email(), "012345").await, Err(SendError::Unavailable(_))));
    let absent = silent.local_addr().unwrap();
    drop(silent);
    let mailer = Mailer::new(settings(absent)).unwrap();
    assert!(matches!(mailer.send_code(&email(), "012345").await, Err(SendError::Unavailable(_))));
}

#[tokio::test]
async fn a_server_that_never_stops_talking_is_unavailable() {
    for tls in [SmtpTls::None, SmtpTls::StartTls] {
        let endless = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = endless.local_addr().unwrap();
        let talk = tokio::spawn(async move {
            let (mut stream, _) = endless.accept().await.unwrap();
            let piece = vec![b'2'; 64 * 1024];
            let mut printed: usize = 0;
            while let Ok(bytes) = stream.write(&piece).await {
                printed += bytes;
            }
            printed
        });
        let mailer = Mailer::new(SmtpSettings { tls, ..settings(server) }).unwrap();
        let outcome = mailer.send_code(&email(), "012345").await;
        assert!(matches!(&outcome, Err(SendError::Unavailable(why)) if why.contains("too long")), "{outcome:?}");
        // Data in the buffers between client and server is not read.
        assert!(talk.await.unwrap() < 32 << 20, "the connection is closed");
    }
}

#[test]
fn a_sender_that_is_no_address_is_refused_at_the_start() {
    let settings = SmtpSettings { from: "nobody".to_owned(), ..settings("127.0.0.1:25".parse().unwrap()) };
    assert!(matches!(Mailer::new(settings), Err(MailerError::From(_))));
}
