//! Versioned records: location of the version, and the last author.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::QueryResult;
use kontor_kernel::history::Author;
use kontor_kernel::{ProjectId, StoreError};

#[cfg(feature = "test-support")]
use crate::database::VersionedTable;
use crate::database::{Abort, AnyConnection, BoundedCache, Database, Extent, NewRow, Topic, VersionedRow};
use crate::decode;
use crate::histories::AUTHOR_NAMES;
use crate::statement::{Statement, by_place};

/// Kind of record that can be edited. Every statement that changes visible data of a record raises its version; in
/// tests [`Database::write`] rejects an operation that does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VersionedRecord {
    /// Agent, by its number.
    Agent,
    /// Application.
    Application,
    /// Bank account of a customer, by the customer and its number.
    BankRequisite,
    /// Block, by the application and its number.
    Block,
    /// Branch.
    Branch,
    /// Bank account of a branch, by the branch and its number.
    BranchRequisite,
    /// Brand.
    Brand,
    /// Category.
    Category,
    /// Contact of a customer, by the customer and its number.
    Contact,
    /// Customer.
    Customer,
    /// Department.
    Department,
    /// Discount.
    Discount,
    /// Employee.
    Employee,
    /// Stock level: quantity and price of an item in a warehouse. Reservations do not change the version.
    Inventory,
    /// Menu item, by the application and its number.
    MenuItem,
    /// Item.
    Nomenclature,
    /// Order.
    Order,
    /// Content page.
    Page,
    /// Payment type.
    PaymentType,
    /// Permission of the project.
    Permission,
    /// Plan that an application offers, by the application and its number.
    PlanAssignment,
    /// Promotion.
    Promotion,
    /// Integration link of a bank account of a branch, by the branch, the account and the integration.
    RequisiteIntegration,
    /// Role.
    Role,
    /// Settings of a project, by its number.
    Settings,
    /// Shop.
    Shop,
    /// Special hours of a shop on one day, by the shop and their number.
    ShopException,
    /// Opening hours of a shop, by the shop and their number.
    ShopHours,
    /// Position of a brand in an application, by the application and the brand.
    ShownBrand,
    /// Position of a category in an application, by the application and the category.
    ShownCategory,
    /// Slide, by the application and its number.
    Slide,
    /// Task.
    Task,
    /// Warehouse.
    Warehouse,
    /// Integration link of a warehouse, by the warehouse and the integration.
    WarehouseIntegration,
    /// Webhook, by the application and its number.
    Webhook,
}

/// Table that holds the history of a record.
#[derive(Clone, Copy)]
enum HistoryTable {
    None,
    General,
    OrderEvents,
    StockMovements,
}

struct Place {
    kind: &'static str,
    table: &'static str,
    /// Key columns, with the comparison operator.
    keys: &'static [&'static str],
    /// Condition that a record belongs to a project: the SQL before and after the project number.
    owned: (&'static str, &'static str),
    present: &'static str,
    history: HistoryTable,
}

const OWN: (&str, &str) = ("project_id = ", "");
const OF_APPLICATION: (&str, &str) = ("application_id IN (SELECT id FROM applications WHERE project_id = ", ")");

impl Place {
    const fn of(table: &'static str) -> Self {
        Self { kind: table, table, keys: &["id = "], owned: OWN, present: "TRUE", history: HistoryTable::None }
    }

    const fn history(self, history: HistoryTable) -> Self {
        Self { history, ..self }
    }

    const fn present(self, present: &'static str) -> Self {
        Self { present, ..self }
    }

    const fn named(self, kind: &'static str, keys: &'static [&'static str]) -> Self {
        Self { kind, keys, ..self }
    }

    const fn of_application(self) -> Self {
        Self { owned: OF_APPLICATION, ..self }
    }
}

impl VersionedRecord {
    const fn place(self) -> Place {
        const PRESENT: &str = "deleted_at IS NULL";
        const BY_APPLICATION: &[&str] = &["application_id = ", "id = "];
        const BY_SHOP: &[&str] = &["shop_id = ", "id = "];
        const BY_CUSTOMER: &[&str] = &["counterparty_id = ", "id = "];
        match self {
            Self::Agent => {
                Place::of("users").named("agents", &["id = "]).present("kind = 'agent' AND deleted_at IS NULL")
            }
            Self::Application => Place::of("applications").history(HistoryTable::General),
            Self::BankRequisite => Place::of("counterparty_bank_requisites").named("bank_requisites", BY_CUSTOMER),
            Self::Block => Place::of("blocks").named("blocks", BY_APPLICATION).history(HistoryTable::General),
            Self::Branch => Place::of("branches").history(HistoryTable::General),
            Self::BranchRequisite => {
                Place::of("branch_bank_requisites").named("branch-bank-requisites", &["branch_id = ", "id = "])
            }
            Self::Brand => Place::of("brands").history(HistoryTable::General),
            Self::Category => Place::of("categories").history(HistoryTable::General),
            Self::Contact => Place::of("counterparty_contacts").named("contacts", BY_CUSTOMER),
            Self::Customer => Place::of("counterparties").present(PRESENT).history(HistoryTable::General),
            Self::Department => Place::of("departments").history(HistoryTable::General),
            Self::Discount => Place::of("discounts").history(HistoryTable::General),
            Self::Employee => Place::of("users").present("kind = 'employee'").history(HistoryTable::General),
            Self::Inventory => Place::of("inventories").present(PRESENT).history(HistoryTable::StockMovements),
            Self::MenuItem => {
                Place::of("menu_items").named("menu_items", BY_APPLICATION).history(HistoryTable::General)
            }
            Self::Nomenclature => Place::of("nomenclatures").history(HistoryTable::General),
            Self::Order => Place::of("orders").history(HistoryTable::OrderEvents),
            Self::Page => Place::of("pages").history(HistoryTable::General),
            Self::PaymentType => Place::of("payment_types").history(HistoryTable::General),
            Self::Permission => Place::of("permissions"),
            Self::PlanAssignment => Place::of("subscription_nomenclatures")
                .named("subscription-nomenclatures", &["application_id = ", "id = "])
                .of_application(),
            Self::Promotion => Place::of("promotions").history(HistoryTable::General),
            Self::RequisiteIntegration => Place::of("integration_links")
                .named(
                    "requisite-integrations",
                    &[
                        "(SELECT r.branch_id FROM branch_bank_requisites r WHERE r.id = owner_id) = ",
                        "owner_id = ",
                        "integration_id = ",
                    ],
                )
                .present("owner = 'bank_requisite'"),
            Self::Role => Place::of("roles"),
            Self::Settings => Place { owned: ("id = ", ""), ..Place::of("projects") }
                .named("settings", &["id = "])
                .history(HistoryTable::General),
            Self::Shop => Place::of("shops").present(PRESENT).history(HistoryTable::General),
            Self::ShopException => Place::of("shop_exceptions").named("exceptions", BY_SHOP),
            Self::ShopHours => Place::of("shop_hours").named("hours", BY_SHOP),
            Self::ShownBrand => Place::of("application_brands")
                .named("application-brands", &["application_id = ", "brand_id = "])
                .of_application(),
            Self::ShownCategory => Place::of("application_categories")
                .named("application-categories", &["application_id = ", "category_id = "])
                .of_application(),
            Self::Slide => Place::of("slides").named("slides", BY_APPLICATION).history(HistoryTable::General),
            Self::Task => Place::of("tasks").history(HistoryTable::General),
            Self::Warehouse => Place::of("warehouses").present(PRESENT).history(HistoryTable::General),
            Self::WarehouseIntegration => Place::of("integration_links")
                .named("warehouse-integrations", &["owner_id = ", "integration_id = "])
                .present("owner = 'warehouse'"),
            Self::Webhook => Place::of("webhooks").named("webhooks", &["application_id = ", "id = "]),
        }
    }

    /// Returns the resource name of this kind.
    pub const fn kind(self) -> &'static str {
        self.place().kind
    }

    /// Returns the number of keys that identify a record.
    pub const fn numbers(self) -> usize {
        self.place().keys.len()
    }

    /// Returns the location of the version of the record with these numbers, if it belongs to the project.
    pub fn row(self, project: ProjectId, numbers: &[i64]) -> VersionedRow {
        let Place { table, keys, owned, present, .. } = self.place();
        let keys = keys.iter().zip(numbers).map(|(key, number)| (*key, *number, ""));
        let conditions = keys.chain([(owned.0, project.get(), owned.1)]).collect();
        VersionedRow { table, conditions, present }
    }
}

impl VersionedRecord {
    /// Returns the location of the version of a record to be created below the records with these numbers.
    pub fn new_row(self, project: ProjectId, above: &[i64]) -> NewRow {
        let numbers: Vec<i64> = above.iter().copied().chain([0]).collect();
        NewRow { kind: self.kind(), row: self.row(project, &numbers), place: above.len() }
    }
}

/// Table with a version that changes of all columns raise, except of `apart`.
#[cfg(feature = "test-support")]
pub(crate) const fn versioned(table: &'static str, apart: &'static [&'static str]) -> VersionedTable {
    VersionedTable { table, apart }
}

/// Tables of versioned records, checked in tests.
#[cfg(feature = "test-support")]
pub(crate) const VERSIONED: &[VersionedTable] = &[
    versioned("application_brands", &[]),
    versioned("application_categories", &[]),
    versioned("applications", &[]),
    versioned("blocks", &["name_key", "sort_key"]),
    versioned("branch_bank_requisites", &[]),
    versioned("branches", &["name_key", "sort_key"]),
    versioned("brands", &["sort_key"]),
    versioned("categories", &["sort_key"]),
    versioned("counterparties", &["search_text", "sort_key", "verified_at"]),
    versioned("counterparty_bank_requisites", &[]),
    versioned("counterparty_contacts", &[]),
    versioned("departments", &[]),
    versioned("discounts", &["name_key", "used_amount", "used_count"]),
    versioned("integration_links", &[]),
    versioned("menu_items", &["name_key", "sort_key"]),
    // Reservations of orders change often, and editors do not write them.
    versioned("inventories", &["deleted_at", "reserved", "updated_at"]),
    versioned("nomenclatures", &["article_search", "search_text", "sort_key", "views_count"]),
    versioned("orders", &[]),
    versioned("pages", &["search_text", "sort_key", "views_count"]),
    versioned("payment_types", &[]),
    versioned("permissions", &[]),
    versioned("projects", &[]),
    versioned("promotions", &[]),
    versioned("roles", &[]),
    versioned("shop_exceptions", &[]),
    versioned("shop_hours", &[]),
    versioned("shops", &["name_key", "sort_key"]),
    versioned("slides", &[]),
    versioned("subscription_nomenclatures", &[]),
    versioned("tasks", &[]),
    versioned("users", &["active_seconds", "last_activity_at", "password_hash", "updated_at"]),
    versioned("warehouses", &["deleted_at", "sort_key"]),
    versioned("webhooks", &["hangs", "paused_until"]),
];

/// Last change of a record.
#[derive(Debug, Clone)]
pub struct LastChange {
    /// Time of the change.
    pub at: DateTime<Utc>,
    /// Author of the change.
    pub author: Author,
    /// Name of the author.
    pub author_name: Option<String>,
}

by_place! {
    struct ChangeRow {
        at: NaiveDateTime,
        user_id: Option<i64>,
        customer_id: Option<i64>,
        user_name: Option<String>,
        customer_name: Option<String>,
    }
}

impl TryFrom<ChangeRow> for LastChange {
    type Error = StoreError;

    fn try_from(row: ChangeRow) -> Result<Self, StoreError> {
        let author = decode::author_of(row.user_id, row.customer_id)?;
        let author_name = decode::author_name(author, row.user_name, row.customer_name);
        Ok(Self { at: decode::moment(row.at), author, author_name })
    }
}

/// Returns the latest row of a history table. `authors` are the SQL expressions for the employee and the customer;
/// `from` selects the rows of the record.
fn latest(
    connection: &mut AnyConnection,
    authors: [&'static str; 2],
    from: Statement,
) -> QueryResult<Option<ChangeRow>> {
    let [user, customer] = authors;
    let rows = Statement::new(format!(
        "SELECT t.created_at, u.id, c.id, {AUTHOR_NAMES} FROM \
         (SELECT project_id, created_at, {user} AS user_id, {customer} AS customer_id FROM "
    ))
    .then(from)
    .sql(" ORDER BY id DESC LIMIT 1) t LEFT JOIN users u ON u.id = t.user_id AND u.project_id = t.project_id ")
    .sql("LEFT JOIN counterparties c ON c.id = t.customer_id AND c.project_id = t.project_id")
    .rows(connection)?;
    Ok(rows.into_iter().next())
}

const ACTORS: [&str; 2] =
    ["CASE WHEN actor = 'user' THEN actor_id END", "CASE WHEN actor = 'customer' THEN actor_id END"];

struct Required(BoundedCache<i64, bool>);

impl Default for Required {
    fn default() -> Self {
        Self(BoundedCache::new(4_096))
    }
}

impl Database {
    /// Returns the time and author of the last change of a record, if its kind has a history.
    pub async fn last_change(
        &self,
        record: VersionedRecord,
        project: ProjectId,
        number: i64,
    ) -> Result<Option<LastChange>, StoreError> {
        let Place { kind, history, .. } = record.place();
        self.read(move |connection| {
            let of = |table: &'static str, column: &'static str| {
                Statement::new(table).sql(" WHERE project_id = ").value(project.get()).sql(column).value(number)
            };
            let row = match history {
                HistoryTable::None => None,
                HistoryTable::General => {
                    let lines = of("histories", " AND resource_id = ").sql(" AND resource = ").value(kind);
                    latest(connection, ["user_id", "counterparty_id"], lines)?
                }
                HistoryTable::OrderEvents => latest(connection, ACTORS, of("order_events", " AND order_id = "))?,
                HistoryTable::StockMovements => {
                    latest(connection, ACTORS, of("stock_movements", " AND inventory_id = "))?
                }
            };
            Ok::<_, Abort<StoreError>>(row.map(LastChange::try_from).transpose()?)
        })
        .await
    }

    /// Returns `true` if the project requires `If-Match` for changes of records.
    pub async fn requires_if_match(&self, project: ProjectId) -> Result<bool, StoreError> {
        let key = project.get();
        if let Some(known) = self.memory::<Required>().0.cached(self.cache_versions(), &key) {
            return Ok(known);
        }
        let before = self.cache_versions().version_anywhere(Topic::Access);
        let required = self
            .expecting(Extent::Keys)
            .read(move |connection| {
                let required: Vec<bool> = Statement::new("SELECT if_match_required FROM projects WHERE id = ")
                    .value(key)
                    .scalars(connection)?;
                Ok::<_, Abort<StoreError>>(required.first().copied().unwrap_or_default())
            })
            .await?;
        self.memory::<Required>().0.keep(self.cache_versions(), before, project, key, &required);
        Ok(required)
    }
}
