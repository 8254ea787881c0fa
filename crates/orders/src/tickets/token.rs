use std::sync::Arc;

use kontor_kernel::{ExposeSecret as _, ProjectId, SecretCipher, SecretString};

use super::model::TicketReference;

/// Makes and reads the tokens of tickets: a random reference, which is stored, and a mark that only the service key makes
/// of it, which is not. So the owner is shown the same token for ever, whoever has the tables alone can make none, and what is
/// torn or foreign is known without a look into them.
#[derive(Clone)]
pub struct TicketTokens {
    /// Makes the marks.
    pub cipher: Arc<dyn SecretCipher>,
}

/// Lower hex, 4 bits each: 128 bits.
const MARK: usize = 32;

impl TicketTokens {
    /// The token of tickets of this project.
    pub fn token(&self, project: ProjectId, reference: &TicketReference) -> SecretString {
        format!("{}-{}", reference.as_str(), self.mark(project, reference)).into()
    }

    /// The reference in a token; `None` when the service has made no such token for the project.
    pub fn read(&self, project: ProjectId, token: &SecretString) -> Option<TicketReference> {
        let (reference, mark) = token.expose_secret().trim().split_once('-')?;
        let reference = TicketReference::parse(reference).ok()?;
        self.cipher.same(&self.mark(project, &reference), mark).then_some(reference)
    }

    /// What a token is known by again, without being one.
    pub fn fingerprint(&self, token: &SecretString) -> String {
        self.cipher.keyed_fingerprint("scanned ticket", token.expose_secret().trim())
    }

    fn mark(&self, project: ProjectId, reference: &TicketReference) -> String {
        let whole = self.cipher.keyed_fingerprint("ticket", &format!("{project}:{}", reference.as_str()));
        whole.chars().take(MARK).collect()
    }
}
