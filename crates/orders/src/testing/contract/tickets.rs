use async_trait::async_trait;
use chrono::TimeDelta;
use futures_util::future::join_all;
use kontor_kernel::history::Author;
use kontor_kernel::{
    CustomerScope, ExposeSecret as _, Money, NomenclatureId, OrderId, PageRequest, Quantity, SecretString, ShopId,
    Stamp,
};
use kontor_payments::model::{Charge, ChargeFailure};

use super::refunds::refunds;
use super::{Fixture, failed, fresh, money, noon, nothing, online, order, placed, recorded, success};
use crate::change::PlacedOrder;
use crate::model::OrderStatus;
use crate::ports::{OrderStore as _, TicketStore};
use crate::refund::RefundScope;
use crate::tickets::{
    CheckedScan, Scan, ScanAnswer, ScanBatch, ScanId, ScanOutcome, StoredScan, TicketReference, TicketTerms,
};

/// Storage whose application also sells tickets.
#[async_trait]
pub trait TicketFixture: Fixture<Store: TicketStore> {
    /// Returns a new item of the application whose units are tickets, with this stock.
    async fn tickets(&self, units: u32, price: Money) -> NomenclatureId;

    /// Returns a shop of the project where orders of [`Fixture::delivery`] may be handed over.
    async fn shop(&self) -> ShopId;
}

/// Order with tickets.
struct Sold {
    customer: CustomerScope,
    order: OrderId,
    charge: Charge,
    reference: TicketReference,
}

/// Places an order with these tickets, to be paid online.
async fn ordered<F: TicketFixture>(fixture: &F, units: u32) -> Sold {
    let customer = fixture.customer().await;
    let item = fixture.tickets(units + 1, money(1_000)).await;
    let reference = TicketReference::parse(&format!("{:0>22}", fresh())).unwrap();
    let new = online(fixture, customer, &[(item, units.into())]).await;
    let placed = placed(fixture, PlacedOrder { tickets: Some(reference.clone()), ..new }).await;
    Sold { customer, order: placed.order_id, charge: placed.charge.unwrap(), reference }
}

/// Places and pays an order with these tickets.
async fn sold<F: TicketFixture>(fixture: &F, units: u32) -> Sold {
    let sold = ordered(fixture, units).await;
    assert_eq!(recorded(fixture, &sold.charge, success).await, 1);
    sold
}

/// Scan at noon of a ticket; `None` for a token that the service did not create.
fn scan(id: &str, reference: Option<&TicketReference>, units: i64) -> CheckedScan {
    let token: SecretString = reference.map_or("torn", TicketReference::as_str).into();
    let (id, quantity) = (ScanId::parse(id).unwrap(), Quantity::new(units).unwrap());
    CheckedScan {
        fingerprint: format!("fingerprint of {}", token.expose_secret()),
        reference: reference.cloned(),
        at: noon(),
        scan: Scan { id, token, quantity, shop: None, at: None },
    }
}

/// Employee who scans at noon.
async fn scanner<F: TicketFixture>(fixture: &F) -> Stamp {
    let (project_id, user) = (fixture.customer().await.app.project_id, fixture.employee().await);
    Stamp { project_id, author: Author::User(user), at: noon() }
}

async fn redeemed<F: TicketFixture>(fixture: &F, stamp: Stamp, scans: Vec<CheckedScan>) -> Vec<ScanAnswer> {
    let count = scans.len();
    let batch = ScanBatch { stamp, scans, terms: TicketTerms::default() };
    let answers = fixture.store().redeem(batch).await.unwrap();
    assert_eq!(answers.len(), count, "one answer per scan");
    answers
}

async fn judged<F: TicketFixture>(fixture: &F, stamp: Stamp, scan: CheckedScan) -> StoredScan {
    match redeemed(fixture, stamp, vec![scan]).await.remove(0) {
        ScanAnswer::Judged(judged) => *judged,
        other => panic!("not judged: {other:?}"),
    }
}

fn outcomes(answers: &[ScanAnswer]) -> Vec<ScanOutcome> {
    let judged = answers.iter().filter_map(|answer| match answer {
        ScanAnswer::Judged(judged) => Some(judged.outcome),
        ScanAnswer::IdReused | ScanAnswer::UnknownShop => None,
    });
    judged.collect()
}

/// Tickets of an order, and how many of them are redeemed.
async fn figures<F: TicketFixture>(fixture: &F, sold: &Sold) -> (u32, u32) {
    let tickets = order(fixture, sold.customer, sold.order).await.tickets;
    (tickets.total, tickets.redeemed)
}

/// Under concurrent scans, each ticket admits once.
pub async fn a_ticket_admits_once<F: TicketFixture>(fixture: &F) {
    let sold = sold(fixture, 3).await;
    let (door, before) = (scanner(fixture).await, order(fixture, sold.customer, sold.order).await);
    assert_eq!(judged(fixture, door, scan("too-many", Some(&sold.reference), 4)).await.outcome, ScanOutcome::TooMany);
    assert_eq!(figures(fixture, &sold).await, (3, 0));
    let one = |number: usize| vec![scan(&format!("scan-{number}"), Some(&sold.reference), 1)];
    let answers = join_all((0..8).map(|number| redeemed(fixture, door, one(number)))).await.concat();
    let count = |outcome: ScanOutcome| outcomes(&answers).iter().filter(|other| **other == outcome).count();
    assert_eq!((count(ScanOutcome::Admitted), count(ScanOutcome::AlreadyRedeemed)), (3, 5), "{answers:?}");
    let after = order(fixture, sold.customer, sold.order).await;
    assert_eq!((after.tickets.redeemed, after.tickets.last_redeemed_at), (3, Some(noon())));
    assert!(after.version > before.version, "the order has changed");
}

/// The same scan always gets the same answer, also if it is sent several times at once. Another scan with its
/// identifier writes nothing.
pub async fn a_scan_is_judged_once<F: TicketFixture>(fixture: &F) {
    let (sold, other) = (sold(fixture, 9).await, sold(fixture, 9).await);
    let (door, first) = (scanner(fixture).await, scan("one", Some(&sold.reference), 2));
    let answers = join_all((0..8).map(|_| redeemed(fixture, door, vec![first.clone(); 2]))).await.concat();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(outcomes(&answers[..1]), [ScanOutcome::Admitted]);
    assert_eq!(figures(fixture, &sold).await, (9, 2));
    let shop = Some(fixture.shop().await);
    let scanned = first.scan.clone();
    let others = vec![
        scan("one", Some(&sold.reference), 1),
        scan("one", Some(&other.reference), 2),
        CheckedScan { scan: Scan { shop, ..scanned.clone() }, ..first.clone() },
        CheckedScan { scan: Scan { at: Some(noon()), ..scanned }, ..first.clone() },
    ];
    let expected = vec![ScanAnswer::IdReused; others.len()];
    assert_eq!(redeemed(fixture, door, others).await, expected);
    assert_eq!((figures(fixture, &sold).await, figures(fixture, &other).await), ((9, 2), (9, 0)));
    // The answer stays, whatever has happened since.
    redeemed(fixture, door, vec![scan("seven", Some(&sold.reference), 7)]).await;
    assert_eq!(redeemed(fixture, door, vec![first]).await, answers[..1]);
}

/// Only tickets of paid orders admit. Every refused scan is stored, except one at an unknown shop.
pub async fn only_paid_tickets_admit<F: TicketFixture>(fixture: &F) {
    let (paid, lost) = (ordered(fixture, 1).await, ordered(fixture, 1).await);
    let door = scanner(fixture).await;
    let early = judged(fixture, door, scan("early", Some(&paid.reference), 1)).await;
    assert_eq!((early.outcome, early.order, early.total), (ScanOutcome::Unpaid, Some(paid.order), 1));
    assert_eq!(recorded(fixture, &paid.charge, success).await, 1);
    assert_eq!(recorded(fixture, &lost.charge, || failed(ChargeFailure::Expired)).await, 1);
    let nowhere = scan("nowhere", Some(&paid.reference), 1);
    let nowhere = CheckedScan { scan: Scan { shop: Some(nothing()), ..nowhere.scan }, ..nowhere };
    let unknown = TicketReference::parse(&"x".repeat(TicketReference::LENGTH)).unwrap();
    let scans = vec![
        scan("lost", Some(&lost.reference), 1),
        scan("torn", None, 1),
        scan("unknown", Some(&unknown), 1),
        nowhere,
        scan("nowhere", Some(&paid.reference), 1),
        scan("early", Some(&paid.reference), 1),
    ];
    let answers = redeemed(fixture, door, scans).await;
    assert_eq!(answers[3], ScanAnswer::UnknownShop);
    assert_eq!(
        outcomes(&answers),
        [ScanOutcome::Canceled, ScanOutcome::Unknown, ScanOutcome::Unknown, ScanOutcome::Admitted, ScanOutcome::Unpaid]
    );
    assert_eq!((figures(fixture, &paid).await, figures(fixture, &lost).await), ((1, 1), (1, 0)));
}

/// The scans of an order are listed newest first, as they were judged. A refusal names the last admission.
pub async fn scans_are_listed_with_their_order<F: TicketFixture>(fixture: &F) {
    let (sold, shop) = (sold(fixture, 1).await, fixture.shop().await);
    let mut door = scanner(fixture).await;
    let first = scan("first", Some(&sold.reference), 1);
    let first = CheckedScan { scan: Scan { shop: Some(shop), ..first.scan }, ..first };
    let first = judged(fixture, door, first).await;
    assert_eq!((first.outcome, first.at, first.redeemed), (ScanOutcome::Admitted, noon(), 1));
    assert_eq!(first.shop.as_ref().map(|shop| shop.id), Some(shop));
    door.at = noon() + TimeDelta::minutes(1);
    let second = judged(fixture, door, scan("second", Some(&sold.reference), 1)).await;
    let earlier = second.earlier.as_ref().map(|earlier| (earlier.at, earlier.shop.as_ref().map(|shop| shop.id)));
    assert_eq!((second.outcome, earlier), (ScanOutcome::AlreadyRedeemed, Some((noon(), Some(shop)))));
    assert_eq!((second.received_at, Author::User(second.user)), (door.at, door.author));
    judged(fixture, door, scan("torn", None, 1)).await;
    let store = fixture.store();
    let page = TicketStore::of_order(&*store, sold.order, PageRequest::new(1, 10, 10).unwrap()).await.unwrap();
    assert_eq!((page.items, page.total), (vec![second, first], 2));
}

/// Of an admission and a refund that race for the last ticket, one succeeds.
pub async fn a_ticket_is_redeemed_or_returned<F: TicketFixture>(fixture: &F) {
    let (store, door) = (fixture.store(), scanner(fixture).await);
    for round in 0..6 {
        let sold = sold(fixture, 1).await;
        let scan = scan(&format!("round-{round}"), Some(&sold.reference), 1);
        let refund = store.change(sold.order, refunds(sold.customer, RefundScope::Everything, true));
        let (scanned, returned) = futures_util::join!(judged(fixture, door, scan), refund);
        let after = order(fixture, sold.customer, sold.order).await;
        let figures = (after.tickets.total, after.tickets.redeemed);
        if returned.is_ok() {
            assert_eq!((scanned.outcome, figures), (ScanOutcome::Canceled, (0, 0)));
            assert_eq!(after.status, OrderStatus::Canceled);
        } else {
            assert_eq!((scanned.outcome, figures), (ScanOutcome::Admitted, (1, 1)));
            assert_eq!(after.status, OrderStatus::Paid);
        }
    }
}
