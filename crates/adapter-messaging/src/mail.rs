//! One-time codes, temporary passwords and news of tasks by e-mail, over SMTP.

use std::time::Duration;

use async_trait::async_trait;
use kontor_auth::model::Login;
use kontor_auth::ports::PasswordSender;
use kontor_kernel::{Email, ExposeSecret, SecretString, SendError};
use kontor_organization::model::{TaskLine, TaskNews};
use kontor_organization::ports::TaskMailSender;
use lettre::Address;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::TlsParameters;

use crate::smtp::{MailServer, Protection, TlsFromTheStart};

const WHOLE: Duration = Duration::from_secs(15);

/// How the connection to the mail server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpTls {
    /// Not at all.
    None,
    /// By `STARTTLS`, and no mail without it.
    StartTls,
    /// From the first byte.
    Tls,
}

/// An account at the mail server.
#[derive(Debug, Clone)]
pub struct SmtpCredentials {
    /// The user name.
    pub user: String,
    /// The password.
    pub password: SecretString,
}

/// Through which server mail is sent, and from whom.
#[derive(Debug, Clone)]
pub struct SmtpSettings {
    /// The server's name, which its certificate must carry.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is protected.
    pub tls: SmtpTls,
    /// The account; without it the server must take mail from anybody.
    pub credentials: Option<SmtpCredentials>,
    /// The sender, `address@domain` or `Name <address@domain>`.
    pub from: String,
}

/// Why there is no mailer.
#[derive(Debug, thiserror::Error)]
pub enum MailerError {
    /// The sender is not an address.
    #[error("`{0}` is not an e-mail address to send from")]
    From(String),
    /// The server's name cannot be in a certificate, or the machine has no certificate authorities.
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
    /// A mailer; nothing is connected yet.
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
        Ok(Self { server: MailServer { host, port, protection, credentials }, from, whole: WHOLE })
    }

    /// The same mailer with another limit for a whole message.
    #[must_use]
    pub fn with_timeout(self, whole: Duration) -> Self {
        Self { whole, ..self }
    }

    /// Sends a one-time code. `Ok` means that the server has taken the message.
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

/// The address as every mail server takes it: a domain in national letters in its ASCII form.
fn address(of: &Email) -> Result<Address, String> {
    let cannot = |error: &dyn std::fmt::Display| format!("the address cannot be written to: {error}");
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

/// Tasks of a mail that are written out; the rest is counted.
const MOST_TASKS: usize = 50;

fn about(task: &TaskLine) -> String {
    let (russian, english) = match task.news {
        TaskNews::Assigned => ("поручена вам", "assigned to you"),
        TaskNews::Moved => ("новый срок", "another deadline"),
        TaskNews::Closed => ("закрыта", "closed"),
    };
    let deadline = task.deadline.map(|at| at.format("срок / deadline: %Y-%m-%d %H:%M UTC\n").to_string());
    let (number, title, status, deadline) = (task.id, &task.title, &task.status, deadline.unwrap_or_default());
    format!("{number}. {title}\n{russian} / {english}; статус / status: {status}\n{deadline}")
}

#[async_trait]
impl TaskMailSender for Mailer {
    async fn email_tasks(&self, to: &Email, tasks: &[TaskLine]) -> Result<(), SendError> {
        let mut text: Vec<String> = tasks.iter().take(MOST_TASKS).map(about).collect();
        let more = tasks.len().saturating_sub(MOST_TASKS);
        if more > 0 {
            text.push(format!("И ещё / And {more}\n"));
        }
        self.send(to, &format!("Задачи: {0} / Tasks: {0}", tasks.len()), text.join("\n")).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_an_address_can_be_written_to() {
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
