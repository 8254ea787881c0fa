//! Tickets and the scans at the door.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use kontor_kernel::{
    AccessDenied, Clock, CustomerScope, ExposeSecret as _, Money, OrderId, Page, PageRequest, Permission, ProjectId,
    Quantity, Random, Resource, SecretCipher, SecretString, ShopId, Staff, Stamp, StoreError, TicketScanId, UserId,
};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::OrderError;
use crate::model::{Named, Order, OrderStatus};
use crate::ports::{OrderReader, TicketStore};

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

/// Time limits for scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketTerms {
    /// Tolerated error of a scanner's clock.
    pub skew: TimeDelta,
    /// Maximum delay of the upload of an offline scan.
    pub upload: TimeDelta,
    /// Validity of tickets after the payment.
    pub validity: TimeDelta,
}

impl Default for TicketTerms {
    /// Five minutes, thirty days, three years.
    fn default() -> Self {
        Self { skew: TimeDelta::minutes(5), upload: TimeDelta::days(30), validity: TimeDelta::days(3 * 365) }
    }
}

/// Fields of an order that decide about its tickets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketOrder {
    /// Status.
    pub status: OrderStatus,
    /// Price.
    pub price: Money,
    /// Time of the order.
    pub placed_at: DateTime<Utc>,
    /// Time at which the money arrived.
    pub paid_at: Option<DateTime<Utc>>,
    /// Amount received.
    pub captured: Money,
    /// Amount received that is neither refunded nor being refunded.
    pub kept: Money,
    /// Shop of the handover.
    pub shop: Option<ShopId>,
    /// Number of tickets, less those taken back.
    pub total: u32,
    /// Number of redeemed tickets.
    pub redeemed: u32,
}

impl From<&Order> for TicketOrder {
    fn from(order: &Order) -> Self {
        Self {
            status: order.status,
            price: order.amount_due(),
            placed_at: order.created_at,
            paid_at: order.paid_at,
            captured: order.captured,
            kept: order.left_to_refund(),
            shop: order.shop.as_ref().map(|shop| shop.id),
            total: order.tickets.total,
            redeemed: order.tickets.redeemed,
        }
    }
}

impl TicketOrder {
    /// Time from which its tickets are paid; a free order is paid from the start.
    fn settled_at(&self) -> Option<DateTime<Utc>> {
        if self.price.is_zero() { Some(self.placed_at) } else { self.paid_at }
    }

    /// Time from which its tickets are valid, or the reason why they never are.
    pub fn valid_from(&self) -> Result<DateTime<Utc>, ScanOutcome> {
        let returned = !self.captured.is_zero() && self.kept.is_zero();
        if self.status == OrderStatus::Canceled || returned || self.total == 0 {
            return Err(ScanOutcome::Canceled);
        }
        self.settled_at().ok_or(ScanOutcome::Unpaid)
    }

    /// Number of tickets that can still be redeemed.
    pub fn left(&self) -> u32 {
        self.total.saturating_sub(self.redeemed)
    }
}

/// Returns the outcome of a scan made at `at` and judged at `now`. `order` is `None` for an unknown token.
pub fn scan_outcome(
    order: Option<&TicketOrder>,
    quantity: Quantity,
    shop: Option<ShopId>,
    at: DateTime<Utc>,
    now: DateTime<Utc>,
    terms: &TicketTerms,
) -> ScanOutcome {
    let Some(order) = order else { return ScanOutcome::Unknown };
    let opens = match order.valid_from() {
        Ok(opens) => opens,
        Err(refused) => return refused,
    };
    if let (Some(here), Some(there)) = (shop, order.shop)
        && here != there
    {
        return ScanOutcome::OtherShop;
    }
    if at.signed_duration_since(now) > terms.skew || opens.signed_duration_since(at) > terms.skew {
        return ScanOutcome::NotYet;
    }
    if now.signed_duration_since(at) > terms.upload || at.signed_duration_since(opens) > terms.validity {
        return ScanOutcome::Expired;
    }
    match order.left() {
        0 => ScanOutcome::AlreadyRedeemed,
        left if quantity.get() > left => ScanOutcome::TooMany,
        _ => ScanOutcome::Admitted,
    }
}

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

/// Use cases of tickets.
pub struct TicketService {
    /// Judges and stores scans.
    pub tickets: Arc<dyn TicketStore>,
    /// Reads orders.
    pub orders: Arc<dyn OrderReader>,
    /// Creates and reads tokens.
    pub tokens: TicketTokens,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Time limits of scans.
    pub terms: TicketTerms,
}

impl TicketService {
    /// Maximum scans in one request.
    pub const MAX_SCANS: usize = 500;

    /// Returns the ticket token of the customer's order. `None` for orders of other customers, and while the
    /// tickets are not valid.
    pub fn token(&self, customer: CustomerScope, order: &Order) -> Option<SecretString> {
        let own = order.customer.id == customer.counterparty_id;
        let reference = order.tickets.reference.as_ref().filter(|_| own)?;
        TicketOrder::from(order).valid_from().ok()?;
        Some(self.tokens.token(customer.app.project_id, reference))
    }

    /// Judges scans in the order of their times, and returns the answers in the order of the input. One commit.
    /// A scan that was judged before gets the same answer.
    pub async fn redeem(&self, staff: &Staff, scans: Vec<Scan>) -> Result<Vec<ScanAnswer>, ScanRefused> {
        staff.require(Permission::edit(Resource::Reservations))?;
        let stamp = Stamp::of(staff, self.clock.now());
        let read = |scan: Scan| {
            // The databases differ in precision below a microsecond.
            let scan = Scan { at: scan.at.map(|at| at.trunc_subsecs(6)), ..scan };
            CheckedScan {
                reference: self.tokens.read(staff.project_id, &scan.token),
                fingerprint: self.tokens.fingerprint(&scan.token),
                at: scan.at.unwrap_or_else(|| stamp.at.trunc_subsecs(6)),
                scan,
            }
        };
        let mut numbered: Vec<(usize, CheckedScan)> = scans.into_iter().map(read).enumerate().collect();
        numbered.sort_by_key(|(_, scan)| scan.at);
        let (places, scans): (Vec<usize>, Vec<CheckedScan>) = numbered.into_iter().unzip();
        let answers = self.tickets.redeem(ScanBatch { stamp, scans, terms: self.terms }).await?;
        let mut answers: Vec<(usize, ScanAnswer)> = places.into_iter().zip(answers).collect();
        answers.sort_by_key(|(place, _)| *place);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }

    /// Judges one scan.
    pub async fn redeem_one(&self, staff: &Staff, scan: Scan) -> Result<ScanAnswer, ScanRefused> {
        let lost = || StoreError::corrupt("a scan has no result");
        Ok(self.redeem(staff, vec![scan]).await?.pop().ok_or_else(lost)?)
    }

    /// Returns the scans of an order of the project, newest first.
    pub async fn of_order(
        &self,
        staff: &Staff,
        order: OrderId,
        page: PageRequest,
    ) -> Result<Page<StoredScan>, OrderError> {
        staff.require(Permission::view(Resource::Orders))?;
        staff.require_own(self.orders.find(order).await?)?;
        Ok(self.tickets.of_order(order, page).await?)
    }
}
