use kontor_adapter_messaging::{
    CallSettings, ClientError, CodeMessenger, FlashCalls, Mailer, MailerError, SmtpCredentials, SmtpSettings, SmtpTls,
};

use crate::config::{self, Config};

/// Why codes cannot be sent with this configuration.
#[derive(Debug, thiserror::Error)]
pub enum MessengerError {
    /// The HTTP client for calls cannot be built.
    #[error(transparent)]
    Calls(#[from] ClientError),
    /// The mailer cannot be built.
    #[error(transparent)]
    Mail(#[from] MailerError),
}

/// One-time codes by the configured telephony account and mail server.
pub fn messenger(config: &Config) -> Result<CodeMessenger, MessengerError> {
    let calls = CallSettings { base_url: config.telephony_url.clone(), api_id: config.telephony_api_id.clone() };
    let mail = SmtpSettings {
        host: config.smtp_host.clone(),
        port: config.smtp_port,
        tls: match config.smtp_tls {
            config::SmtpTls::None => SmtpTls::None,
            config::SmtpTls::Starttls => SmtpTls::StartTls,
            config::SmtpTls::Tls => SmtpTls::Tls,
        },
        credentials: (!config.smtp_user.is_empty())
            .then(|| SmtpCredentials { user: config.smtp_user.clone(), password: config.smtp_password.clone() }),
        from: config.smtp_from.clone(),
    };
    Ok(CodeMessenger::new(FlashCalls::new(calls)?, Mailer::new(mail)?))
}
