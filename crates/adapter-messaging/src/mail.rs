//! One-time codes, temporary passwords, task notifications and calls that wait for approval by e-mail, over SMTP.

use std::time::Duration;

use async_trait::async_trait;
use kontor_auth::model::{Login, WaitingCall};
use kontor_auth::ports::{ApprovalMailSender, PasswordSender};
use kontor_kernel::{Email, ExposeSecret, SecretString, SendError};
use kontor_organization::model::{TaskLine, TaskNotice};
use kontor_organization::ports::TaskMailSender;
use lettre::Address;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::TlsParameters;

use crate::smtp::{MailServer, Protection, TlsFromTheStart};

const MAIL_TIMEOUT: Duration = Duration::from_secs(15);

/// Protection of the connection to the mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpTls {
    /// No protection.
    None,
    /// `STARTTLS`, required.
    StartTls,
    /// TLS from the first byte.
    Tls,
}

/// Account at the mail server.
#[derive(Debug, Clone)]
pub struct SmtpCredentials {
    /// User name.
    pub user: String,
    /// Password.
    pub password: SecretString,
}

/// Mail server and sender.
#[derive(Debug, Clone)]
pub struct SmtpSettings {
    /// Name of the server, which its certificate must contain.
    pub host: String,
    /// Port of the server.
    pub port: u16,
    /// Protection of the connection.
    pub tls: SmtpTls,
    /// Account; without it the server must accept unauthenticated mail.
    pub credentials: Option<SmtpCredentials>,
    /// Sender, `address@domain` or `Name <address@domain>`.
    pub from: String,
}

/// Reason why a mailer cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum MailerError {
    /// The sender is not an address.
    #[error("`{0}` is not an e-mail address to send from")]
    From(String),
    /// The name of the server cannot be in a certificate, or the machine has no certificate authorities.
    #[error("TLS to the mail server cannot be prepared: {0}")]
    Tls(String),
}

/// Sends mail, one connection per message.
pub struct Mailer {
    server: MailServer,
    from: Mailbox,
    whole: Duration,
}

impl Mailer {
    /// Creates a mailer without a connection.
    pub fn new(settings: SmtpSettings) -> Result<Self, MailerError> {
        let SmtpSettings { host, port, tls, credentials, from } = settings;
        let protection = match tls {
            SmtpTls::None => Protection::None,
            SmtpTls::StartTls => Protection::StartTls(
                TlsParameters::new(host.clone()).map_err(|error| MailerError::Tls(error.to_string()))?,
            ),
            SmtpTls::Tls => Protection::Tls(Box::new(TlsFromTheStart::new(&host).map_err(MailerError::Tls)?)),
        };
        let from = from.parse().map_err(|_| MailerError::From(from))?;
        let credentials = credentials
            .map(|SmtpCredentials { user, password }| Credentials::new(user, password.expose_secret().to_owned()));
        Ok(Self { server: MailServer { host, port, protection, credentials }, from, whole: MAIL_TIMEOUT })
    }

    /// Sets another timeout for a whole message.
    #[must_use]
    pub fn with_timeout(self, whole: Duration) -> Self {
        Self { whole, ..self }
    }

    /// Sends a one-time code. `Ok` means that the server has accepted the message.
    pub async fn send_code(&self, to: &Email, code: &str) -> Result<(), SendError> {
        let text = format!(
            "{code}\n\n\
             Это код для входа, он действует 5 минут. Если вы его не запрашивали, ничего не делайте.\n\n\
             This is your sign-in code, valid for 5 minutes. If you did not ask for it, do nothing.\n"
        );
        self.send(to, "Код для входа / Your sign-in code", text).await
    }

    async fn send(&self, to: &Email, subject: &str, text: String) -> Result<(), SendError> {
        let message = self.message(to, subject, text).map_err(SendError::Refused)?;
        self.server.deliver(&message, self.whole).await
    }

    fn message(&self, to: &Email, subject: &str, text: String) -> Result<Message, String> {
        let address = address(to)?;
        Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, address))
            .subject(subject)
            .header(ContentType::TEXT_PLAIN)
            .body(text)
            .map_err(|error| error.to_string())
    }
}

/// Returns the address in the form every mail server accepts: an internationalized domain in its ASCII form.
fn address(of: &Email) -> Result<Address, String> {
    let cannot = |error: &dyn std::fmt::Display| format!("the address is not valid: {error}");
    let (local, domain) = of.as_str().rsplit_once('@').ok_or_else(|| cannot(&"no domain"))?;
    let domain = idna::domain_to_ascii(domain).map_err(|error| cannot(&error))?;
    Address::new(local, domain).map_err(|error| cannot(&error))
}

#[async_trait]
impl PasswordSender for Mailer {
    async fn email_password(&self, to: &Email, login: &Login, password: &SecretString) -> Result<(), SendError> {
        let password = password.expose_secret();
        let text = format!(
            "{password}\n\n\
             Это временный пароль для логина {login}. Он действует один час; после входа с ним он становится вашим \
             паролем. Прежний пароль до тех пор остаётся в силе. Если вы его не запрашивали, ничего не делайте.\n\n\
             This is a temporary password for the login {login}, valid for one hour; once you sign in with it, it is \
             your password. Until then the old one stays valid. If you did not ask for it, do nothing.\n"
        );
        self.send(to, "Временный пароль / Your temporary password", text).await
    }
}

/// Maximum tasks listed in a mail; the rest is counted.
const MAX_TASKS: usize = 50;

fn about(task: &TaskLine) -> String {
    let (russian, english) = match task.news {
        TaskNotice::Assigned => ("поручена вам", "assigned to you"),
        TaskNotice::Moved => ("новый срок", "another deadline"),
        TaskNotice::Closed => ("закрыта", "closed"),
    };
    let deadline = task.deadline.map(|at| at.format("срок / deadline: %Y-%m-%d %H:%M UTC\n").to_string());
    let (number, title, status, deadline) = (task.id, &task.title, &task.status, deadline.unwrap_or_default());
    format!("{number}. {title}\n{russian} / {english}; статус / status: {status}\n{deadline}")
}

#[async_trait]
impl TaskMailSender for Mailer {
    async fn email_tasks(&self, to: &Email, tasks: &[TaskLine]) -> Result<(), SendError> {
        let mut text: Vec<String> = tasks.iter().take(MAX_TASKS).map(about).collect();
        let more = tasks.len().saturating_sub(MAX_TASKS);
        if more > 0 {
            text.push(format!("И ещё / And {more}\n"));
        }
        self.send(to, &format!("Задачи: {0} / Tasks: {0}", tasks.len()), text.join("\n")).await
    }
}

/// Maximum calls listed in a mail; the rest is counted.
const MAX_CALLS: usize = 20;

/// Describes a call. The link leads to a page that needs a login: it holds no secret.
fn waiting(call: &WaitingCall, inbox: Option<&str>) -> String {
    let WaitingCall { public_id, agent, operation, expires_at } = call;
    let link = inbox.map(|inbox| format!("{inbox}/{public_id}\n")).unwrap_or_default();
    let until = expires_at.format("%Y-%m-%d %H:%M UTC");
    format!("{agent}: {operation}\nподтвердить до / approve until: {until}\n{link}")
}

#[async_trait]
impl ApprovalMailSender for Mailer {
    async fn email_approvals(&self, to: &Email, calls: &[WaitingCall], inbox: Option<String>) -> Result<(), SendError> {
        let mut text: Vec<String> = calls.iter().take(MAX_CALLS).map(|call| waiting(call, inbox.as_deref())).collect();
        let more = calls.len().saturating_sub(MAX_CALLS);
        if more > 0 {
            text.push(format!("И ещё / And {more}\n"));
        }
        let list = inbox.unwrap_or_else(|| "консоль, «Вызовы агентов» / staff console, \"Agents' calls\"".to_owned());
        text.push(format!("Все вызовы / All calls: {list}\n"));
        self.send(to, &format!("Вызовы агентов: {0} / Agents' calls to approve: {0}", calls.len()), text.join("\n"))
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_valid_address_can_receive_mail() {
        for (text, written) in [
            ("ivan@пример.рф", "ivan@xn--e1afmkfd.xn--p1ai"),
            ("Anna.K+shop@Example.com", "anna.k+shop@example.com"),
            ("o'neil_{x}=!#$%&*/?^`|~-@x-1.ru", "o'neil_{x}=!#$%&*/?^`|~-@x-1.ru"),
            ("иван@xn--e1afmkfd.xn--p1ai", "иван@xn--e1afmkfd.xn--p1ai"),
            ("a@1.2.3.4", "a@1.2.3.4"),
        ] {
            assert_eq!(address(&Email::parse(text).unwrap()).unwrap().to_string(), written, "{text}");
        }
    }
}
