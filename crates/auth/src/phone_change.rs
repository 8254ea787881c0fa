use std::net::IpAddr;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{Clock, CounterpartyId, CustomerScope, Phone, ProjectId, Random, SecretCipher};

use crate::PhoneChangeError;
use crate::model::code::{self, OWN_DIGITS};
use crate::model::{CODE_ATTEMPTS, CODE_LIFETIME, NewCode};
use crate::ports::{CodeSender, PhoneRepository};

/// Returns the stored form of a code for a new phone. It is bound to the customer and to this purpose: such a code
/// cannot sign in, and a login code cannot change a phone.
fn fingerprint(
    cipher: &dyn SecretCipher,
    project: ProjectId,
    customer: CounterpartyId,
    phone: &Phone,
    code: &str,
) -> String {
    cipher.keyed_fingerprint(&format!("phone-change:{project}:{customer}:{phone}"), code)
}

/// Owner of a phone, from the view of a customer who wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhoneOwnership {
    /// No customer has it.
    Free,
    /// It is the customer's own first phone.
    Own,
    /// Another customer of the project signs in with it, or has it as first phone.
    Taken,
}

/// Code that was sent to the new phone of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPhoneCode {
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Customer.
    pub customer: CounterpartyId,
    /// New phone.
    pub phone: Phone,
    /// Code.
    pub code: NewCode,
}

/// Attempt to prove possession of a phone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneChangeAttempt {
    /// Project of the customer.
    pub project_id: ProjectId,
    /// Customer.
    pub customer: CounterpartyId,
    /// Phone to which the code was sent.
    pub phone: Phone,
    /// Keyed fingerprint of the entered code.
    pub fingerprint: String,
    /// Time of the attempt.
    pub at: DateTime<Utc>,
}

/// Outcome of the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhoneChangeOutcome {
    /// The phone is changed: the customer signs in with it and no longer with the previous one.
    Changed,
    /// Wrong code; the number of remaining attempts is reduced.
    WrongCode,
    /// No valid code for this phone and customer: it was not requested, was used, has expired or has no attempts left.
    NoValidCode,
    /// Another customer took the phone in the meantime.
    Taken,
    /// The customer was deleted.
    CustomerDeleted,
}

/// Change of a customer's phone in two steps: a code is sent to the new phone, and the customer enters it.
pub struct PhoneChange {
    /// Storage of phones.
    pub phones: Arc<dyn PhoneRepository>,
    /// Sends codes to customers.
    pub sender: Arc<dyn CodeSender>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random secrets.
    pub random: Arc<dyn Random>,
    /// Computes fingerprints of secrets.
    pub cipher: Arc<dyn SecretCipher>,
}

impl PhoneChange {
    /// Sends a code to the new phone. Refuses a phone of another customer of the project.
    pub async fn request(
        &self,
        customer: CustomerScope,
        phone: &Phone,
        ip: Option<IpAddr>,
    ) -> Result<(), PhoneChangeError> {
        let (project_id, id) = (customer.app.project_id, customer.counterparty_id);
        match self.phones.phone_ownership(project_id, id, phone).await? {
            PhoneOwnership::Free => {}
            PhoneOwnership::Own => return Err(PhoneChangeError::Unchanged),
            PhoneOwnership::Taken => return Err(PhoneChangeError::Taken),
        }
        let own = self.random.digits(OWN_DIGITS);
        let sent = code::checked(self.sender.code_to_phone(phone, &own, ip).await?)?;
        let now = self.clock.now();
        let code = NewCode {
            fingerprint: fingerprint(&*self.cipher, project_id, id, phone, &sent),
            attempts: CODE_ATTEMPTS,
            created_at: now,
            expires_at: now + CODE_LIFETIME,
        };
        let code = NewPhoneCode { project_id, customer: id, phone: phone.clone(), code };
        if self.phones.store_code(code).await? { Ok(()) } else { Err(PhoneChangeError::CustomerDeleted) }
    }

    /// Changes the phone if the code is right.
    pub async fn verify(&self, customer: CustomerScope, phone: &Phone, code: &str) -> Result<(), PhoneChangeError> {
        let (project_id, id) = (customer.app.project_id, customer.counterparty_id);
        let attempt = PhoneChangeAttempt {
            project_id,
            customer: id,
            phone: phone.clone(),
            fingerprint: fingerprint(&*self.cipher, project_id, id, phone, code.trim()),
            at: self.clock.now(),
        };
        match self.phones.change_phone(attempt).await? {
            PhoneChangeOutcome::Changed => Ok(()),
            PhoneChangeOutcome::WrongCode => Err(PhoneChangeError::WrongCode),
            PhoneChangeOutcome::NoValidCode => Err(PhoneChangeError::CodeNotRequested),
            PhoneChangeOutcome::Taken => Err(PhoneChangeError::Taken),
            PhoneChangeOutcome::CustomerDeleted => Err(PhoneChangeError::CustomerDeleted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::{MockCodeSender, MockPhoneRepository, SendError};
    use chrono::TimeDelta;
    use kontor_kernel::FixedClock;
    use kontor_kernel::testing::{CountingRandom, PlainCipher, app_scope, customer_scope};

    fn customer() -> CustomerScope {
        customer_scope(app_scope(2, 8))
    }

    fn phone() -> Phone {
        Phone::parse("79007654321").unwrap()
    }

    fn change(phones: MockPhoneRepository, sender: MockCodeSender) -> PhoneChange {
        PhoneChange {
            phones: Arc::new(phones),
            sender: Arc::new(sender),
            clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)),
            random: Arc::new(CountingRandom::new()),
            cipher: Arc::new(PlainCipher),
        }
    }

    fn phone_ownership(standing: PhoneOwnership) -> MockPhoneRepository {
        let mut phones = MockPhoneRepository::new();
        phones.expect_phone_ownership().returning(move |_, _, _| Ok(standing));
        phones
    }

    #[tokio::test]
    async fn a_code_is_bound_to_the_customer_the_phone_and_the_purpose() {
        let mut sender = MockCodeSender::new();
        sender.expect_code_to_phone().once().returning(|_, _, _| Ok("0042".to_owned()));
        let mut phones = phone_ownership(PhoneOwnership::Free);
        phones
            .expect_store_code()
            .withf(|stored| {
                stored.code.fingerprint == "plain:phone-change:2:4:79007654321:0042"
                    && stored.code.expires_at == DateTime::UNIX_EPOCH + TimeDelta::minutes(5)
                    && (stored.code.attempts, stored.customer.get()) == (5, 4)
            })
            .once()
            .returning(|_| Ok(true));
        change(phones, sender).request(customer(), &phone(), None).await.unwrap();
    }

    #[tokio::test]
    async fn no_code_is_sent_to_a_phone_of_another_customer() {
        let own = change(phone_ownership(PhoneOwnership::Own), MockCodeSender::new());
        assert!(matches!(own.request(customer(), &phone(), None).await, Err(PhoneChangeError::Unchanged)));
        let taken = change(phone_ownership(PhoneOwnership::Taken), MockCodeSender::new());
        assert!(matches!(taken.request(customer(), &phone(), None).await, Err(PhoneChangeError::Taken)));
    }

    #[tokio::test]
    async fn an_unsent_code_is_not_recorded() {
        for answer in [Err(SendError::Refused("no money".to_owned())), Ok("call me".to_owned())] {
            let mut sender = MockCodeSender::new();
            sender.expect_code_to_phone().returning(move |_, _, _| answer.clone());
            let refused =
                change(phone_ownership(PhoneOwnership::Free), sender).request(customer(), &phone(), None).await;
            assert!(matches!(refused, Err(PhoneChangeError::CodeNotSent(_))));
        }
    }

    #[tokio::test]
    async fn refusals_are_distinguished() {
        let refused = async |answer: PhoneChangeOutcome| {
            let mut phones = MockPhoneRepository::new();
            phones
                .expect_change_phone()
                .withf(|tried| tried.fingerprint.ends_with(":79007654321:0042"))
                .returning(move |_| Ok(answer));
            change(phones, MockCodeSender::new()).verify(customer(), &phone(), " 0042 ").await
        };
        assert!(refused(PhoneChangeOutcome::Changed).await.is_ok());
        assert!(matches!(refused(PhoneChangeOutcome::WrongCode).await, Err(PhoneChangeError::WrongCode)));
        assert!(matches!(refused(PhoneChangeOutcome::NoValidCode).await, Err(PhoneChangeError::CodeNotRequested)));
        assert!(matches!(refused(PhoneChangeOutcome::Taken).await, Err(PhoneChangeError::Taken)));
        assert!(matches!(refused(PhoneChangeOutcome::CustomerDeleted).await, Err(PhoneChangeError::CustomerDeleted)));
    }
}
