//! Orders of customers who have not logged in.

use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_auth::ports::CustomerAccounts;
use kontor_kernel::{Contact, Name, PaymentTypeId, Phone};
use kontor_orders::change::ContactPerson;
use kontor_orders::model::{Address, Order};
use kontor_orders::{ContactOrderCommand, PlacedOutcome};

use super::races::at_once;
use super::shop::ShopFixture;

/// A shop with a courier and cash.
pub async fn with_courier(shop: &ShopFixture<'_>) -> PaymentTypeId {
    let p = shop.stock_fixture.project;
    shop.stock_fixture
        .run(format!(
            "INSERT INTO delivery_subtypes (project_id, id, delivery_type_id, name, price, is_active) \
             VALUES ({p}, 2, 2, 'Courier', 30000, TRUE)"
        ))
        .await;
    let cash = format!("INSERT INTO payment_types (project_id, name) VALUES ({p}, 'Cash') RETURNING id AS number");
    PaymentTypeId::new(shop.stock_fixture.number(cash).await).unwrap()
}

pub fn form(shop: &ShopFixture<'_>, cash: PaymentTypeId, item: i64, first: &str, phone: &str) -> ContactOrderCommand {
    ContactOrderCommand {
        person: ContactPerson {
            first_name: Name::parse(first).unwrap(),
            last_name: Name::parse("Петрова").unwrap(),
            middle_name: None,
            phone: Phone::parse(phone).unwrap(),
        },
        cart: shop.command(&[(item, 1)]).cart,
        address: Address::parse("Невский 1").unwrap(),
        payment_type_id: cash,
    }
}

pub fn order(outcome: PlacedOutcome) -> Order {
    match outcome {
        PlacedOutcome::Ready(order) | PlacedOutcome::PaymentOutcomeUnknown(order) => order,
    }
}

/// Sends all forms at once; returns the number of orders.
pub async fn race(shop: &ShopFixture<'_>, forms: Vec<ContactOrderCommand>) -> usize {
    let app = shop.customer.app;
    let orders = forms.into_iter().map(|form| {
        let placement = Arc::clone(&shop.placement);
        async move { placement.place_by_contact(app, &form).await }
    });
    at_once(orders.collect()).await
}

database_tests! {
    async fn a_customer_known_by_phone_is_not_duplicated_or_renamed(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let cash = with_courier(&shop).await;
        let vase = shop.goods("Vase", 9, 100).await;
        let app = shop.customer.app;
        let before = shop.count("counterparties").await;
        let first = order(shop.placement.place_by_contact(app, &form(&shop, cash, vase, "Анна", "79005550101")).await.unwrap());
        let again = order(shop.placement.place_by_contact(app, &form(&shop, cash, vase, "Мария", "+7 900 555-01-01")).await.unwrap());
        assert_eq!(shop.count("counterparties").await, before + 1);
        assert_eq!(first.customer.id, again.customer.id);
        assert_eq!(again.comment.as_deref(), Some("Петрова Мария"));
        let named = "SELECT count(*) AS number FROM counterparties WHERE first_name = 'Анна' AND phone_1 = '79005550101'";
        assert_eq!(shop.stock_fixture.number(named.to_owned()).await, 1);
        // A later login with the phone is that customer.
        let phone = Contact::Phone(Phone::parse("79005550101").unwrap());
        let signed = db.database.find_or_create(app.project_id, &phone, first.created_at).await.unwrap();
        assert_eq!(signed, first.customer.id);
        // The record of a customer entered by staff is found, too.
        let known = order(shop.placement.place_by_contact(app, &form(&shop, cash, vase, "Ольга", "79001234567")).await.unwrap());
        assert_eq!((known.customer.id, shop.count("counterparties").await), (shop.customer.counterparty_id, before + 1));
    }

    async fn a_new_phone_that_comes_forty_times_at_once_is_one_customer(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let cash = with_courier(&shop).await;
        let vase = shop.goods("Vase", 40, 100).await;
        let before = shop.count("counterparties").await;
        let forms = vec![form(&shop, cash, vase, "Анна", "79005550102"); 40];
        assert_eq!(race(&shop, forms).await, 40);
        assert_eq!((shop.count("counterparties").await, shop.stock(vase).await), (before + 1, (40, 40)));
    }

    async fn a_refused_order_creates_no_customer(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let cash = with_courier(&shop).await;
        let vase = shop.goods("Vase", 3, 100).await;
        let before = shop.count("counterparties").await;
        let phone = |n: usize| format!("7900555{n:04}");
        let forms = (0..40).map(|n| form(&shop, cash, vase, "Анна", &phone(n))).collect();
        assert_eq!(race(&shop, forms).await, 3);
        let now = (shop.count("counterparties").await, shop.count("login_contacts").await, shop.count("orders").await);
        assert_eq!(now, (before + 3, 3, 3));
    }
}
