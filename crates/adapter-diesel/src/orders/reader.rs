//! Reads orders with a fixed number of statements, for any number of orders.

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::QueryResult;
use kontor_kernel::{
    CustomerScope, InvalidId, Line, Listing, OrderId, Page, PageRequest, Phone, ProjectId, ProjectScoped, Quantity,
    StoreError, UserId, Word,
};
use kontor_orders::model::{
    Customer, DeliveryCharge, DeliveryOptionRef, Named, Order, OrderEntry, OrderLine, OrderRefund, OrderStatus,
    PaymentMethod, PaymentType, Place, PromoCode, ReservationState,
};
use kontor_orders::ports::OrderReader;
use kontor_orders::tickets::{TicketReference, Tickets};

use super::{history, refunds, tickets};
use crate::customer_data::is_employee;
use crate::database::{Abort, AnyConnection, Database, Extent};
use crate::listing::{Source, Totals, in_order, of_project, unsearched};
use crate::payments::receipt_vat;
use crate::read_models::search::{MAX_FOUND, customers_named, number_in};
use crate::statement::{Statement, by_place};
use crate::{decode, records, unreadable};

by_place! {
    struct OrderRow {
        id: i64,
        project_id: i64,
        application_id: Option<i64>,
        application_name: Option<String>,
        counterparty_id: i64,
        company: Option<String>,
        last_name: Option<String>,
        first_name: Option<String>,
        middle_name: Option<String>,
        phone: Option<String>,
        manager_id: Option<i64>,
        manager_last_name: Option<String>,
        manager_first_name: Option<String>,
        status_id: i64,
        status_name: Option<String>,
        currency: String,
        original_price: i64,
        product_discount: i64,
        promo_discount: i64,
        final_price: i64,
        delivery_price: i64,
        delivery_vat_code: Option<i32>,
        promo_code: Option<String>,
        type_id: i64,
        type_name: Option<String>,
        type_price: Option<i64>,
        type_active: Option<bool>,
        subtype_id: Option<i64>,
        subtype_name: Option<String>,
        subtype_price: Option<i64>,
        subtype_active: Option<bool>,
        param_id: Option<i64>,
        param_name: Option<String>,
        param_address: Option<String>,
        shop_id: Option<i64>,
        shop_name: Option<String>,
        shop_address: Option<String>,
        address: Option<String>,
        payment_type_id: Option<i64>,
        payment_type_name: Option<String>,
        payment_type_description: Option<String>,
        payment_type_photo: Option<String>,
        payment_method_type: Option<String>,
        payment_link: Option<String>,
        comment: Option<String>,
        reserved_until: Option<NaiveDateTime>,
        payment_open: bool,
        is_recurring: bool,
        paid_at: Option<NaiveDateTime>,
        captured: i64,
        refunded: i64,
        refunding: i64,
        ticket_reference: Option<String>,
        total_tickets: Option<i64>,
        redeemed_count: Option<i64>,
        last_redeemed_at: Option<NaiveDateTime>,
        version: i64,
        created_at: NaiveDateTime,
        updated_at: NaiveDateTime,
    }
}

const SELECT: &str = "\
    SELECT o.id, o.project_id, o.application_id, a.name AS application_name, o.counterparty_id, CASE WHEN \
    c.is_company THEN c.name END AS company, c.last_name, c.first_name, c.middle_name, o.phone, \
    o.manager_id, u.last_name AS manager_last_name, u.first_name AS manager_first_name, o.status_id, \
    s.name AS status_name, p.currency, o.original_price, o.product_discount, o.promo_discount, \
    o.final_price, o.delivery_price, o.delivery_vat_code, o.promo_code, o.delivery_type_id AS type_id, dt.name AS type_name, dt.price AS \
    type_price, dt.is_active AS type_active, o.delivery_subtype_id AS subtype_id, ds.name AS \
    subtype_name, ds.price AS subtype_price, ds.is_active AS subtype_active, o.delivery_subtype_param_id \
    AS param_id, dp.name AS param_name, dp.address AS param_address, o.shop_id, sh.name AS shop_name, \
    sh.address AS shop_address, o.address, o.payment_type_id, pt.name AS payment_type_name, \
    pt.description AS payment_type_description, pt.photo AS payment_type_photo, o.payment_method_type, \
    o.payment_link, o.comment, o.reserved_until, EXISTS (SELECT 1 FROM charges t WHERE t.purpose = 'order' AND \
    t.purpose_id = o.id AND t.project_id = o.project_id AND t.state IN ('prepared', 'pending')) AS payment_open, \
    o.subscription_id IS NOT NULL AS is_recurring, o.paid_at, o.captured, o.refunded, o.refunding, tk.reference AS \
    ticket_reference, tk.total AS total_tickets, tk.redeemed AS redeemed_count, tk.last_redeemed_at, o.version, o.created_at, \
    o.updated_at \
    FROM orders o \
    JOIN projects p ON p.id = o.project_id \
    LEFT JOIN applications a ON a.id = o.application_id AND a.project_id = o.project_id \
    JOIN counterparties c ON c.id = o.counterparty_id AND c.project_id = o.project_id \
    LEFT JOIN users u ON u.id = o.manager_id AND u.project_id = o.project_id \
    LEFT JOIN dictionary_items s ON s.dictionary = 'order_statuses' AND s.id = o.status_id \
    LEFT JOIN delivery_types dt ON dt.project_id = o.project_id AND dt.id = o.delivery_type_id \
    LEFT JOIN delivery_subtypes ds ON ds.project_id = o.project_id AND ds.id = o.delivery_subtype_id \
    LEFT JOIN delivery_subtype_params dp ON dp.id = o.delivery_subtype_param_id AND dp.project_id = o.project_id \
    LEFT JOIN shops sh ON sh.id = o.shop_id AND sh.project_id = o.project_id \
    LEFT JOIN payment_types pt ON pt.id = o.payment_type_id AND pt.project_id = o.project_id \
    LEFT JOIN order_tickets tk ON tk.order_id = o.id AND tk.project_id = o.project_id";

by_place! {
    struct LineRow {
        id: i64,
        order_id: i64,
        nomenclature_id: i64,
        name: String,
        article: Option<String>,
        inventory_id: Option<i64>,
        warehouse_id: Option<i64>,
        warehouse_name: Option<String>,
        quantity: i64,
        unit_price: i64,
        product_discount: i64,
        promo_discount: i64,
        total: i64,
        refunded_quantity: i64,
        refunded_amount: i64,
        vat_code: Option<i32>,
        is_ticket: bool,
        state: String,
        photo: Option<String>,
    }
}

/// Selects the lines of orders, each once per photo of its item.
const LINES: &str = "\
    SELECT r.id, r.order_id, r.nomenclature_id, r.name, n.article, r.inventory_id, w.id AS warehouse_id, w.name AS warehouse_name, \
    r.quantity, r.unit_price, r.product_discount, r.promo_discount, r.total, r.refunded_quantity, r.refunded_amount, \
    r.vat_code, r.is_ticket, r.state, f.url FROM reservations r \
    JOIN nomenclatures n ON n.id = r.nomenclature_id AND n.project_id = r.project_id \
    LEFT JOIN nomenclature_photos f ON f.nomenclature_id = n.id AND f.project_id = n.project_id \
    LEFT JOIN inventories i ON i.id = r.inventory_id AND i.project_id = r.project_id \
    LEFT JOIN warehouses w ON w.id = i.warehouse_id AND w.project_id = i.project_id WHERE r.order_id";

/// Loads the orders that `condition` (from `WHERE` on, over `orders o`) selects, in its order.
pub(super) fn orders(
    connection: &mut AnyConnection,
    condition: Statement,
) -> Result<Vec<ProjectScoped<Order>>, Abort<StoreError>> {
    let rows: Vec<OrderRow> = Statement::new(SELECT).then(condition).rows(connection)?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let lines: Vec<LineRow> = Statement::new(LINES).among(&ids).sql(" ORDER BY r.id, f.position").rows(connection)?;
    let mut lines_of: BTreeMap<i64, Vec<OrderLine>> = BTreeMap::new();
    for mut row in lines {
        let (id, photo, of_order) = (row.id, row.photo.take(), lines_of.entry(row.order_id).or_default());
        if of_order.last().is_none_or(|line| line.id.get() != id) {
            of_order.push(line(row)?);
        }
        if let Some(line) = of_order.last_mut() {
            line.photos.extend(photo);
        }
    }
    // Unpaid orders have no refunds.
    let paid: Vec<i64> = rows.iter().filter(|row| row.paid_at.is_some()).map(|row| row.id).collect();
    let mut refunds_of = if paid.is_empty() { BTreeMap::new() } else { refunds::of_orders(connection, &paid)? };
    let assemble = |row: OrderRow| {
        let lines = lines_of.remove(&row.id).unwrap_or_default();
        let refunds = refunds_of.remove(&row.id).unwrap_or_default();
        records::of_project(row.project_id, order(row, lines, refunds)).map_err(Abort::Store)
    };
    rows.into_iter().map(assemble).collect()
}

fn line(row: LineRow) -> Result<OrderLine, StoreError> {
    let state = ReservationState::from_word(&row.state);
    Ok(OrderLine {
        id: decode::id(row.id)?,
        item: Named { id: decode::id(row.nomenclature_id)?, name: row.name },
        article: row.article,
        photos: Vec::new(),
        warehouse: decode::named(row.warehouse_id, row.warehouse_name)?,
        inventory: decode::optional_id(row.inventory_id)?,
        quantity: Quantity::new(row.quantity).map_err(StoreError::corrupt)?,
        unit_price: decode::money(row.unit_price)?,
        product_discount: decode::money(row.product_discount)?,
        promo_discount: decode::money(row.promo_discount)?,
        total: decode::money(row.total)?,
        vat: row.vat_code.map(receipt_vat).transpose()?,
        is_ticket: row.is_ticket,
        refunded_quantity: u32::try_from(row.refunded_quantity).map_err(StoreError::corrupt)?,
        refunded_amount: decode::money(row.refunded_amount)?,
        state: state.ok_or_else(|| decode::unknown("reservations", row.id, "state", &row.state))?,
    })
}

fn order(row: OrderRow, lines: Vec<OrderLine>, refunds: Vec<OrderRefund>) -> Result<Order, StoreError> {
    let status = OrderStatus::from_id(row.status_id);
    let method = |name: &str| {
        PaymentMethod::parse(name).map_err(|_| decode::unknown("orders", row.id, "payment_method_type", name))
    };
    let payment_method = row.payment_method_type.as_deref().map(method).transpose()?;
    let person = full_name([row.last_name, row.first_name, row.middle_name]);
    let manager = full_name([row.manager_last_name, row.manager_first_name, None]);
    Ok(Order {
        id: decode::id(row.id)?,
        application: decode::named(row.application_id, row.application_name)?,
        customer: Customer {
            id: decode::id(row.counterparty_id)?,
            name: row.company.unwrap_or(person),
            phone: row.phone,
        },
        manager: decode::named(row.manager_id, Some(manager))?,
        status: status.ok_or_else(|| decode::unknown("orders", row.id, "status_id", row.status_id))?,
        status_name: row.status_name.unwrap_or_default(),
        currency: row.currency,
        original_price: decode::money(row.original_price)?,
        product_discount: decode::money(row.product_discount)?,
        promo_discount: decode::money(row.promo_discount)?,
        final_price: decode::money(row.final_price)?,
        delivery_charge: DeliveryCharge {
            price: decode::money(row.delivery_price)?,
            vat: row.delivery_vat_code.map(receipt_vat).transpose()?,
        },
        promo_code: row.promo_code,
        delivery_type: DeliveryOptionRef {
            id: decode::id(row.type_id)?,
            name: row.type_name.unwrap_or_default(),
            price: decode::money(row.type_price.unwrap_or_default())?,
            is_active: row.type_active.unwrap_or_default(),
        },
        delivery_subtype: match row.subtype_id {
            None => None,
            Some(id) => Some(DeliveryOptionRef {
                id: decode::id(id)?,
                name: row.subtype_name.unwrap_or_default(),
                price: decode::money(row.subtype_price.unwrap_or_default())?,
                is_active: row.subtype_active.unwrap_or_default(),
            }),
        },
        delivery_subtype_param: place(row.param_id, row.param_name, row.param_address)?,
        shop: place(row.shop_id, row.shop_name, row.shop_address)?,
        address: row.address,
        payment_type: match row.payment_type_id {
            None => None,
            Some(id) => Some(PaymentType {
                id: decode::id(id)?,
                name: row.payment_type_name.unwrap_or_default(),
                description: row.payment_type_description,
                photo: row.payment_type_photo,
            }),
        },
        payment_method,
        payment_link: row.payment_link,
        comment: row.comment,
        reserved_until: row.reserved_until.map(decode::moment),
        lines,
        payment_open: row.payment_open,
        is_recurring: row.is_recurring,
        paid_at: row.paid_at.map(decode::moment),
        captured: decode::money(row.captured)?,
        refunded: decode::money(row.refunded)?,
        refunding: decode::money(row.refunding)?,
        refunds,
        tickets: Tickets {
            reference: row
                .ticket_reference
                .as_deref()
                .map(TicketReference::parse)
                .transpose()
                .map_err(StoreError::corrupt)?,
            total: tickets::pieces(row.total_tickets.unwrap_or_default())?,
            redeemed: tickets::pieces(row.redeemed_count.unwrap_or_default())?,
            last_redeemed_at: row.last_redeemed_at.map(decode::moment),
        },
        version: row.version,
        created_at: decode::moment(row.created_at),
        updated_at: decode::moment(row.updated_at),
    })
}

fn full_name(parts: [Option<String>; 3]) -> String {
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn place<Id: TryFrom<i64, Error = InvalidId>>(
    id: Option<i64>,
    name: Option<String>,
    address: Option<String>,
) -> Result<Option<Place<Id>>, StoreError> {
    id.map(|id| Ok(Place { id: decode::id(id)?, name: name.unwrap_or_default(), address })).transpose()
}

/// Loads the orders with these ids, ascending.
pub(crate) fn numbered(
    connection: &mut AnyConnection,
    ids: &[i64],
) -> Result<Vec<ProjectScoped<Order>>, Abort<StoreError>> {
    orders(connection, Statement::new(" WHERE o.id").among(ids).sql(" ORDER BY o.id"))
}

#[async_trait]
impl OrderReader for Database {
    async fn find(&self, id: OrderId) -> Result<Option<ProjectScoped<Order>>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let found = orders(connection, Statement::new(" WHERE o.id = ").value(id.get()))?;
                Ok::<_, Abort<StoreError>>(found.into_iter().next())
            })
            .await
    }

    async fn of_customer(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Order>, StoreError> {
        let project = customer.app.project_id;
        self.snapshot(move |connection| {
            let own = || {
                Statement::new(" WHERE o.counterparty_id = ")
                    .value(customer.counterparty_id.get())
                    .sql(" AND o.project_id = ")
                    .value(project.get())
                    .sql(" AND o.application_id = ")
                    .value(customer.app.application_id.get())
            };
            let total: i64 = Statement::new("SELECT count(*) FROM orders o").then(own()).scalar(connection)?;
            let newest = || own().sql(" ORDER BY o.id DESC").page(page);
            let numbers = |connection: &mut AnyConnection| {
                Ok(Statement::new("SELECT o.id FROM orders o").then(newest()).scalars(connection)?)
            };
            let whole = |connection: &mut AnyConnection| orders(connection, newest());
            let found = unreadable::whole(connection, "orders", whole, numbers, numbered)?;
            Ok::<_, Abort<StoreError>>(decode::page(records::within(found, project), total, page)?)
        })
        .await
    }

    async fn has_employee(&self, project: ProjectId, user: UserId) -> Result<bool, StoreError> {
        self.read(move |connection| Ok::<_, Abort<StoreError>>(is_employee(connection, project, user)?)).await
    }

    async fn history(&self, order: OrderId, page: PageRequest) -> Result<Page<OrderEntry>, StoreError> {
        self.snapshot(move |connection| history::page(connection, order, page)).await
    }

    async fn list(&self, project: ProjectId, listing: Listing) -> Result<Page<Order>, StoreError> {
        let totals = self.memory::<Totals>();
        self.snapshot(move |connection| {
            let mut own = of_project("o.project_id", project, &listing);
            if let Some(text) = &listing.text {
                own = own.sql(" AND o.id IN ").then(orders_found(connection, project, text)?);
            }
            let found = ORDERS.page_of_many(connection, own, &listing, &totals)?;
            let read = unreadable::records(connection, "orders", &found.items, numbered)?;
            let own = records::within(read, project);
            Ok::<_, Abort<StoreError>>(found.with_items(in_order(&found.items, own, |order: &Order| order.id.get())))
        })
        .await
    }
}

/// Orders of a project. The table calls the application `client_id`.
const ORDERS: Source = Source {
    from: "orders o",
    id: "o.id",
    fields: &[
        ("id", "o.id"),
        ("status_id", "o.status_id"),
        ("counterparty_id", "o.counterparty_id"),
        ("application_id", "o.application_id"),
        ("client_id", "o.application_id"),
        ("price", "o.final_price"),
        ("created_at", "o.created_at"),
    ],
    // Found by the search for orders.
    search: unsearched,
};

const OF_PROJECT: &str = "project_id = ";

/// `(SELECT ...)`: the order with this id, and the newest orders with this phone, with this promo code and of customers
/// that match the text, [`MAX_FOUND`] of each at most. Each is found by its own index.
fn orders_found(connection: &mut AnyConnection, project: ProjectId, text: &Line<255>) -> QueryResult<Statement> {
    let newest = |project_is: &'static str, condition: Statement| {
        Statement::new(" UNION SELECT id FROM (SELECT id FROM orders WHERE ")
            .sql(project_is)
            .value(project.get())
            .sql(" AND ")
            .then(condition)
            .sql(format!(" ORDER BY id DESC LIMIT {MAX_FOUND}) AS found"))
    };
    let mut found = Statement::new("(SELECT ").value(number_in(text));
    if let Ok(phone) = Phone::parse(text.trim()) {
        found = found.then(newest(OF_PROJECT, Statement::new("phone = ").value(phone.as_str())));
    }
    if let Ok(code) = PromoCode::parse(text.trim()) {
        found = found.then(newest(OF_PROJECT, Statement::new("promo_code = ").value(code.as_str())));
    }
    let named = customers_named(connection, project, text, 0)?;
    Ok(found.then(newest("+project_id = ", Statement::new("counterparty_id").then(named))).sql(")"))
}

#[cfg(test)]
mod tests {
    use kontor_kernel::listing::{Comparison, Condition, FilterValue, Sort};

    use super::*;
    use crate::testing::{Kind, TestDatabase};

    async fn plan(db: &TestDatabase, sort: Sort, condition: Option<Condition>) -> String {
        ORDERS.plan(db, Statement::new("o.project_id = ").value(1_i64), sort, condition).await
    }

    #[tokio::test]
    async fn every_order_and_every_filter_has_its_index() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        for (sort, index) in
            [(Sort::descending("id"), "orders_by_project"), (Sort::ascending("created_at"), "orders_by_date")]
        {
            let plan = plan(&db, sort, None).await;
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan}");
        }
        let number = || Comparison::AnyOf(vec![FilterValue::Number(1)]);
        let since = Comparison::AtLeast(FilterValue::Moment(chrono::DateTime::UNIX_EPOCH));
        for (field, comparison, index) in [
            ("status_id", number(), "orders_by_status"),
            ("counterparty_id", number(), "orders_by_customer"),
            ("client_id", number(), "orders_by_application"),
            ("price", number(), "orders_by_price"),
            ("created_at", since, "orders_by_date"),
        ] {
            let plan = plan(&db, Sort::descending("id"), Some(Condition { field, comparison })).await;
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{field}: {plan}");
        }
    }

    #[tokio::test]
    async fn matches_are_looked_up_by_id() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let project = ProjectId::new(1).unwrap();
        let read = db.database.read(move |connection| {
            let text = Line::parse("Ivanov 79001234567").unwrap();
            let page = Statement::new("SELECT o.id FROM orders o WHERE +o.project_id = ")
                .value(1_i64)
                .sql(" AND o.id IN ")
                .then(orders_found(connection, project, &text)?);
            page.sql(" ORDER BY o.id DESC LIMIT 15").plan(connection).map_err(Abort::<StoreError>::Query)
        });
        let plan = read.await.unwrap();
        assert!(!plan.contains("orders_by_project") && plan.contains("orders_by_customer"), "{plan}");
    }
}
