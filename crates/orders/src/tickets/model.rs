use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::Random;

/// Random part of the token of an order's tickets. It alone is not valid: the token also has a keyed mark that
/// only the service key can compute.
#[derive(Clone, PartialEq, Eq)]
pub struct TicketReference(String);

/// Error for a text that is no reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a ticket reference")]
pub struct InvalidReference;

impl TicketReference {
    /// Length in letters and digits, 5.95 bits each: 131 bits.
    pub const LENGTH: usize = 22;

    /// Generates a reference.
    pub fn generate(random: &dyn Random) -> Self {
        Self(random.alphanumeric(Self::LENGTH))
    }

    /// Parses a stored reference, or the one in a token.
    pub fn parse(text: &str) -> Result<Self, InvalidReference> {
        let fits = text.len() == Self::LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidReference) }
    }

    /// Text of the reference.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TicketReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TicketReference(..)")
    }
}

/// Tickets of an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tickets {
    /// Reference of the tickets; `None` for an order without tickets, and for a deleted customer.
    pub reference: Option<TicketReference>,
    /// Number of tickets, less those taken back.
    pub total: u32,
    /// Number of redeemed tickets.
    pub redeemed: u32,
    /// Time of the last redemption.
    pub last_redeemed_at: Option<DateTime<Utc>>,
}

impl Tickets {
    /// Number of tickets that can still be redeemed.
    pub fn left(&self) -> u32 {
        self.total.saturating_sub(self.redeemed)
    }
}
