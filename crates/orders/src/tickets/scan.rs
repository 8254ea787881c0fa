use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::{AccessDenied, OrderId, Quantity, SecretString, ShopId, Stamp, StoreError, TicketScanId, UserId};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::judge::TicketTerms;
use super::model::TicketReference;
use crate::model::Named;

/// What a scanner calls a scan, once and for all: 1 to 64 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScanId(String);

/// A text that names no scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to {} visible ASCII characters", ScanId::MAX)]
pub struct InvalidScanId;

impl ScanId {
    /// The longest.
    pub const MAX: usize = 64;

    /// Checks a text.
    pub fn parse(text: &str) -> Result<Self, InvalidScanId> {
        let fits = (1..=Self::MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidScanId) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ScanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A scan of a ticket at the door.
#[derive(Debug, Clone)]
pub struct Scan {
    /// What the scanner calls it.
    pub id: ScanId,
    /// What was read.
    pub token: SecretString,
    /// How many people come in.
    pub quantity: Quantity,
    /// Where the door is.
    pub shop: Option<ShopId>,
    /// When it was scanned; `None` for now.
    pub at: Option<DateTime<Utc>>,
}

/// A scan whose token was looked at.
#[derive(Debug, Clone)]
pub struct ReadScan {
    /// As it came.
    pub scan: Scan,
    /// The tickets it means; `None` for a token that the service never made.
    pub reference: Option<TicketReference>,
    /// What its token is known by again.
    pub fingerprint: String,
    /// When it was scanned.
    pub at: DateTime<Utc>,
}

/// Scans to be judged in this order.
#[derive(Debug, Clone)]
pub struct ScanBatch {
    /// Who brings them, and when.
    pub stamp: Stamp,
    /// The scans.
    pub scans: Vec<ReadScan>,
    /// By what they are judged.
    pub terms: TicketTerms,
}

/// What became of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ScanOutcome {
    /// The people come in.
    Admitted,
    /// No ticket of the project.
    Unknown,
    /// The order is canceled, or its money or its tickets have gone back.
    Canceled,
    /// The order is not paid.
    Unpaid,
    /// Every ticket has been redeemed.
    AlreadyRedeemed,
    /// Fewer tickets are left.
    TooMany,
    /// The order is for another shop.
    OtherShop,
    /// The scan lies in the future, or before the payment.
    NotYet,
    /// The scan or the ticket is too old.
    Expired,
}

/// The entry that a refused scan came too late for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierScan {
    /// When it was scanned.
    pub at: DateTime<Utc>,
    /// Where, if the scanner said so.
    pub shop: Option<Named<ShopId>>,
}

/// A scan that was judged. It never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptScan {
    /// Its number.
    pub id: TicketScanId,
    /// What the scanner calls it.
    pub scan_id: ScanId,
    /// The order of the tickets, where they are known.
    pub order: Option<OrderId>,
    /// How many people were to come in.
    pub quantity: Quantity,
    /// Where.
    pub shop: Option<Named<ShopId>>,
    /// When it was scanned.
    pub at: DateTime<Utc>,
    /// When it was judged.
    pub received_at: DateTime<Utc>,
    /// Who brought it.
    pub user: UserId,
    /// What became of it.
    pub outcome: ScanOutcome,
    /// How many tickets of the order were redeemed then, those of this scan among them.
    pub redeemed: u32,
    /// How many tickets the order had then.
    pub total: u32,
    /// The last entry before a scan that came too late.
    pub earlier: Option<EarlierScan>,
}

/// What is answered to a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanAnswer {
    /// It was judged, now or before: the same scan has the same answer.
    Kept(Box<KeptScan>),
    /// Another scan has this name. Nothing was written.
    Reused,
    /// The project has no such shop. Nothing was written.
    UnknownShop,
}

/// Why scans are not judged at all.
#[derive(Debug, thiserror::Error)]
pub enum ScanRefused {
    /// The employee may not.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
