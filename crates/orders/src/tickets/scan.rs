use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::{AccessDenied, OrderId, Quantity, SecretString, ShopId, Stamp, StoreError, TicketScanId, UserId};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::model::TicketReference;
use super::validation::TicketTerms;
use crate::model::Named;

/// Permanent identifier of a scan, chosen by the scanner: 1 to 64 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScanId(String);

/// Error for a text that is no scan identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to {} visible ASCII characters", ScanId::MAX)]
pub struct InvalidScanId;

impl ScanId {
    /// Maximum length.
    pub const MAX: usize = 64;

    /// Checks a text.
    pub fn parse(text: &str) -> Result<Self, InvalidScanId> {
        let fits = (1..=Self::MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(InvalidScanId) }
    }

    /// Text of the identifier.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ScanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Scan of a ticket at the door.
#[derive(Debug, Clone)]
pub struct Scan {
    /// Identifier chosen by the scanner.
    pub id: ScanId,
    /// Scanned token.
    pub token: SecretString,
    /// Number of people to admit.
    pub quantity: Quantity,
    /// Shop of the door.
    pub shop: Option<ShopId>,
    /// Time of the scan; `None` for now.
    pub at: Option<DateTime<Utc>>,
}

/// Scan with a checked token.
#[derive(Debug, Clone)]
pub struct CheckedScan {
    /// Scan as received.
    pub scan: Scan,
    /// Reference in the token; `None` for a token that the service did not create.
    pub reference: Option<TicketReference>,
    /// Fingerprint of the token.
    pub fingerprint: String,
    /// Time of the scan.
    pub at: DateTime<Utc>,
}

/// Scans to judge, in this order.
#[derive(Debug, Clone)]
pub struct ScanBatch {
    /// Employee, project and time.
    pub stamp: Stamp,
    /// Scans.
    pub scans: Vec<CheckedScan>,
    /// Time limits.
    pub terms: TicketTerms,
}

/// Outcome of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum ScanOutcome {
    /// The people are admitted.
    Admitted,
    /// The project has no such ticket.
    Unknown,
    /// The order is canceled, or its money or its tickets were returned.
    Canceled,
    /// The order is not paid.
    Unpaid,
    /// Every ticket has been redeemed.
    AlreadyRedeemed,
    /// Fewer tickets are left.
    TooMany,
    /// The order is for another shop.
    OtherShop,
    /// The scan is in the future, or before the payment.
    NotYet,
    /// The scan or the ticket is too old.
    Expired,
}

/// Last admission before a scan that was refused for lack of tickets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierScan {
    /// Time of the scan.
    pub at: DateTime<Utc>,
    /// Shop, if the scanner sent one.
    pub shop: Option<Named<ShopId>>,
}

/// Judged scan. It never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredScan {
    /// Identifier.
    pub id: TicketScanId,
    /// Identifier chosen by the scanner.
    pub scan_id: ScanId,
    /// Order of the tickets, if known.
    pub order: Option<OrderId>,
    /// Number of people to admit.
    pub quantity: Quantity,
    /// Shop.
    pub shop: Option<Named<ShopId>>,
    /// Time of the scan.
    pub at: DateTime<Utc>,
    /// Time of the judgement.
    pub received_at: DateTime<Utc>,
    /// Employee who sent it.
    pub user: UserId,
    /// Outcome.
    pub outcome: ScanOutcome,
    /// Redeemed tickets of the order after this scan.
    pub redeemed: u32,
    /// Tickets of the order at that time.
    pub total: u32,
    /// Last admission, for a scan refused as [`ScanOutcome::AlreadyRedeemed`] or [`ScanOutcome::TooMany`].
    pub earlier: Option<EarlierScan>,
}

/// Answer to a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanAnswer {
    /// The scan was judged, now or before: the same scan always gets the same answer.
    Judged(Box<StoredScan>),
    /// Another scan has this identifier. Nothing was written.
    IdReused,
    /// The project has no such shop. Nothing was written.
    UnknownShop,
}

/// Errors of judging scans.
#[derive(Debug, thiserror::Error)]
pub enum ScanRefused {
    /// The employee lacks the permission.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// Storage error.
    #[error(transparent)]
    Store(#[from] StoreError),
}
