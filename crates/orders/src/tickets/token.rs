use std::sync::Arc;

use kontor_kernel::{ExposeSecret as _, ProjectId, SecretCipher, SecretString};

use super::model::TicketReference;

/// Creates and reads ticket tokens. A token is a random reference, which is stored, and a keyed mark, which is
/// not.
///
/// - The owner always gets the same token.
/// - The tables alone are not enough to create a token.
/// - A damaged or foreign token is detected without reading the tables.
#[derive(Clone)]
pub struct TicketTokens {
    /// Computes the marks.
    pub cipher: Arc<dyn SecretCipher>,
}

/// Length of the mark in lower-case hex, 4 bits each: 128 bits.
const SIGNATURE_LENGTH: usize = 32;

impl TicketTokens {
    /// Returns the token of tickets of this project.
    pub fn token(&self, project: ProjectId, reference: &TicketReference) -> SecretString {
        format!("{}-{}", reference.as_str(), self.signature(project, reference)).into()
    }

    /// Returns the reference in a token; `None` if the service created no such token for the project.
    pub fn read(&self, project: ProjectId, token: &SecretString) -> Option<TicketReference> {
        let (reference, mark) = token.expose_secret().trim().split_once('-')?;
        let reference = TicketReference::parse(reference).ok()?;
        self.cipher.same(&self.signature(project, &reference), mark).then_some(reference)
    }

    /// Returns a fingerprint that identifies a token without revealing it.
    pub fn fingerprint(&self, token: &SecretString) -> String {
        self.cipher.keyed_fingerprint("scanned ticket", token.expose_secret().trim())
    }

    fn signature(&self, project: ProjectId, reference: &TicketReference) -> String {
        let whole = self.cipher.keyed_fingerprint("ticket", &format!("{project}:{}", reference.as_str()));
        whole.chars().take(SIGNATURE_LENGTH).collect()
    }
}
