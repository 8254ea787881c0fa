use std::sync::Arc;

use kontor_kernel::{Clock, SecretCipher, StoreError};

use crate::model::Login;
use crate::ports::SignInAddresses;

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

    use chrono::DateTime;
    use kontor_kernel::FixedClock;
    use kontor_kernel::testing::PlainCipher;

    use super::*;
    use crate::ports::MockSignInAddresses;

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
