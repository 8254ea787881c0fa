use kontor_kernel::testing::{CountingRandom, PlainCipher, staff_with};
use kontor_kernel::{AppScope, ApplicationId, CounterpartyId, FixedClock, TokenId, Word as _};

use super::*;
use crate::model::testing::an_order;
use crate::ports::{MockOrderReader, MockTicketStore};

fn minutes(count: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::minutes(count)
}

fn days(count: i64) -> DateTime<Utc> {
    minutes(count * 24 * 60)
}

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

fn shop(id: i64) -> Option<ShopId> {
    ShopId::new(id).ok()
}

/// Three tickets for 3.00, paid in minute 10, one of them redeemed.
fn order() -> TicketOrder {
    TicketOrder {
        status: OrderStatus::Paid,
        price: money(300),
        placed_at: minutes(0),
        paid_at: Some(minutes(10)),
        captured: money(300),
        kept: money(300),
        shop: shop(1),
        total: 3,
        redeemed: 1,
    }
}

fn at(order: &TicketOrder, quantity: i64, scanned: DateTime<Utc>, now: DateTime<Utc>) -> ScanOutcome {
    let quantity = Quantity::new(quantity).unwrap();
    scan_outcome(Some(order), quantity, shop(1), scanned, now, &TicketTerms::default())
}

fn soon(order: &TicketOrder, quantity: i64) -> ScanOutcome {
    at(order, quantity, minutes(20), minutes(20))
}

#[test]
fn stored_and_wire_words_are_the_same() {
    let words: Vec<_> = ScanOutcome::all().iter().map(|outcome| outcome.word()).collect();
    let all = [
        "admitted",
        "unknown",
        "canceled",
        "unpaid",
        "already_redeemed",
        "too_many",
        "other_shop",
        "not_yet",
        "expired",
    ];
    assert_eq!(words, all);
}

#[test]
fn as_many_come_in_as_tickets_are_left() {
    assert_eq!((soon(&order(), 1), soon(&order(), 2)), (ScanOutcome::Admitted, ScanOutcome::Admitted));
    assert_eq!(soon(&order(), 3), ScanOutcome::TooMany);
    let empty = TicketOrder { redeemed: 3, ..order() };
    assert_eq!((soon(&empty, 1), soon(&empty, 9)), (ScanOutcome::AlreadyRedeemed, ScanOutcome::AlreadyRedeemed));
    // Issued or partly refunded: the remaining tickets count.
    for status in [OrderStatus::InProcessing, OrderStatus::ReadyForPickup, OrderStatus::Issued] {
        assert_eq!(soon(&TicketOrder { status, ..order() }, 1), ScanOutcome::Admitted);
    }
    assert_eq!(soon(&TicketOrder { total: 2, kept: money(200), ..order() }, 1), ScanOutcome::Admitted);
    assert_eq!(soon(&TicketOrder { total: 2, kept: money(200), ..order() }, 2), ScanOutcome::TooMany);
}

#[test]
fn scans_require_a_paid_order() {
    let terms = TicketTerms::default();
    assert_eq!(scan_outcome(None, Quantity::ONE, None, minutes(20), minutes(20), &terms), ScanOutcome::Unknown);
    for gone in [
        TicketOrder { status: OrderStatus::Canceled, ..order() },
        TicketOrder {
            status: OrderStatus::Canceled,
            paid_at: None,
            captured: Money::ZERO,
            kept: Money::ZERO,
            ..order()
        },
        TicketOrder { kept: Money::ZERO, ..order() },
        TicketOrder { total: 0, redeemed: 0, ..order() },
    ] {
        assert_eq!(soon(&gone, 1), ScanOutcome::Canceled, "{gone:?}");
    }
    let waiting = TicketOrder { paid_at: None, captured: Money::ZERO, kept: Money::ZERO, ..order() };
    for status in [OrderStatus::Created, OrderStatus::WaitingForPayment, OrderStatus::Issued] {
        assert_eq!(soon(&TicketOrder { status, ..waiting }, 1), ScanOutcome::Unpaid);
    }
    let free = TicketOrder { status: OrderStatus::Created, price: Money::ZERO, ..waiting };
    assert_eq!(soon(&free, 1), ScanOutcome::Admitted);
    assert_eq!(at(&free, 1, minutes(-6), minutes(20)), ScanOutcome::NotYet);
}

#[test]
fn tickets_for_a_shop_open_no_other() {
    let terms = TicketTerms::default();
    let there =
        |order: &TicketOrder, here| scan_outcome(Some(order), Quantity::ONE, here, minutes(20), minutes(20), &terms);
    assert_eq!(there(&order(), shop(2)), ScanOutcome::OtherShop);
    assert_eq!((there(&order(), None), there(&order(), shop(1))), (ScanOutcome::Admitted, ScanOutcome::Admitted));
    assert_eq!(there(&TicketOrder { shop: None, ..order() }, shop(2)), ScanOutcome::Admitted);
}

#[test]
fn scans_are_of_their_time() {
    // The clock of a scanner may be five minutes off, in both directions.
    assert_eq!(at(&order(), 1, minutes(25), minutes(20)), ScanOutcome::Admitted);
    assert_eq!(at(&order(), 1, minutes(26), minutes(20)), ScanOutcome::NotYet);
    assert_eq!(at(&order(), 1, minutes(5), minutes(20)), ScanOutcome::Admitted);
    assert_eq!(at(&order(), 1, minutes(4), minutes(20)), ScanOutcome::NotYet);
    assert_eq!(at(&order(), 1, days(5), days(35)), ScanOutcome::Admitted);
    assert_eq!(at(&order(), 1, days(5), days(36)), ScanOutcome::Expired);
    assert_eq!(at(&order(), 1, days(1_095), days(1_095)), ScanOutcome::Admitted);
    assert_eq!(at(&order(), 1, days(1_096), days(1_096)), ScanOutcome::Expired);
    let last = minutes(10) + TicketTerms::default().validity;
    assert_eq!(at(&order(), 1, last, last), ScanOutcome::Admitted);
    assert_eq!(at(&order(), 1, last + TimeDelta::microseconds(1), last), ScanOutcome::Expired);
    let far = DateTime::<Utc>::MAX_UTC;
    assert_eq!(at(&order(), 1, far, minutes(20)), ScanOutcome::NotYet);
    assert_eq!(at(&order(), 1, DateTime::<Utc>::MIN_UTC, minutes(20)), ScanOutcome::NotYet);
}

#[test]
fn scans_have_names() {
    for name in ["1", "0b7ee2a4-door.7/x", &"x".repeat(64)] {
        assert_eq!(ScanId::parse(name).unwrap().as_str(), name);
    }
    for wrong in ["", " ", "a b", "ä", "a\n", &"x".repeat(65)] {
        assert_eq!(ScanId::parse(wrong), Err(InvalidScanId), "{wrong:?}");
    }
}

fn project(id: i64) -> ProjectId {
    ProjectId::new(id).unwrap()
}

fn tokens() -> TicketTokens {
    TicketTokens { cipher: Arc::new(PlainCipher) }
}

#[test]
fn a_token_is_read_whole_and_in_its_project() {
    let reference = TicketReference::generate(&CountingRandom::new());
    let token = tokens().token(project(1), &reference);
    assert_eq!(token.expose_secret().len(), 22 + 1 + 32);
    assert_eq!(tokens().read(project(1), &token), Some(reference.clone()));
    assert_eq!(tokens().read(project(1), &format!(" {}\n", token.expose_secret()).into()), Some(reference.clone()));
    assert_eq!(tokens().read(project(2), &token), None);
    let (_, mark) = token.expose_secret().split_once('-').unwrap();
    for torn in ["", "-", "x", reference.as_str(), mark, &token.expose_secret()[1..], &token.expose_secret()[..54]] {
        assert_eq!(tokens().read(project(1), &torn.into()), None, "{torn}");
    }
    assert_eq!(format!("{reference:?} {token:?}"), "TicketReference(..) SecretBox<str>([REDACTED])");
}

fn service(tickets: MockTicketStore) -> TicketService {
    TicketService {
        tickets: Arc::new(tickets),
        orders: Arc::new(MockOrderReader::new()),
        tokens: tokens(),
        clock: Arc::new(FixedClock::at(minutes(60))),
        terms: TicketTerms::default(),
    }
}

fn scan(id: &str, at: Option<DateTime<Utc>>) -> Scan {
    Scan { id: ScanId::parse(id).unwrap(), token: "torn".into(), quantity: Quantity::ONE, shop: None, at }
}

#[tokio::test]
async fn scans_are_judged_in_their_order_of_time_and_answered_as_they_came() {
    let mut store = MockTicketStore::new();
    store.expect_redeem().returning(|batch| {
        assert!(batch.scans.is_sorted_by_key(|scan| scan.at));
        let kept = |(index, scan): (usize, CheckedScan)| {
            ScanAnswer::Judged(Box::new(StoredScan {
                id: TicketScanId::new(i64::try_from(index).unwrap() + 1).unwrap(),
                scan_id: scan.scan.id,
                order: None,
                quantity: scan.scan.quantity,
                shop: None,
                at: scan.at,
                received_at: batch.stamp.at,
                user: UserId::new(1).unwrap(),
                outcome: ScanOutcome::Unknown,
                redeemed: 0,
                total: 0,
                earlier: None,
            }))
        };
        Ok(batch.scans.into_iter().enumerate().map(kept).collect())
    });
    let service = service(store);
    let scans = vec![
        scan("now", None),
        scan("late", Some(minutes(30))),
        scan("early", Some(minutes(20) + TimeDelta::nanoseconds(1_999))),
        scan("next", Some(minutes(30))),
    ];
    let answers = service.redeem(&staff_with([Permission::edit(Resource::Reservations)]), scans).await.unwrap();
    let reported: Vec<_> = answers
        .iter()
        .map(|answer| match answer {
            ScanAnswer::Judged(kept) => (kept.scan_id.as_str(), kept.id.get(), kept.at),
            answer => panic!("{answer:?}"),
        })
        .collect();
    let early = minutes(20) + TimeDelta::microseconds(1);
    assert_eq!(
        reported,
        [("now", 4, minutes(60)), ("late", 2, minutes(30)), ("early", 1, early), ("next", 3, minutes(30))]
    );
}

#[tokio::test]
async fn only_who_may_scans() {
    let service = service(MockTicketStore::new());
    let others = staff_with([Permission::view(Resource::Orders), Permission::edit(Resource::Orders)]);
    assert!(matches!(service.redeem_one(&others, scan("1", None)).await, Err(ScanRefused::Denied(_))));
    let page = PageRequest::new(1, 10, 100).unwrap();
    let door = staff_with([Permission::edit(Resource::Reservations)]);
    let order = OrderId::new(7).unwrap();
    assert!(matches!(service.of_order(&door, order, page).await, Err(OrderError::Denied(_))));
}

#[test]
fn the_owner_alone_has_the_token_while_it_opens() {
    let service = service(MockTicketStore::new());
    let tickets = Tickets {
        reference: Some(TicketReference::generate(&CountingRandom::new())),
        total: 2,
        redeemed: 2,
        last_redeemed_at: None,
    };
    let order = Order { tickets, ..an_order(OrderStatus::Paid) };
    let app = AppScope { project_id: project(1), application_id: ApplicationId::new(3).unwrap(), wholesale: false };
    let customer = |id| CustomerScope {
        app,
        counterparty_id: CounterpartyId::new(id).unwrap(),
        token_id: TokenId::new(1).unwrap(),
    };
    let token = service.token(customer(4), &order).unwrap();
    assert_eq!(tokens().read(project(1), &token), order.tickets.reference);
    assert!(service.token(customer(5), &order).is_none());
    let canceled = Order { status: OrderStatus::Canceled, ..order.clone() };
    let unpaid = Order { tickets: order.tickets.clone(), ..an_order(OrderStatus::Created) };
    let forgotten = Order { tickets: Tickets { total: 2, ..Tickets::default() }, ..order };
    assert!([canceled, unpaid, forgotten].iter().all(|order| service.token(customer(4), order).is_none()));
}
