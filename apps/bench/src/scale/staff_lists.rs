//! Response times for staff when a project has a hundred times the customers and orders.

use super::book::{self, Buyer};
use super::{Filled, GROWTH, KINDS, MORE, Sizes, compare, encoded, run};
use crate::Failure;
use crate::load::{Request, RunLengths, Target};
use crate::report::{Figure, Goal, Report};
use crate::shop::Shop;

/// Customers and orders of a project, and the header `Authorization` of its owner.
struct Orders {
    bearer: String,
    size: usize,
}

fn fill(shop: &Shop, size: usize) -> Result<Orders, Failure> {
    let bearer = shop.owner()?;
    book::fill(shop, size)?;
    book::index(shop)?;
    Ok(Orders { bearer, size })
}

type StaffLists = Filled<Orders>;

impl StaffLists {
    fn get(&self, path: &str) -> Request {
        Request::new("GET", path, &[("Authorization", self.data.bearer.as_str())], "")
    }

    fn target(&self, paths: impl Iterator<Item = String>) -> Target {
        let requests = paths.map(|path| self.get(&path)).collect();
        Target { address: self.shop.address, expected: 200, requests, once: false }
    }

    fn one(&self, path: &str) -> Target {
        self.target(std::iter::once(path.to_owned()))
    }

    /// Creates a request for each of some customers, spread over all of them.
    fn each(&self, path: impl Fn(&Buyer) -> String) -> Target {
        let step = (self.data.size / KINDS).max(1);
        self.target((0..self.data.size).step_by(step).map(|place| path(&Buyer::at(place))))
    }
}

fn number(buyer: &Buyer) -> String {
    buyer.number().map(|number| number.to_string()).unwrap_or_default()
}

fn amount(minor: i64) -> String {
    format!("{}.{:02}", minor / 100, minor % 100)
}

/// Query parameters of a list besides the search, for each of some customers.
type Asked = (&'static str, fn(&Buyer) -> String);

const ORDERS: [Asked; 14] = [
    ("newest", |_| String::new()),
    ("oldest", |_| "order_by=id_asc".to_owned()),
    ("by date", |_| "order_by=created_at_desc".to_owned()),
    ("by date, oldest", |_| "order_by=created_at_asc".to_owned()),
    ("of a status", |_| "status_id=3".to_owned()),
    ("of two statuses", |_| "status_id[]=3&status_id[]=22".to_owned()),
    ("of a customer", |buyer| format!("counterparty_id={}", number(buyer))),
    ("of a sum", |buyer| format!("price={}", amount(buyer.price()))),
    ("above a sum", |_| "price_gt=15000.00".to_owned()),
    ("of a day", |_| "date_from=2025-01-02&date_to=2025-01-02".to_owned()),
    ("since a day", |_| "date_from=2025-01-02".to_owned()),
    ("by number", |buyer| format!("query={}", number(buyer))),
    ("by phone", |buyer| format!("query={}", buyer.phone())),
    ("by name", |buyer| format!("query={}", encoded(&format!("{} {}", buyer.family(), buyer.given())))),
];

const CUSTOMERS: [Asked; 10] = [
    ("newest", |_| String::new()),
    ("by name", |_| "order_by=name_asc".to_owned()),
    ("by date", |_| "order_by=created_at_desc".to_owned()),
    ("companies", |_| "is_company=1".to_owned()),
    ("of a manager", |_| "manager_id=1".to_owned()),
    ("of a day", |_| "date_from=2025-01-02&date_to=2025-01-02".to_owned()),
    ("search by number", |buyer| format!("query={}", number(buyer))),
    ("search by phone", |buyer| format!("query={}", buyer.phone())),
    ("search by name", |buyer| format!("query={}", encoded(&format!("{} {}", buyer.family(), buyer.given())))),
    ("search by e-mail", |buyer| format!("query=buyer{}@example.com", buyer.place)),
];

/// Reports over days with an order every 30 seconds, five of nine of them paid.
const REPORTS: [(&str, &str); 4] = [
    ("sales by day, 30 days", "/api/reports/orders?from=2025-01-01&to=2025-01-30"),
    ("sales by hour, 30 days", "/api/reports/orders?from=2025-01-01&to=2025-01-30&by=hour"),
    ("sales by day, a year", "/api/reports/orders?from=2025-01-01&to=2025-12-31"),
    ("best-selling items, 30 days", "/api/reports/items?from=2025-01-01&to=2025-01-30"),
];

/// Measures both sizes in alternation, and the reports of the large one.
pub fn measure(lengths: &RunLengths, server: Option<&str>, report: &mut Report) -> Result<(), Failure> {
    let sizes = if lengths.is_quick() { Sizes::QUICK } else { Sizes::FULL };
    let small = StaffLists::open("small_desk", server, |shop| fill(shop, sizes.small))?;
    let large = StaffLists::open("large_desk", server, |shop| fill(shop, sizes.large))?;
    // A list and a table use the same query, so lists are only checked with the first parameters.
    let newest = |asked: &'static [Asked]| asked.get(..1).unwrap_or_default();
    let lists: [(&str, &str, &[Asked]); 4] = [
        ("table of orders", "/api/tables/orders", &ORDERS),
        ("orders", "/api/orders", newest(&ORDERS)),
        ("table of customers", "/api/tables/counterparties", &CUSTOMERS),
        ("customers", "/api/counterparties", newest(&CUSTOMERS)),
    ];
    for (list, path, asked) in lists {
        for (name, ask) in asked {
            let at = |staff_lists: &StaffLists| staff_lists.each(|buyer| format!("{path}?{}", ask(buyer)));
            let goal = Goal::AtMost(GROWTH);
            report.add(compare(
                &sizes,
                format!("{list}, {name}: {} by {}", sizes.large, sizes.small),
                goal,
                &at(&large),
                &at(&small),
            )?);
        }
    }
    for (staff_lists, name) in [(&small, "small"), (&large, "large")] {
        let last = |page: usize| staff_lists.one(&format!("/api/orders?page={page}"));
        let far = (staff_lists.data.size / 15).min(1_000);
        report.add(compare(
            &sizes,
            format!("page {far} of orders by page 1, {name}"),
            Goal::AtMost(MORE),
            &last(far),
            &last(1),
        )?);
    }
    for (name, path) in REPORTS {
        let sample = run(&sizes, &large.one(path))?;
        let time = sample.percentile(95).as_secs_f64() * 1_000.0;
        let figure = format!("report, {name}: p95 at {} orders", large.data.size);
        report.add(Figure::plain(figure, time, "ms", Goal::None).alone(&sample));
    }
    Ok(())
}
