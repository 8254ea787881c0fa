//! Unconfirmed orders from the contact form: limits of their reservations and expiry.

use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_kernel::{Clock as _, Edit, Money, PaymentTypeId, Prose};
use kontor_orders::model::{Order, OrderEvent, OrderStatus, ReservationState};
use kontor_orders::ports::{ContactSettings, OrderReader as _};
use kontor_orders::{
    ContactOrderCommand, ContactProblem, ContactTerms, HoldHours, OrderChange, OrderRefused, PlacementError,
};
use tokio::sync::Barrier;

use super::contacts::{form, order, race, with_courier};
use super::shop::ShopFixture;
use super::staff_fixture::StaffFixture;

const ANNA: &str = "79005550101";
const BORIS: &str = "79005550102";

/// A shop with a limited contact form.
struct Bounded<'a> {
    shop: ShopFixture<'a>,
    cash: PaymentTypeId,
    vase: i64,
}

impl<'a> Bounded<'a> {
    /// 40 vases for 1.00. Unconfirmed orders of one phone reserve at most this many, for this amount, for a day.
    async fn open(db: &'a kontor_adapter_diesel::testing::TestDatabase, max_pieces: u32, max_value: i64) -> Self {
        let shop = ShopFixture::open(db).await;
        let cash = with_courier(&shop).await;
        let vase = shop.goods("Vase", 40, 100).await;
        let terms = ContactTerms {
            max_pieces,
            max_value: Money::from_minor(max_value).unwrap(),
            hold_hours: HoldHours::new(24).unwrap(),
        };
        assert!(db.database.set_contact_terms(shop.customer.app.project_id, terms).await.unwrap());
        Self { shop, cash, vase }
    }

    fn form(&self, phone: &str, pieces: i64) -> ContactOrderCommand {
        let cart = self.shop.command(&[(self.vase, pieces)]).cart;
        ContactOrderCommand { cart, ..form(&self.shop, self.cash, self.vase, "Anna", phone) }
    }

    async fn send(&self, phone: &str, pieces: i64) -> Result<Order, PlacementError> {
        self.shop.placement.place_by_contact(self.shop.customer.app, &self.form(phone, pieces)).await.map(order)
    }

    async fn refused(&self, phone: &str, pieces: i64) -> ContactProblem {
        match self.send(phone, pieces).await {
            Err(PlacementError::Refused(OrderRefused { contact: Some(problem), .. })) => problem,
            other => panic!("{other:?}"),
        }
    }

    async fn cancel_unconfirmed(&self) -> usize {
        self.shop.stock_fixture.db.database.cancel_unconfirmed(self.shop.clock.now()).await.unwrap()
    }

    async fn reserved(&self) -> i64 {
        self.shop.stock(self.vase).await.1
    }

    /// The sum of the stock movements equals the reserved quantity.
    async fn ledger(&self) -> i64 {
        let sum = format!(
            "SELECT CAST(sum(m.reserved) AS BIGINT) AS number FROM stock_movements m JOIN inventories i ON i.id = m.inventory_id \
             WHERE i.nomenclature_id = {}",
            self.vase
        );
        self.shop.stock_fixture.number(sum).await
    }
}

database_tests! {
    async fn one_form_reserves_no_more_than_the_project_allows(db: TestDatabase) {
        let bounded = Bounded::open(&db, 5, 1_000).await;
        assert_eq!(bounded.refused(ANNA, 6).await, ContactProblem::Pieces { max: 5 });
        assert_eq!((bounded.shop.count("orders").await, bounded.reserved().await), (0, 0));
        let placed = bounded.send(ANNA, 5).await.unwrap();
        assert_eq!(placed.reserved_until, Some("2026-03-02T12:00:00Z".parse().unwrap()));
        let signed_in = bounded.shop.placed(&bounded.shop.command(&[(bounded.vase, 6)])).await;
        assert_eq!(signed_in.reserved_until, None, "customers who signed in are not bounded");
    }

    async fn unconfirmed_orders_of_one_phone_are_bounded_together(db: TestDatabase) {
        let bounded = Bounded::open(&db, 10, 100_000).await;
        // 12 concurrent orders of two units each: five are within the limit.
        assert_eq!(race(&bounded.shop, vec![bounded.form(ANNA, 2); 12]).await, 5);
        assert_eq!(bounded.reserved().await, 10);
        assert_eq!(bounded.refused("+7 900 555-01-01", 1).await, ContactProblem::Pieces { max: 10 });
        assert!(bounded.send(BORIS, 10).await.is_ok(), "another phone has a bound of its own");

        let dear = Bounded::open(&db, 1_000, 300).await;
        assert!(dear.send(ANNA, 2).await.is_ok());
        assert_eq!(dear.refused(ANNA, 2).await, ContactProblem::Value { max: Money::from_minor(300).unwrap() });
        assert!(dear.send(ANNA, 1).await.is_ok());
    }

    async fn any_change_by_an_employee_confirms_an_order(db: TestDatabase) {
        let bounded = Bounded::open(&db, 2, 100_000).await;
        let staff_fixture = StaffFixture::open(&bounded.shop).await;
        let placed = bounded.send(ANNA, 2).await.unwrap();
        bounded.refused(ANNA, 1).await;
        // An unchanged value changes nothing.
        let same = OrderChange { comment: Edit::Set(Prose::parse("Петрова Anna").ok()), ..OrderChange::default() };
        let same = staff_fixture.orders.update(&staff_fixture.staff, placed.id, same).await.unwrap();
        assert_eq!(same.reserved_until, placed.reserved_until);
        let noted = OrderChange { comment: Edit::Set(Prose::parse("called").ok()), ..OrderChange::default() };
        let noted = staff_fixture.orders.update(&staff_fixture.staff, placed.id, noted).await.unwrap();
        assert_eq!((noted.status, noted.reserved_until), (OrderStatus::Created, None));
        let moved = bounded.send(ANNA, 2).await.unwrap();
        staff_fixture.move_to(&moved, OrderStatus::InProcessing).await.unwrap();
        bounded.shop.wait(24 * 3_600);
        assert_eq!((bounded.cancel_unconfirmed().await, bounded.reserved().await), (0, 4));
        assert!(bounded.send(ANNA, 2).await.is_ok());
    }

    async fn unconfirmed_orders_are_canceled_when_their_time_has_passed(db: TestDatabase) {
        let bounded = Bounded::open(&db, 100, 100_000).await;
        let placed = bounded.send(ANNA, 40).await.unwrap();
        assert_eq!(bounded.shop.stock_fixture.offers().await, [], "all of them are reserved");
        bounded.shop.wait(24 * 3_600 - 1);
        assert_eq!((bounded.cancel_unconfirmed().await, bounded.reserved().await), (0, 40));
        bounded.shop.wait(1);
        assert_eq!((bounded.cancel_unconfirmed().await, bounded.cancel_unconfirmed().await), (1, 0));
        assert_eq!((bounded.shop.stock(bounded.vase).await, bounded.ledger().await), ((40, 0), 0));
        assert_eq!(bounded.shop.stock_fixture.offers().await.len(), 1);
        let canceled = bounded.shop.order(placed.id).await;
        assert_eq!((canceled.status, canceled.reserved_until), (OrderStatus::Canceled, None));
        assert_eq!((canceled.lines[0].state, canceled.version), (ReservationState::Released, placed.version + 1));
        let page = kontor_kernel::PageRequest::new(1, 10, 100).unwrap();
        let history = db.database.history(placed.id, page).await.unwrap().items;
        assert_eq!((history.len(), history[0].event, history[0].status), (2, OrderEvent::Expired, OrderStatus::Canceled));
        let reported = "SELECT count(*) AS number FROM notifications WHERE code = 'order_expired'".to_owned();
        assert_eq!(bounded.shop.stock_fixture.number(reported).await, 1);
        assert!(bounded.send(ANNA, 40).await.is_ok(), "a canceled order counts no longer");
    }

    /// An employee confirms, or records the payment, while workers cancel: one of them wins.
    async fn an_order_is_either_confirmed_or_canceled(db: TestDatabase) {
        let bounded = Bounded::open(&db, 100, 100_000).await;
        let staff_fixture = Arc::new(StaffFixture::open(&bounded.shop).await);
        let mut orders = Vec::new();
        for _ in 0..12 {
            orders.push(bounded.send(ANNA, 1).await.unwrap());
        }
        bounded.shop.wait(24 * 3_600);
        let start = Arc::new(Barrier::new(orders.len() + 2));
        let workers: Vec<_> = (0..2).map(|_| {
            let (database, start, now) = (db.database.clone(), Arc::clone(&start), bounded.shop.clock.now());
            tokio::spawn(async move {
                start.wait().await;
                database.cancel_unconfirmed(now).await.unwrap()
            })
        }).collect();
        let staff: Vec<_> = orders.iter().cloned().enumerate().map(|(n, order)| {
            let (staff_fixture, start) = (Arc::clone(&staff_fixture), Arc::clone(&start));
            let to = [OrderStatus::InProcessing, OrderStatus::Paid, OrderStatus::Issued][n % 3];
            tokio::spawn(async move {
                start.wait().await;
                staff_fixture.move_to(&order, to).await.is_ok()
            })
        }).collect();
        let (mut canceled, mut confirmed) = (0, 0);
        for worker in workers {
            canceled += worker.await.unwrap();
        }
        for employee in staff {
            confirmed += usize::from(employee.await.unwrap());
        }
        assert_eq!(canceled + confirmed, 12);
        let mut held = 0;
        for order in &orders {
            let order = bounded.shop.order(order.id).await;
            held += i64::from(matches!(order.status, OrderStatus::InProcessing | OrderStatus::Paid));
            let expected = match order.status {
                OrderStatus::Canceled => ReservationState::Released,
                OrderStatus::Issued => ReservationState::Sold,
                _ => ReservationState::Held,
            };
            assert_eq!((order.lines[0].state, order.reserved_until), (expected, None));
        }
        assert_eq!((bounded.reserved().await, bounded.ledger().await), (held, held));
    }

    async fn terms_belong_to_one_project(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let project = shop.customer.app.project_id;
        assert_eq!(db.database.contact_terms(project).await.unwrap(), Some(ContactTerms::default()));
        let nobody = kontor_kernel::ProjectId::new(99_999).unwrap();
        assert_eq!(db.database.contact_terms(nobody).await.unwrap(), None);
        assert!(!db.database.set_contact_terms(nobody, ContactTerms::default()).await.unwrap());
        let terms = ContactTerms { max_pieces: 0, ..ContactTerms::default() };
        assert!(db.database.set_contact_terms(project, terms).await.unwrap());
        assert_eq!(db.database.contact_terms(project).await.unwrap(), Some(terms));
    }
}
