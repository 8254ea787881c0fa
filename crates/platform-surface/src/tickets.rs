//! Redemption of tickets at the entrance.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, get, post};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::{RateRule, Violations, Word as _};
use kontor_orders::tickets::{Scan, ScanAnswer, ScanOutcome, StoredScan, TicketService};
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::limits::{REDEEM, REDEEM_BATCH};
use kontor_web::named::NamedErrorBody;
use kontor_web::wire::{self, InputErrors, NamedRecord};
use kontor_web::{ApiError, Body, NamedError, NextAction, PageQuery, PathId, Query, Service, SignedInStaff, Throttle};

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ScanInput {
    /// Content of the ticket code.
    redeem_token: wire::Secret,
    /// Number of tickets to redeem.
    quantity: wire::Quantity,
    /// Unique id of this scan, set by the scanner. A repeated scan with the same id gets the same response.
    scan_id: wire::ScanId,
    /// Shop of the entrance. Tickets of orders for other shops are rejected.
    #[deserr(default)]
    shop_id: Option<wire::ShopId>,
    /// Time of the scan. The current time by default.
    #[deserr(default)]
    at: Option<wire::Moment>,
}

impl From<ScanInput> for Scan {
    fn from(input: ScanInput) -> Self {
        Self {
            id: input.scan_id.0,
            token: input.redeem_token.0,
            quantity: input.quantity.0,
            shop: input.shop_id.map(|id| id.0),
            at: input.at.map(|at| at.0),
        }
    }
}

/// Scan of a ticket.
#[derive(Serialize, ToSchema)]
struct TicketScanRecord {
    id: i64,
    /// Id of the scan, set by the scanner.
    scan_id: String,
    /// `null` if the ticket is unknown.
    order_id: Option<i64>,
    /// Number of tickets to redeem.
    quantity: u32,
    shop: Option<NamedRecord>,
    /// Time of the scan.
    at: DateTime<Utc>,
    /// Time when the service received the scan.
    received_at: DateTime<Utc>,
    /// Employee who sent the scan.
    user_id: i64,
    /// `admitted`, `unknown`, `canceled`, `unpaid`, `already_redeemed`, `too_many`, `other_shop`, `not_yet` or
    /// `expired`.
    outcome: &'static str,
    /// Number of redeemed tickets of the order at that time, including this scan.
    redeemed_count: u32,
    /// Number of tickets of the order at that time.
    total_tickets: u32,
    /// Time of the last entry. Only for the outcomes `already_redeemed` and `too_many`.
    redeemed_at: Option<DateTime<Utc>>,
    /// Shop of the last entry.
    redeemed_shop: Option<NamedRecord>,
}

impl From<StoredScan> for TicketScanRecord {
    fn from(scan: StoredScan) -> Self {
        let (redeemed_at, redeemed_shop) = scan.earlier.map(|entry| (entry.at, entry.shop)).unzip();
        Self {
            id: scan.id.get(),
            scan_id: scan.scan_id.to_string(),
            order_id: scan.order.map(i64::from),
            quantity: scan.quantity.get(),
            shop: scan.shop.map(Into::into),
            at: scan.at,
            received_at: scan.received_at,
            user_id: scan.user.get(),
            outcome: scan.outcome.word(),
            redeemed_count: scan.redeemed,
            total_tickets: scan.total,
            redeemed_at,
            redeemed_shop: redeemed_shop.flatten().map(Into::into),
        }
    }
}

one!(TicketScanResponse { scan: TicketScanRecord });
list!(TicketScanList { scans: [TicketScanRecord], scans_count of all, pagination });

/// Reason why a scan is rejected.
struct Refusal {
    status: StatusCode,
    code: &'static str,
    next_action: NextAction,
    message: &'static str,
}

impl Refusal {
    const ID_REUSED: Self = Self {
        status: StatusCode::CONFLICT,
        code: "scan_id_reused",
        next_action: NextAction::FixInput,
        message: "`scan_id` was already used for a different scan.",
    };
    const UNKNOWN_SHOP: Self = Self {
        status: StatusCode::UNPROCESSABLE_ENTITY,
        code: "unknown_shop",
        next_action: NextAction::FixInput,
        message: "Shop not found.",
    };

    fn of(outcome: ScanOutcome) -> Option<Self> {
        use NextAction::{ContactSupport, FixInput, Wait};
        let (next_action, message) = match outcome {
            ScanOutcome::Admitted => return None,
            ScanOutcome::Unknown => (FixInput, "Ticket not found."),
            ScanOutcome::Canceled => (ContactSupport, "The order is canceled, or its tickets were returned."),
            ScanOutcome::Unpaid => (Wait, "The order is not paid."),
            ScanOutcome::AlreadyRedeemed => (ContactSupport, "All tickets are already redeemed."),
            ScanOutcome::TooMany => (FixInput, "Fewer tickets are left than requested."),
            ScanOutcome::OtherShop => (ContactSupport, "The tickets are for another shop."),
            ScanOutcome::NotYet => (Wait, "The tickets are not valid yet."),
            ScanOutcome::Expired => (ContactSupport, "The scan or the ticket has expired."),
        };
        let status = if outcome == ScanOutcome::Unknown { StatusCode::NOT_FOUND } else { StatusCode::CONFLICT };
        Some(Self { status, code: outcome.word(), next_action, message })
    }

    fn with_scan(self, scan: Option<TicketScanRecord>) -> ApiError {
        let named = NamedError::new(self.status, self.code, self.next_action, self.message);
        match scan.and_then(|scan| serde_json::to_value(scan).ok()) {
            Some(record) => named.with_field("scan", record).into(),
            None => named.into(),
        }
    }
}

/// Rejected scan, with its record.
#[derive(Serialize, ToSchema)]
struct RefusedScan {
    #[serde(flatten)]
    refusal: NamedErrorBody,
    /// Record of the scan. Absent if the scan was not stored: `scan_id_reused`.
    #[schema(nullable = false)]
    scan: Option<TicketScanRecord>,
}

async fn count(
    throttle: &Throttle,
    request: &HttpRequest,
    staff: &SignedInStaff,
    rule: RateRule,
) -> Result<(), ApiError> {
    throttle.hit(request, &[(rule, &staff.user_id.to_string())]).await
}

/// Redeem tickets
///
/// A repeated scan with the same `scan_id` gets the same response. Rejected scans are stored, too.
#[utoipa::path(
    tag = "Orders",
    request_body = ScanInput,
    responses(
        (status = 200, body = TicketScanResponse),
        (status = 404, description = "`unknown`", body = RefusedScan),
        (status = 409, description = "`canceled`, `unpaid`, `already_redeemed`, `too_many`, `other_shop`, `not_yet`, `expired` or `scan_id_reused`", body = RefusedScan),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/orders/redeem")]
pub(super) async fn redeem_tickets(
    request: HttpRequest,
    staff: SignedInStaff,
    throttle: Data<Throttle>,
    service: Service<TicketService>,
    body: Body<ScanInput>,
) -> Answer<TicketScanResponse> {
    count(&throttle, &request, &staff, REDEEM).await?;
    match service.redeem_one(&staff, body.0.into()).await? {
        ScanAnswer::Judged(kept) => match Refusal::of(kept.outcome) {
            None => answer(*kept),
            Some(refusal) => Err(refusal.with_scan(Some((*kept).into()))),
        },
        ScanAnswer::IdReused => Err(Refusal::ID_REUSED.with_scan(None)),
        ScanAnswer::UnknownShop => Err(ApiError::invalid("shop_id", "shop not found")),
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ScanBatchInput {
    /// 1 to 500 scans in any order.
    #[schema(min_items = 1, max_items = 500)]
    scans: Vec<ScanInput>,
}

impl TryFrom<ScanBatchInput> for Vec<Scan> {
    type Error = Violations;

    fn try_from(input: ScanBatchInput) -> Result<Self, Violations> {
        let most = TicketService::MAX_SCANS;
        if (1..=most).contains(&input.scans.len()) {
            return Ok(input.scans.into_iter().map(Into::into).collect());
        }
        Err(Violations::single("scans", format!("must have 1 to {most} scans")))
    }
}

#[derive(Serialize, ToSchema)]
struct ScanErrorRecord {
    /// Reason, as for a single scan. Also `scan_id_reused` and `unknown_shop`; in these cases the scan is not stored.
    code: &'static str,
    message: &'static str,
    next_action: NextAction,
}

/// Result of a scan of the batch.
#[derive(Serialize, ToSchema)]
struct BatchedScanRecord {
    scan_id: String,
    /// Record of the scan.
    scan: Option<TicketScanRecord>,
    /// `null` if the tickets are redeemed.
    error: Option<ScanErrorRecord>,
}

fn batched(scan_id: String, answer: ScanAnswer) -> BatchedScanRecord {
    let (scan, refusal) = match answer {
        ScanAnswer::Judged(kept) => (Some(TicketScanRecord::from((*kept).clone())), Refusal::of(kept.outcome)),
        ScanAnswer::IdReused => (None, Some(Refusal::ID_REUSED)),
        ScanAnswer::UnknownShop => (None, Some(Refusal::UNKNOWN_SHOP)),
    };
    let error = |Refusal { code, message, next_action, .. }| ScanErrorRecord { code, message, next_action };
    BatchedScanRecord { scan_id, scan, error: refusal.map(error) }
}

list!(BatchedScanList { scans: [BatchedScanRecord], scans_count });

/// Redeem tickets from offline scans
///
/// Scans are processed in the order of their times and returned in the order of the request. A rejected scan does not
/// stop the others.
#[utoipa::path(
    tag = "Orders",
    request_body = ScanBatchInput,
    responses(
        (status = 200, body = BatchedScanList),
        (status = 429, description = "Too many requests. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/orders/redeem/batch")]
pub(super) async fn redeem_ticket_batch(
    request: HttpRequest,
    staff: SignedInStaff,
    throttle: Data<Throttle>,
    service: Service<TicketService>,
    body: Body<ScanBatchInput>,
) -> Answer<BatchedScanList> {
    count(&throttle, &request, &staff, REDEEM_BATCH).await?;
    let scans: Vec<Scan> = body.0.try_into()?;
    let names: Vec<String> = scans.iter().map(|scan| scan.id.to_string()).collect();
    let answers = service.redeem(&staff, scans).await?;
    answer(names.into_iter().zip(answers).map(|(name, one)| batched(name, one)).collect::<Vec<_>>())
}

/// List the ticket scans of an order
///
/// Newest first, including rejected scans.
#[utoipa::path(tag = "Orders", params(PageQuery), responses((status = 200, body = TicketScanList)))]
#[get("/api/orders/{id}/scans")]
pub(super) async fn list_ticket_scans(
    staff: SignedInStaff,
    service: Service<TicketService>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<TicketScanList> {
    answer(service.of_order(&staff, id.parse()?, query.0.page()?).await?)
}
