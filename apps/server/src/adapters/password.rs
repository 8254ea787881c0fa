use std::sync::Arc;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::password_hash::{Error, PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use async_trait::async_trait;
use kontor_auth::ports::{HashingFailed, PasswordHasher};
use kontor_kernel::{ExposeSecret, Random, SecretString};
use tokio::sync::Semaphore;

/// Argon2id with the library's recommended costs (19 MiB, two passes), on threads for blocking work. Only one hash per
/// core runs at a time, so that a flood of logins exhausts neither memory nor request threads.
pub struct Argon2Passwords {
    shared: Arc<Shared>,
    permits: Arc<Semaphore>,
    random: Arc<dyn Random>,
}

struct Shared {
    argon2: Argon2<'static>,
    /// Hash for the comparison if the account is unknown.
    stand_in: String,
}

const SALT_BYTES: usize = 16;

fn failed(error: impl std::fmt::Display) -> HashingFailed {
    HashingFailed(error.to_string())
}

impl Shared {
    fn hash(&self, password: &str, salt: &[u8]) -> Result<String, HashingFailed> {
        let hash: PasswordHash = self.argon2.hash_password_with_salt(password.as_bytes(), salt).map_err(failed)?;
        Ok(hash.to_string())
    }

    fn matches(&self, password: &str, hash: &str) -> Result<bool, HashingFailed> {
        match self.argon2.verify_password(password.as_bytes(), &PasswordHash::new(hash).map_err(failed)?) {
            Ok(()) => Ok(true),
            Err(Error::PasswordInvalid) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    fn verify(&self, password: &str, hash: Option<&str>) -> Result<bool, HashingFailed> {
        let known = hash.filter(|hash| PasswordHash::new(hash).is_ok());
        let same = self.matches(password, known.unwrap_or(&self.stand_in))?;
        Ok(same && known.is_some())
    }
}

/// Returns random bytes in the form of a hash with these costs. The comparison takes as long as with a real hash, and
/// no known password matches.
fn stand_in(argon2: &Argon2<'_>, random: &dyn Random) -> Result<String, HashingFailed> {
    let (mut salt, mut output) = ([0; SALT_BYTES], [0; Params::DEFAULT_OUTPUT_LEN]);
    random.fill(&mut salt);
    random.fill(&mut output);
    let hash = PasswordHash {
        algorithm: Algorithm::default().ident(),
        version: Some(Version::default().into()),
        params: ParamsString::try_from(argon2.params()).map_err(failed)?,
        salt: Some(Salt::new(&salt).map_err(failed)?),
        hash: Some(Output::new(&output).map_err(failed)?),
    };
    Ok(hash.to_string())
}

impl Argon2Passwords {
    /// Creates the hasher.
    pub fn new(random: Arc<dyn Random>) -> Result<Self, HashingFailed> {
        let argon2 = Argon2::default();
        let stand_in = stand_in(&argon2, &*random)?;
        let shared = Shared { argon2, stand_in };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self { shared: Arc::new(shared), permits: Arc::new(Semaphore::new(cores)), random })
    }

    async fn on_a_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<T, HashingFailed> + Send + 'static,
    ) -> Result<T, HashingFailed> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(failed)?;
        let shared = Arc::clone(&self.shared);
        let counted = move || {
            // The work continues without a waiting caller, and keeps its permit until it ends.
            let _permit = permit;
            work(&shared)
        };
        tokio::task::spawn_blocking(counted).await.map_err(failed)?
    }
}

#[async_trait]
impl PasswordHasher for Argon2Passwords {
    async fn hash(&self, password: &SecretString) -> Result<String, HashingFailed> {
        let mut salt = [0; SALT_BYTES];
        self.random.fill(&mut salt);
        let password = password.clone();
        self.on_a_thread(move |shared| shared.hash(password.expose_secret(), &salt)).await
    }

    async fn verify(&self, password: &SecretString, hash: Option<String>) -> Result<bool, HashingFailed> {
        let password = password.clone();
        self.on_a_thread(move |shared| shared.verify(password.expose_secret(), hash.as_deref())).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::testing::CountingRandom;

    #[tokio::test]
    async fn abandoned_work_counts_until_it_is_done() {
        let passwords = Argon2Passwords::new(Arc::new(CountingRandom::new())).unwrap();
        let all = passwords.permits.available_permits();
        let (started, begun) = tokio::sync::oneshot::channel();
        let (finish, finished) = std::sync::mpsc::channel::<()>();
        let work = passwords.on_a_thread(move |_| {
            started.send(()).unwrap();
            finished.recv().unwrap();
            Ok(())
        });
        tokio::select! {
            _ = work => panic!("it waits to be told"),
            _ = begun => {}
        }
        assert_eq!(passwords.permits.available_permits(), all - 1);
        finish.send(()).unwrap();
        drop(passwords.permits.acquire_many(u32::try_from(all).unwrap()).await.unwrap());
    }

    #[tokio::test]
    async fn a_password_opens_its_own_hash_only() {
        let passwords = Argon2Passwords::new(Arc::new(CountingRandom::new())).unwrap();
        let hash = passwords.hash(&"correct horse".into()).await.unwrap();
        let form = |hash: &str| hash.split('$').map(str::len).collect::<Vec<_>>();
        assert_eq!(form(&passwords.shared.stand_in), form(&hash), "as long a work as any other");
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_ne!(hash, passwords.hash(&"correct horse".into()).await.unwrap());
        assert!(passwords.verify(&"correct horse".into(), Some(hash.clone())).await.unwrap());
        assert!(!passwords.verify(&"correct house".into(), Some(hash)).await.unwrap());
        assert!(!passwords.verify(&"correct horse".into(), None).await.unwrap());
        assert!(!passwords.verify(&"none".into(), Some("none".to_owned())).await.unwrap());
    }
}
