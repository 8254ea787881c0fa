use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::Random;

/// The random part of the token of an order's tickets. It alone opens nothing: the token is this with a mark that only the
/// service key makes.
#[derive(Clone, PartialEq, Eq)]
pub struct TicketReference(String);

/// A text that is no reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no reference of tickets")]
pub struct InvalidReference;

impl TicketReference {
    /// Letters and digits, 5.95 bits each: 131 bits.
    pub const LENGTH: usize = 22;

    /// A new one.
    pub fn draw(random: &dyn Random) -> Self {
        Self(random.alphanumeric(Self::LENGTH))
    }

    /// A stored one, or the one in a token.
    pub fn parse(text: &str) -> Result<Self, InvalidReference> {
        let fits = text.len() == Self::LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidReference) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TicketReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TicketReference(..)")
    }
}

/// The tickets of an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tickets {
    /// By what they are found; `None` of an order without tickets, and of a customer who has left.
    pub reference: Option<TicketReference>,
    /// How many there are, less those that were taken back.
    pub total: u32,
    /// How many have been redeemed.
    pub redeemed: u32,
    /// When the last one was.
    pub last_redeemed_at: Option<DateTime<Utc>>,
}

impl Tickets {
    /// How many can still be redeemed.
    pub fn left(&self) -> u32 {
        self.total.saturating_sub(self.redeemed)
    }
}
