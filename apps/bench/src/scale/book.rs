//! Any number of customers and orders, the same every time, written in batches directly into the tables. The search
//! data of customers is derived by the service's own code afterwards.

use std::fmt::Write as _;

use super::store_in_batches;
use crate::Failure;
use crate::catalogue::TestRng;
use crate::shop::{Data, Shop};

const FAMILIES: [&str; 16] = [
    "Иванов",
    "Петров",
    "Сидоров",
    "Кузнецов",
    "Смирнов",
    "Попов",
    "Волков",
    "Соколов",
    "Лебедев",
    "Козлов",
    "Новиков",
    "Морозов",
    "Зайцев",
    "Павлов",
    "Семёнов",
    "Голубев",
];
const GIVEN: [&str; 12] =
    ["Алексей", "Борис", "Виктор", "Глеб", "Дмитрий", "Егор", "Иван", "Кирилл", "Леонид", "Михаил", "Никита", "Олег"];
/// Endings that multiply the number of family names.
const PLACES: [&str; 12] = [
    "Донской",
    "Невский",
    "Волжский",
    "Камский",
    "Обской",
    "Ленский",
    "Окский",
    "Терский",
    "Кубанский",
    "Двинский",
    "Уральский",
    "Амурский",
];

/// First identifier, far above those that the service assigned.
const ABOVE: i64 = 1_000;
/// Number of items that are ordered.
const ITEMS: i64 = 200;
/// Seconds between two orders.
const PACE: i64 = 30;

/// Status of a handed over order.
const ISSUED: i64 = 5;
/// Status of a paid order.
const PAID: i64 = 22;
/// Most orders are handed over.
const STATUSES: [i64; 9] = [1, 3, 4, ISSUED, ISSUED, ISSUED, ISSUED, 6, PAID];

/// A customer with an order.
pub struct Buyer {
    /// Position among all, from 0. The customer, the order and its line have the same identifier.
    pub place: usize,
    family: (&'static str, &'static str),
    given: &'static str,
    status: i64,
    price: i64,
}

impl Buyer {
    /// Returns the customer at this position.
    pub fn at(place: usize) -> Self {
        let mut rng = TestRng::new(7_000_003 + place);
        let family = (rng.one_of(&FAMILIES), rng.one_of(&PLACES));

        Self {
            place,
            family,
            given: rng.one_of(&GIVEN),
            status: STATUSES.get(rng.below(STATUSES.len())).copied().unwrap_or(1),
            price: i64::try_from(rng.below(2_000_000)).unwrap_or_default() + 9_900,
        }
    }

    /// Returns the family name. There are many different ones.
    pub fn family(&self) -> String {
        format!("{}-{}", self.family.0, self.family.1)
    }

    /// Returns the given name.
    pub fn given(&self) -> &'static str {
        self.given
    }

    /// Returns the phone, eleven digits.
    pub fn phone(&self) -> String {
        format!("79{:09}", self.place)
    }

    /// Returns the paid price, in hundredths.
    pub fn price(&self) -> i64 {
        self.price
    }

    /// Returns the identifier of the customer and of the order.
    pub fn number(&self) -> Result<i64, Failure> {
        Ok(ABOVE + i64::try_from(self.place)?)
    }
}

/// Fills the project of a shop with this many customers, each with an order of one line.
pub fn fill(shop: &Shop, size: usize) -> Result<(), Failure> {
    let (project, branch) = (shop.project.project_id, shop.project.branch_id);
    let at = moment(0);
    let mut statements = vec![format!(
        "INSERT INTO warehouses (id, project_id, branch_id, name, created_at, updated_at) \
         VALUES ({ABOVE}, {project}, {branch}, 'W', '{at}', '{at}')"
    )];
    for item in ABOVE..ABOVE + ITEMS {
        statements.push(format!(
            "INSERT INTO nomenclatures (id, project_id, name, name_key, kind_id, price, is_subscription, wholesale, \
             pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
             VALUES ({item}, {project}, 'Item {item}', 'item {item}', 2, 0, false, false, 1, 1, 0, 1, '{at}', '{at}')"
        ));
        statements.push(format!(
            "INSERT INTO inventories (id, project_id, warehouse_id, nomenclature_id, quantity, reserved, price, created_at, \
             updated_at) VALUES ({item}, {project}, {ABOVE}, {item}, 0, 0, 100, '{at}', '{at}')"
        ));
    }
    store_in_batches(shop, statements, size, |places| rows(shop, places))
}

/// Returns the time of the order at this position.
fn moment(place: usize) -> String {
    let first =
        chrono::NaiveDate::from_ymd_opt(2025, 1, 1).and_then(|day| day.and_hms_opt(0, 0, 0)).unwrap_or_default();
    let later = chrono::TimeDelta::seconds(PACE * i64::try_from(place).unwrap_or_default());
    (first + later).format("%Y-%m-%d %H:%M:%S").to_string()
}

fn rows(data: &Shop, places: &[usize]) -> Result<[String; 3], Failure> {
    let (project, application) = (data.project.project_id, data.project.application_id);
    let mut customers =
        "INSERT INTO counterparties (id, project_id, is_company, first_name, last_name, phone_1, email, \
        created_at, updated_at) VALUES "
            .to_owned();
    let mut orders = "INSERT INTO orders (id, project_id, application_id, counterparty_id, status_id, original_price, \
        product_discount, promo_discount, final_price, delivery_type_id, phone, version, created_at, updated_at, paid_at, \
        captured) VALUES "
        .to_owned();
    let mut lines =
        "INSERT INTO reservations (id, project_id, order_id, nomenclature_id, inventory_id, name, quantity, \
        unit_price, product_discount, promo_discount, total, state, created_at, updated_at) VALUES "
            .to_owned();
    for (row, place) in places.iter().enumerate() {
        let buyer = Buyer::at(*place);
        let (number, at, phone, price) = (buyer.number()?, moment(*place), buyer.phone(), buyer.price);
        let item = ABOVE + number % ITEMS;
        let comma = if row > 0 { ", " } else { "" };
        let is_company = place % 10 == 0;
        write!(
            customers,
            "{comma}({number}, {project}, {is_company}, '{}', '{}', '{phone}', 'buyer{place}@example.com', '{at}', '{at}')",
            buyer.given,
            buyer.family()
        )?;
        write!(
            orders,
            "{comma}({number}, {project}, {application}, {number}, {}, {price}, 0, 0, {price}, 1, '{phone}', 1, '{at}', '{at}', ",
            buyer.status
        )?;
        // Reports count an order by its payment; these orders were paid when they were placed.
        if matches!(buyer.status, ISSUED | PAID) {
            write!(orders, "'{at}', {price})")?;
        } else {
            orders.push_str("NULL, 0)");
        }
        write!(
            lines,
            "{comma}({number}, {project}, {number}, {item}, {item}, 'Item {item}', 1, {price}, 0, 0, {price}, 'sold', '{at}', \
             '{at}')"
        )?;
    }
    Ok([customers, orders, lines])
}

/// Derives the search data with the service's own code.
pub fn index(data: &Data) -> Result<(), Failure> {
    data.database.migrate()?;
    Ok(())
}
