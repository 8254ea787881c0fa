//! Ticket admission: each ticket admits once.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::pool_options;
use kontor_adapter_diesel::upkeep::SWEPT_TABLES;
use kontor_adapter_diesel::{Database, database_tests};
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{
    Clock as _, ExposeSecret as _, Money, OrderId, PageRequest, Permission, Quantity, Resource, SecretCipher,
    SecretString, ShopId, Staff, StoreError, UnsealError,
};
use kontor_orders::model::{Order, OrderStatus};
use kontor_orders::refund::RefundRefused;
use kontor_orders::tickets::{
    Scan, ScanAnswer, ScanId, ScanOutcome, ScanRefused, StoredScan, TicketService, TicketTerms, TicketTokens,
};
use kontor_orders::{OrderError, OrderRefusal};

use super::shop::ShopFixture;
use super::staff_fixture::{StaffFixture, give_back};
use crate::fixtures;

/// Marks without a secret.
struct Plain;

impl SecretCipher for Plain {
    fn fingerprint(&self, secret: &str) -> String {
        secret.to_owned()
    }

    fn keyed_fingerprint(&self, context: &str, secret: &str) -> String {
        format!("{context}:{secret:.60}")
    }

    fn same(&self, left: &str, right: &str) -> bool {
        left == right
    }

    fn seal(&self, secret: &SecretString) -> String {
        secret.expose_secret().to_owned()
    }

    fn open(&self, sealed: &str) -> Result<SecretString, UnsealError> {
        Ok(sealed.into())
    }
}

/// A door with an employee.
pub struct Door<'a> {
    shop: &'a ShopFixture<'a>,
    staff_fixture: StaffFixture,
    pub tickets: Arc<TicketService>,
    pub staff: Staff,
}

pub fn service(shop: &ShopFixture<'_>, store: Database) -> Arc<TicketService> {
    let store = Arc::new(store);
    Arc::new(TicketService {
        tickets: store.clone(),
        orders: store,
        tokens: TicketTokens { cipher: Arc::new(Plain) },
        clock: shop.clock.clone(),
        terms: TicketTerms::default(),
    })
}

pub fn scan(name: &str, token: &SecretString, pieces: i64) -> Scan {
    let (id, quantity) = (ScanId::parse(name).unwrap(), Quantity::new(pieces).unwrap());
    Scan { id, token: token.clone(), quantity, shop: None, at: None }
}

fn kept(answer: ScanAnswer) -> StoredScan {
    match answer {
        ScanAnswer::Judged(kept) => *kept,
        answer => panic!("{answer:?}"),
    }
}

impl<'a> Door<'a> {
    pub async fn open(shop: &'a ShopFixture<'a>) -> Self {
        let staff_fixture = StaffFixture::open(shop).await;
        let permissions = [Permission::edit(Resource::Reservations), Permission::view(Resource::Orders)].into();
        let staff = Staff { permissions, ..staff_fixture.staff.clone() };
        let tickets = service(shop, shop.stock_fixture.db.database.clone());
        Self { shop, staff_fixture, tickets, staff }
    }

    /// An item with this many tickets at this price.
    async fn item(&self, pieces: i64, price: i64) -> i64 {
        let item = self.shop.goods("Concert", pieces, price).await;
        self.shop.stock_fixture.run(format!("UPDATE nomenclatures SET type_id = 6 WHERE id = {item}")).await;
        item
    }

    pub async fn sold(&self, pieces: i64) -> (Order, SecretString) {
        let item = self.item(10, 100).await;
        let order = self.shop.paid_online(&self.shop.online(&[(item, pieces)])).await;
        let token = self.token(&order).unwrap();
        (order, token)
    }

    fn token(&self, order: &Order) -> Option<SecretString> {
        self.tickets.token(self.shop.customer, order)
    }

    /// Ticket code of the order, created later.
    fn later(&self, order: &Order) -> SecretString {
        self.tickets.tokens.token(self.staff.project_id, order.tickets.reference.as_ref().unwrap())
    }

    async fn scan(&self, scan: Scan) -> ScanAnswer {
        self.tickets.redeem_one(&self.staff, scan).await.unwrap()
    }

    async fn outcome(&self, name: &str, token: &SecretString, pieces: i64) -> ScanOutcome {
        kept(self.scan(scan(name, token, pieces)).await).outcome
    }

    fn now(&self) -> DateTime<Utc> {
        self.shop.clock.now()
    }

    /// `(tickets, redeemed)`
    async fn figures(&self, order: OrderId) -> (u32, u32) {
        let order = self.shop.order(order).await;
        (order.tickets.total, order.tickets.redeemed)
    }

    async fn sound(&self) {
        let mut found = Vec::new();
        self.shop.stock_fixture.db.database.examine(None, |difference| found.push(difference)).await.unwrap();
        assert_eq!(found, []);
    }

    /// Another shop of the project.
    async fn another_shop(&self) -> ShopId {
        let p = self.shop.stock_fixture.project;
        let shop = self.shop.stock_fixture.number(format!(
            "INSERT INTO shops (project_id, branch_id, name, address, is_active, created_at, updated_at) \
             SELECT {p}, min(id), 'Annex', 'Square 2', TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00' \
             FROM branches WHERE project_id = {p} RETURNING id AS number"
        ));
        ShopId::new(shop.await).unwrap()
    }
}

fn refused(outcome: Result<Order, OrderError>) -> RefundRefused {
    match outcome {
        Err(OrderError::Refused(OrderRefusal::Refund(refused))) => refused,
        outcome => panic!("{outcome:?}"),
    }
}

/// Concurrent scans, half of them on another machine.
async fn race(door: &Door<'_>, scans: Vec<Scan>) -> Vec<ScanAnswer> {
    let elsewhere = Database::open(door.shop.stock_fixture.db.url(), pool_options()).unwrap();
    let doors = [door.tickets.clone(), service(door.shop, elsewhere)];
    let start = Arc::new(tokio::sync::Barrier::new(scans.len()));
    let serializable = door.shop.stock_fixture.db.repeats_steps();
    let scanners = scans.into_iter().enumerate().map(|(number, scan)| {
        let (tickets, staff, start) = (doors[number % 2].clone(), door.staff.clone(), start.clone());
        tokio::spawn(async move {
            start.wait().await;
            loop {
                match tickets.redeem_one(&staff, scan.clone()).await {
                    // Two processes that scan one ticket with serializable transactions: the scanner retries, as after
                    // a `503`.
                    Err(ScanRefused::Store(StoreError::Unavailable(_))) if serializable => {}
                    answer => return answer.unwrap(),
                }
            }
        })
    });
    let mut answers = Vec::new();
    for scanner in scanners.collect::<Vec<_>>() {
        answers.push(scanner.await.unwrap());
    }
    answers
}

database_tests! {
    async fn a_paid_order_has_tickets_and_lets_as_many_in(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        let (item, cup) = (door.item(10, 100).await, shop.goods("Cup", 9, 50).await);
        let order = shop.placed(&shop.online(&[(item, 3), (cup, 2)])).await;
        assert_eq!((order.tickets.total, order.tickets.redeemed, door.token(&order).is_some()), (3, 0, false));
        assert_eq!(door.outcome("early", &door.later(&order), 1).await, ScanOutcome::Unpaid);
        shop.payments.handle_notification(&shop.acquirer.settle(kontor_payments::model::GatewayStatus::Succeeded), None).await.unwrap();
        let order = shop.order(order.id).await;
        let token = door.token(&order).unwrap();
        assert_eq!(token.expose_secret(), door.later(&order).expose_secret());

        shop.wait(60);
        let first = kept(door.scan(scan("1", &token, 2)).await);
        assert_eq!((first.outcome, first.redeemed, first.total, first.order), (ScanOutcome::Admitted, 2, 3, Some(order.id)));
        assert_eq!((first.at, first.received_at, first.user), (door.now(), door.now(), door.staff.user_id));
        let reported = shop.order(order.id).await;
        assert_eq!((reported.tickets.redeemed, reported.tickets.last_redeemed_at), (2, Some(door.now())));
        assert!(reported.version > order.version);
        assert_eq!(door.outcome("2", &token, 2).await, ScanOutcome::TooMany);
        assert_eq!(door.outcome("3", &token, 1).await, ScanOutcome::Admitted);
        shop.wait(60);
        let late = kept(door.scan(scan("4", &token, 1)).await);
        let earlier = late.earlier.unwrap();
        assert_eq!((late.outcome, earlier.at, earlier.shop), (ScanOutcome::AlreadyRedeemed, door.now() - TimeDelta::seconds(60), None));
        // A repeated scan gets the same response, regardless of changes since.
        assert_eq!(kept(door.scan(scan("1", &token, 2)).await), first);
        assert_eq!(door.scan(scan("1", &token, 1)).await, ScanAnswer::IdReused);
        assert_eq!(door.scan(scan("1", &"other".into(), 2)).await, ScanAnswer::IdReused);
        assert_eq!(door.scan(Scan { at: Some(first.at), ..scan("1", &token, 2) }).await, ScanAnswer::IdReused);
        assert_eq!(door.outcome("early", &token, 1).await, ScanOutcome::Unpaid);
        let page = door.tickets.of_order(&door.staff, order.id, PageRequest::new(1, 2, 100).unwrap()).await.unwrap();
        let names: Vec<_> = page.items.iter().map(|scan| scan.scan_id.as_str()).collect();
        assert_eq!((names, page.total), (vec!["4", "3"], 5));
        let events = "SELECT count(*) AS number FROM order_events WHERE event = 'tickets_redeemed'".to_owned();
        assert_eq!((shop.stock_fixture.number(events).await, door.figures(order.id).await), (2, (3, 3)));
        door.sound().await;
    }

    async fn scans_of_unknown_tickets_are_stored(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        let (order, token) = door.sold(1).await;
        let whole = token.expose_secret();
        let reference = order.tickets.reference.clone().unwrap();
        let foreign = door.tickets.tokens.token(fixtures::project(&db).await, &reference);
        let torn = [&whole[1..], &whole[..whole.len() - 1], reference.as_str(), "", "' OR 1=1 --"];
        for (number, torn) in torn.iter().map(|torn| SecretString::from(*torn)).chain([foreign, "x".repeat(100_000).into()]).enumerate() {
            let kept = kept(door.scan(scan(&number.to_string(), &torn, 1)).await);
            assert_eq!((kept.outcome, kept.order, kept.total), (ScanOutcome::Unknown, None, 0));
        }
        // The door of another project does not know it, and the ids of its scans are independent.
        let elsewhere = Staff { project_id: fixtures::project(&db).await, ..door.staff.clone() };
        let there = door.tickets.redeem_one(&elsewhere, scan("0", &token, 1)).await.unwrap();
        assert_eq!(kept(there).outcome, ScanOutcome::Unknown);
        assert!(matches!(door.tickets.of_order(&elsewhere, order.id, PageRequest::new(1, 2, 100).unwrap()).await, Err(OrderError::Denied(_))));
        assert_eq!((shop.count("ticket_scans").await, door.figures(order.id).await), (8, (1, 0)));
        // An order without tickets has no token.
        let cup = shop.goods("Cup", 9, 50).await;
        let plain = shop.paid_online(&shop.online(&[(cup, 2)])).await;
        assert_eq!((plain.tickets.total, plain.tickets.reference.is_some(), door.token(&plain).is_some()), (0, false, false));
        let other = shop.another_customer().await;
        assert!(door.tickets.token(other, &order).is_none());
    }

    async fn shops_and_moments_are_looked_at(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        let (order, token) = door.sold(3).await;
        let (own, annex) = (order.shop.as_ref().unwrap().id, door.another_shop().await);
        let at_shop = |name, shop| Scan { shop: Some(shop), ..scan(name, &token, 1) };
        let at = |name, at| Scan { at: Some(at), ..scan(name, &token, 1) };
        assert_eq!(kept(door.scan(at_shop("1", annex)).await).outcome, ScanOutcome::OtherShop);
        assert_eq!(door.scan(at_shop("2", ShopId::new(99_999).unwrap())).await, ScanAnswer::UnknownShop);
        assert_eq!(kept(door.scan(at_shop("2", own)).await).outcome, ScanOutcome::Admitted);
        let now = door.now();
        assert_eq!(kept(door.scan(at("3", now + TimeDelta::minutes(6))).await).outcome, ScanOutcome::NotYet);
        assert_eq!(kept(door.scan(at("4", now - TimeDelta::minutes(6))).await).outcome, ScanOutcome::NotYet);
        let fine = now + TimeDelta::minutes(3) + TimeDelta::nanoseconds(1_234_567_891);
        let third = kept(door.scan(at("5", fine)).await);
        assert_eq!((third.outcome, third.at.timestamp_subsec_nanos()), (ScanOutcome::Admitted, 234_567_000));
        assert_eq!(kept(door.scan(at("5", fine)).await), third);
        shop.wait(40 * 24 * 60 * 60);
        assert_eq!(kept(door.scan(at("6", now + TimeDelta::minutes(4))).await).outcome, ScanOutcome::Expired);
        let last = kept(door.scan(at_shop("7", own)).await);
        assert_eq!((last.outcome, last.redeemed, last.shop.map(|shop| shop.name)), (ScanOutcome::Admitted, 3, Some("Shop".to_owned())));
        let late = kept(door.scan(scan("8", &token, 1)).await);
        assert_eq!(late.earlier.and_then(|earlier| earlier.shop).map(|shop| shop.id), Some(own));
        door.sound().await;
    }

    async fn scans_made_offline_count_in_their_order_of_time(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        let ((order, token), (second, other)) = (door.sold(1).await, door.sold(2).await);
        let now = door.now();
        shop.wait(3_600);
        let at = |name: &str, token: &SecretString, minute| Scan { at: Some(now + TimeDelta::minutes(minute)), ..scan(name, token, 1) };
        let scans = vec![
            at("late", &token, 9), at("torn", &"torn".into(), 8), at("first", &token, 7), at("other", &other, 30),
            at("first", &token, 7), at("first", &token, 6), at("next", &other, 1),
            Scan { shop: Some(ShopId::new(99_999).unwrap()), ..at("nowhere", &other, 2) },
        ];
        let reported = |answers: Vec<ScanAnswer>| -> Vec<&'static str> {
            let word = |answer| match answer {
                ScanAnswer::Judged(kept) => kontor_kernel::Word::word(kept.outcome),
                ScanAnswer::IdReused => "reused",
                ScanAnswer::UnknownShop => "shop",
            };
            answers.into_iter().map(word).collect()
        };
        let answers = door.tickets.redeem(&door.staff, scans.clone()).await.unwrap();
        // The scan of minute 6 was the first with its id.
        let expected = ["already_redeemed", "unknown", "reused", "admitted", "reused", "admitted", "admitted", "shop"];
        assert_eq!(reported(answers), expected);
        let again = door.tickets.redeem(&door.staff, scans).await.unwrap();
        assert_eq!(reported(again), expected);
        assert_eq!((door.figures(order.id).await, door.figures(second.id).await), ((1, 1), (2, 2)));
        assert_eq!(shop.order(second.id).await.tickets.last_redeemed_at, Some(now + TimeDelta::minutes(30)));
        // A scan that is uploaded later does not change the latest admission.
        assert_eq!(reported(door.tickets.redeem(&door.staff, vec![]).await.unwrap()), [""; 0]);
        assert_eq!(shop.count("ticket_scans").await, 5);
        door.sound().await;
    }

    async fn two_hundred_scanners_let_one_in(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        let (order, token) = door.sold(1).await;
        let scans = (0..200).map(|number| scan(&format!("s{number}"), &token, 1)).collect();
        let answers: Vec<_> = race(&door, scans).await.into_iter().map(|answer| kept(answer).outcome).collect();
        let count = |outcome| answers.iter().filter(|other| **other == outcome).count();
        assert_eq!((count(ScanOutcome::Admitted), count(ScanOutcome::AlreadyRedeemed)), (1, 199));
        assert_eq!((door.figures(order.id).await, shop.count("ticket_scans").await), ((1, 1), 200));
        door.sound().await;
    }

    async fn a_scan_that_is_sent_by_many_at_once_is_one(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        let ((order, token), (other, second)) = (door.sold(9).await, door.sold(9).await);
        let answers = race(&door, vec![scan("one", &token, 2); 50]).await;
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
        assert_eq!(door.figures(order.id).await, (9, 2));
        // Two orders with one scan id: one of them gets it.
        let scans = (0..50).map(|number| scan("both", if number % 2 == 0 { &token } else { &second }, 1)).collect();
        let reused = race(&door, scans).await.iter().filter(|answer| **answer == ScanAnswer::IdReused).count();
        assert_eq!(reused, 25);
        assert_eq!(door.figures(order.id).await.1 + door.figures(other.id).await.1, 3);
        let torn = race(&door, vec![scan("torn", &"torn".into(), 1); 20]).await;
        assert!(torn.into_iter().all(|answer| kept(answer).outcome == ScanOutcome::Unknown));
        assert_eq!(shop.count("ticket_scans").await, 3);
        door.sound().await;
    }

    async fn batches_that_overlap_do_not_block_each_other(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        let mut tokens = Vec::new();
        for _ in 0..4 {
            tokens.push(door.sold(5).await.1);
        }
        let batches = (0..12).map(|number| {
            let mut scans: Vec<_> = (0..8_usize).map(|n| scan(&format!("{number}-{n}"), &tokens[n % 4], 1)).collect();
            if number % 2 == 0 {
                scans.reverse();
            }
            let (tickets, staff) = (door.tickets.clone(), door.staff.clone());
            tokio::spawn(async move { tickets.redeem(&staff, scans).await.unwrap() })
        });
        let mut admitted = 0;
        for batch in batches.collect::<Vec<_>>() {
            admitted += batch.await.unwrap().into_iter().filter(|answer| kept(answer.clone()).outcome == ScanOutcome::Admitted).count();
        }
        assert_eq!(admitted, 20);
        door.sound().await;
    }

    async fn refunded_tickets_admit_no_entry(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        let (order, token) = door.sold(3).await;
        let line = order.lines[0].id;
        let after = door.staff_fixture.take_back(order.id, &[(line, 1)]).await.unwrap();
        assert_eq!((after.tickets.total, door.outcome("1", &token, 3).await), (2, ScanOutcome::TooMany));
        assert_eq!(door.outcome("2", &token, 1).await, ScanOutcome::Admitted);
        assert_eq!(refused(door.staff_fixture.take_back(order.id, &[(line, 2)]).await), RefundRefused::TicketsRedeemed { left: 1 });
        assert_eq!(refused(door.staff_fixture.take_back(order.id, &[]).await), RefundRefused::TicketsRedeemed { left: 1 });
        door.staff_fixture.take_back(order.id, &[(line, 1)]).await.unwrap();
        assert_eq!((door.figures(order.id).await, door.outcome("3", &token, 1).await), ((1, 1), ScanOutcome::AlreadyRedeemed));
        door.sound().await;
        // All of the money without the tickets.
        let (second, other) = door.sold(2).await;
        let amount = Money::from_minor(200).unwrap();
        door.staff_fixture.orders.refund(&door.staff_fixture.staff, second.id, give_back(amount)).await.unwrap();
        assert_eq!((door.outcome("4", &other, 1).await, door.figures(second.id).await), (ScanOutcome::Canceled, (2, 0)));
        assert!(door.token(&shop.order(second.id).await).is_none());
        let (third, gone) = door.sold(2).await;
        door.staff_fixture.take_back(third.id, &[]).await.unwrap();
        assert_eq!((door.outcome("5", &gone, 1).await, door.figures(third.id).await), (ScanOutcome::Canceled, (0, 0)));
        door.sound().await;
    }

    async fn a_free_order_opens_at_once_and_one_paid_by_hand_when_it_is(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        let free = door.item(9, 0).await;
        let order = shop.placed(&shop.command(&[(free, 2)])).await;
        let token = door.token(&order).unwrap();
        assert_eq!(door.outcome("1", &token, 1).await, ScanOutcome::Admitted);
        door.staff_fixture.move_to(&order, OrderStatus::Canceled).await.unwrap();
        assert_eq!((door.outcome("2", &token, 1).await, door.figures(order.id).await), (ScanOutcome::Canceled, (2, 1)));
        let item = door.item(9, 100).await;
        let order = shop.placed(&shop.command(&[(item, 2)])).await;
        assert_eq!((door.token(&order).is_none(), door.outcome("3", &door.later(&order), 1).await), (true, ScanOutcome::Unpaid));
        let order = door.staff_fixture.move_to(&order, OrderStatus::Paid).await.unwrap();
        let token = door.token(&order).unwrap();
        let order = door.staff_fixture.move_to(&order, OrderStatus::Issued).await.unwrap();
        assert_eq!((door.outcome("4", &token, 2).await, door.figures(order.id).await), (ScanOutcome::Admitted, (2, 2)));
        door.sound().await;
    }

    async fn entries_race_refunds_and_cancelations(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        for round in 0..15 {
            let (order, token) = door.sold(1).await;
            let free = door.item(9, 0).await;
            let given = shop.placed(&shop.command(&[(free, 1)])).await;
            let open = door.token(&given).unwrap();
            let (paid, gift) = (format!("paid{round}"), format!("free{round}"));
            let (entered, back, came, canceled) = tokio::join!(
                door.outcome(&paid, &token, 1),
                door.staff_fixture.take_back(order.id, &[]),
                door.outcome(&gift, &open, 1),
                door.staff_fixture.move_to(&given, OrderStatus::Canceled),
            );
            match back {
                Ok(_) => assert_eq!((entered, door.figures(order.id).await), (ScanOutcome::Canceled, (0, 0))),
                back => {
                    assert_eq!(refused(back), RefundRefused::TicketsRedeemed { left: 0 });
                    assert_eq!((entered, door.figures(order.id).await), (ScanOutcome::Admitted, (1, 1)));
                }
            }
            // A free order may be canceled after an admission, and never the reverse.
            canceled.unwrap();
            assert!(matches!(came, ScanOutcome::Admitted | ScanOutcome::Canceled));
            assert_eq!(door.figures(given.id).await.1, u32::from(came == ScanOutcome::Admitted));
        }
        door.sound().await;
    }

    async fn deleting_a_customer_ends_the_token(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        let (order, token) = door.sold(2).await;
        assert_eq!(door.outcome("1", &token, 1).await, ScanOutcome::Admitted);
        let project = shop.customer.app.project_id;
        shop.stock_fixture.db.database.delete_account(project, shop.customer.counterparty_id, door.now()).await.unwrap();
        assert_eq!(door.outcome("2", &token, 1).await, ScanOutcome::Unknown);
        let after = shop.order(order.id).await;
        assert_eq!((door.figures(order.id).await, door.token(&after).is_none()), ((2, 1), true));
        door.staff_fixture.take_back(order.id, &[(order.lines[0].id, 1)]).await.unwrap();
        assert_eq!(door.figures(order.id).await, (1, 1));
        door.sound().await;
    }

    async fn failed_scans_are_kept_for_half_a_year(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let door = Door::open(&shop).await;
        let (_, token) = door.sold(1).await;
        assert_eq!(door.outcome("in", &token, 1).await, ScanOutcome::Admitted);
        assert_eq!(door.outcome("late", &token, 1).await, ScanOutcome::AlreadyRedeemed);
        let scans = SWEPT_TABLES.iter().find(|swept| swept.table == "ticket_scans").unwrap();
        let (almost, then) = (door.now() + TimeDelta::days(180) - TimeDelta::seconds(1), door.now() + TimeDelta::days(180));
        assert_eq!(db.database.sweep(scans, almost, TimeDelta::zero()).await.unwrap(), 0);
        assert_eq!(db.database.sweep(scans, then, TimeDelta::zero()).await.unwrap(), 1);
        assert_eq!(shop.count("ticket_scans").await, 1);
        door.sound().await;
    }
}
