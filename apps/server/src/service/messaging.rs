//! Adapters of outgoing messages from the configuration: webhook deliveries, calls and e-mails.

use kontor_adapter_messaging::{
    CallChecks, CallSettings, ClientError, CodeMessenger, FlashCalls, Mailer, MailerError, PhoneCodes, SmsCodes,
    SmtpCredentials, SmtpSettings, SmtpTls,
};
use kontor_webhooks::model::OutboundPolicy;

use crate::config::{self, Config};

/// Reason why messages cannot be sent with this configuration.
#[derive(Debug, thiserror::Error)]
pub enum MessagingError {
    /// The HTTP client cannot be created.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The mailer cannot be created.
    #[error(transparent)]
    Mailer(#[from] MailerError),
}

/// Returns the policy for webhook targets.
pub fn outbound_policy(config: &Config) -> OutboundPolicy {
    if config.webhook_allow_internal { OutboundPolicy::unrestricted() } else { OutboundPolicy::default() }
}

fn telephony(config: &Config) -> CallSettings {
    CallSettings { base_url: config.telephony_url.clone(), api_id: config.telephony_api_id.clone() }
}

/// Returns the adapter that verifies phones by an incoming call.
pub fn call_checks(config: &Config) -> Result<CallChecks, MessagingError> {
    Ok(CallChecks::new(telephony(config))?)
}

/// Returns the adapter that sends one-time codes to customers.
pub fn code_messenger(config: &Config) -> Result<CodeMessenger, MessagingError> {
    let phones = match config.phone_codes {
        config::PhoneCodes::Call => PhoneCodes::Calls(FlashCalls::new(telephony(config))?),
        config::PhoneCodes::Sms => PhoneCodes::Sms(SmsCodes::new(telephony(config))?),
    };
    Ok(CodeMessenger::new(phones, mailer(config)?))
}

/// Returns the adapter that sends e-mails.
pub fn mailer(config: &Config) -> Result<Mailer, MessagingError> {
    let account = SmtpCredentials { user: config.smtp_user.clone(), password: config.smtp_password.clone() };
    let mail = SmtpSettings {
        host: config.smtp_host.clone(),
        port: config.smtp_port,
        tls: match config.smtp_tls {
            config::SmtpTls::None => SmtpTls::None,
            config::SmtpTls::Starttls => SmtpTls::StartTls,
            config::SmtpTls::Tls => SmtpTls::Tls,
        },
        credentials: (!account.user.is_empty()).then_some(account),
        from: config.smtp_from.clone(),
    };
    Ok(Mailer::new(mail)?)
}
