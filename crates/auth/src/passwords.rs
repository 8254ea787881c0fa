use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Clock, Email, Random, SecretCipher, SecretString, StoreError, UserId};

use crate::SendPasswordError;
use crate::model::Login;
use crate::ports::{PasswordHasher, PasswordRequests, PasswordSender, SendError, SignInAddresses};

/// Validity of a temporary password.
pub const TEMPORARY_PASSWORD_LIFETIME: TimeDelta = TimeDelta::hours(1);
/// Period in which sending a temporary password is retried before the request is discarded.
pub const PASSWORD_REQUEST_LIFETIME: TimeDelta = TimeDelta::minutes(15);

/// Request for a temporary password, leased to one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordRequest {
    /// Login; it may not exist.
    pub login: Login,
    /// Time of the request.
    pub requested_at: DateTime<Utc>,
    /// Number of attempts, including this one.
    pub attempts: u32,
}

/// Recipient of a temporary password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordRecipient {
    /// Employee.
    pub user_id: UserId,
    /// E-mail address.
    pub email: Email,
}

/// Temporary password to store. It replaces an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryPassword {
    /// Employee, and the address that the password is sent to.
    pub recipient: PasswordRecipient,
    /// Hash of the password.
    pub hash: String,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// End of validity.
    pub expires_at: DateTime<Utc>,
}

/// Length of a temporary password, in letters and digits: 95 bits.
const LENGTH: usize = 16;
/// Lease of a request; longer than sending a mail can take.
const LEASE: TimeDelta = TimeDelta::seconds(30);
/// Back-off before the second attempt, doubled with every further attempt.
const INITIAL_BACKOFF: TimeDelta = TimeDelta::seconds(30);
/// Maximum number of doublings. Requests are discarded long before.
const MAX_DOUBLINGS: u32 = 10;

fn pause_after(attempts: u32) -> TimeDelta {
    INITIAL_BACKOFF * (1 << attempts.saturating_sub(1).min(MAX_DOUBLINGS))
}

/// Outcome of one round.
#[derive(Debug, PartialEq, Eq)]
pub enum PasswordSendOutcome {
    /// No request is due.
    Idle,
    /// No employee who may sign in has this login, or the employee changed in the meantime.
    NoRecipient,
    /// The mail was sent.
    Sent,
    /// The mail was not sent. It is retried unless the server refused permanently.
    Failed(SendError),
    /// The request was retried for too long and is discarded.
    GivenUp,
}

/// Temporary passwords by e-mail. A request does the same for every login, known or not; the worker does the rest.
pub struct TemporaryPasswords {
    /// Storage of requests.
    pub requests: Arc<dyn PasswordRequests>,
    /// Hashes passwords.
    pub hasher: Arc<dyn PasswordHasher>,
    /// Sends passwords to employees.
    pub sender: Arc<dyn PasswordSender>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random secrets.
    pub random: Arc<dyn Random>,
}

impl TemporaryPasswords {
    /// Queues a request for a temporary password.
    pub async fn request(&self, login: &Login) -> Result<(), StoreError> {
        self.requests.enqueue(login, self.clock.now()).await
    }

    /// Processes the oldest request that is due. The password is stored before it is sent, so that a received password
    /// always works. A later password replaces it.
    /// `owner` must be unique to this process.
    pub async fn send_due(&self, owner: &str) -> Result<PasswordSendOutcome, SendPasswordError> {
        let now = self.clock.now();
        let leased = self.requests.lease(owner, now, now + LEASE).await?;
        let Some(request) = leased else { return Ok(PasswordSendOutcome::Idle) };
        if request.requested_at + PASSWORD_REQUEST_LIFETIME <= now {
            self.requests.forget(&request).await?;
            return Ok(PasswordSendOutcome::GivenUp);
        }
        let Some(recipient) = self.requests.recipient(&request.login).await? else {
            self.requests.forget(&request).await?;
            return Ok(PasswordSendOutcome::NoRecipient);
        };
        let password = SecretString::from(self.random.alphanumeric(LENGTH));
        let hash = self.hasher.hash(&password).await?;
        let (email, expires_at) = (recipient.email.clone(), now + TEMPORARY_PASSWORD_LIFETIME);
        if !self.requests.store(TemporaryPassword { recipient, hash, created_at: now, expires_at }).await? {
            // The next attempt reads the employee again.
            self.requests.postpone(&request, now).await?;
            return Ok(PasswordSendOutcome::NoRecipient);
        }
        let round = match self.sender.email_password(&email, &request.login, &password).await {
            Ok(()) => PasswordSendOutcome::Sent,
            Err(error @ SendError::Unavailable(_)) => {
                self.requests.postpone(&request, now + pause_after(request.attempts)).await?;
                return Ok(PasswordSendOutcome::Failed(error));
            }
            Err(error @ SendError::Refused(_)) => PasswordSendOutcome::Failed(error),
        };
        self.requests.forget(&request).await?;
        Ok(round)
    }
}

/// Addresses from which employees have signed in. An attacker who guesses passwords cannot lock an employee out there.
///
/// Only keyed hashes are stored: neither a login nor an address can be read from them.
pub struct KnownAddresses {
    /// Storage of the addresses.
    pub addresses: Arc<dyn SignInAddresses>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Computes the keyed hashes.
    pub cipher: Arc<dyn SecretCipher>,
}

impl KnownAddresses {
    /// `true` if the login was used successfully from this address.
    pub async fn knows(&self, login: &Login, address: &str) -> Result<bool, StoreError> {
        self.addresses.contains(&self.fingerprint(login, address)).await
    }

    /// Records that the login was used successfully from this address.
    pub async fn remember(&self, login: &Login, address: &str) -> Result<(), StoreError> {
        self.addresses.remember(&self.fingerprint(login, address), self.clock.now()).await
    }

    fn fingerprint(&self, login: &Login, address: &str) -> String {
        self.cipher.keyed_fingerprint("address of a sign-in", &format!("{}\n{address}", login.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use kontor_kernel::testing::{CountingRandom, PlainCipher};
    use kontor_kernel::{ExposeSecret, FixedClock};

    use super::*;
    use crate::ports::{MockPasswordHasher, MockPasswordRequests, MockPasswordSender, MockSignInAddresses};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn requests(asked_at: DateTime<Utc>, known: bool, forgotten: usize) -> MockPasswordRequests {
        let mut requests = MockPasswordRequests::new();
        let login = Login::parse("anna").unwrap();
        let request = PasswordRequest { login, requested_at: asked_at, attempts: 1 };
        requests.expect_lease().returning(move |_, _, _| Ok(Some(request.clone())));
        requests.expect_recipient().returning(move |_| {
            let email = Email::parse("anna@x.ru").unwrap();
            Ok(known.then(|| PasswordRecipient { user_id: UserId::new(3).unwrap(), email }))
        });
        requests.expect_forget().times(forgotten).returning(|_| Ok(()));
        requests
    }

    async fn round(requests: MockPasswordRequests, sender: MockPasswordSender) -> PasswordSendOutcome {
        let mut hasher = MockPasswordHasher::new();
        hasher.expect_hash().returning(|password| Ok(format!("hash of {}", password.expose_secret())));
        let (clock, random) = (Arc::new(FixedClock::at(NOW)), Arc::new(CountingRandom::new()));
        let (requests, hasher, sender) = (Arc::new(requests), Arc::new(hasher), Arc::new(sender));
        TemporaryPasswords { requests, hasher, sender, clock, random }.send_due("me").await.unwrap()
    }

    #[tokio::test]
    async fn a_password_is_stored_for_an_hour_and_sent() {
        let mut requests = requests(NOW, true, 1);
        requests
            .expect_store()
            .withf(|stored| {
                (stored.hash.as_str(), stored.recipient.email.as_str()) == ("hash of ABCDEFGHIJKLMNOP", "anna@x.ru")
                    && stored.expires_at == NOW + TimeDelta::hours(1)
            })
            .once()
            .returning(|_| Ok(true));
        let mut sender = MockPasswordSender::new();
        sender
            .expect_email_password()
            .withf(|to, login, password| {
                to.as_str() == "anna@x.ru" && login.as_str() == "anna" && password.expose_secret().len() == LENGTH
            })
            .once()
            .returning(|_, _, _| Ok(()));
        assert_eq!(round(requests, sender).await, PasswordSendOutcome::Sent);
    }

    #[tokio::test]
    async fn unknown_logins_and_expired_requests_get_no_mail() {
        assert_eq!(round(requests(NOW, false, 1), MockPasswordSender::new()).await, PasswordSendOutcome::NoRecipient);
        let old = NOW - PASSWORD_REQUEST_LIFETIME;
        assert_eq!(round(requests(old, true, 1), MockPasswordSender::new()).await, PasswordSendOutcome::GivenUp);
    }

    #[tokio::test]
    async fn an_employee_who_changed_meanwhile_gets_no_mail_yet() {
        let mut requests = requests(NOW, true, 0);
        requests.expect_store().once().returning(|_| Ok(false));
        requests.expect_postpone().withf(|_, next| *next == NOW).once().returning(|_, _| Ok(()));
        assert_eq!(round(requests, MockPasswordSender::new()).await, PasswordSendOutcome::NoRecipient);
    }

    #[test]
    fn pauses_double_up_to_a_limit() {
        let pauses = [1, 2, 3, 11, 12, u32::MAX].map(|attempts| pause_after(attempts).num_seconds());
        assert_eq!(pauses, [30, 60, 120, 30_720, 30_720, 30_720]);
    }

    #[tokio::test]
    async fn a_mail_that_may_yet_be_sent_is_kept() {
        for (error, forgotten) in
            [(SendError::Unavailable("away".to_owned()), 0), (SendError::Refused("unknown".to_owned()), 1)]
        {
            let mut requests = requests(NOW, true, forgotten);
            requests.expect_store().returning(|_| Ok(true));
            let again = |request: &PasswordRequest, next: &DateTime<Utc>| {
                (request.attempts, *next) == (1, NOW + INITIAL_BACKOFF)
            };
            requests.expect_postpone().withf(again).times(1 - forgotten).returning(|_, _| Ok(()));
            let mut sender = MockPasswordSender::new();
            let answer = error.clone();
            sender.expect_email_password().returning(move |_, _, _| Err(answer.clone()));
            assert_eq!(round(requests, sender).await, PasswordSendOutcome::Failed(error));
        }
    }

    #[tokio::test]
    async fn an_address_is_known_for_the_login_that_was_used_there() {
        let kept = Arc::new(Mutex::new(BTreeSet::new()));
        let (read, written) = (Arc::clone(&kept), kept);
        let mut addresses = MockSignInAddresses::new();
        addresses.expect_contains().returning(move |fingerprint| Ok(read.lock().unwrap().contains(fingerprint)));
        addresses.expect_remember().withf(|_, at| *at == DateTime::UNIX_EPOCH).returning(move |fingerprint, _| {
            written.lock().unwrap().insert(fingerprint.to_owned());
            Ok(())
        });
        let known = KnownAddresses {
            addresses: Arc::new(addresses),
            clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
            cipher: Arc::new(PlainCipher),
        };
        let (anna, boris) = (Login::parse("anna").unwrap(), Login::parse("boris").unwrap());
        assert!(!known.knows(&anna, "203.0.113.7").await.unwrap());
        known.remember(&anna, "203.0.113.7").await.unwrap();
        let has_signed_in = async |login, address| known.knows(login, address).await.unwrap();
        assert!(has_signed_in(&anna, "203.0.113.7").await);
        assert!(!has_signed_in(&boris, "203.0.113.7").await && !has_signed_in(&anna, "203.0.113.8").await);
    }
}
