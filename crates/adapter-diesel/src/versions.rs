//! Records with versions: where they stand, and who changed them last.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::result::QueryResult;
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamp};
use kontor_kernel::history::Author;
use kontor_kernel::{ProjectId, StoreError};

use crate::database::{Abort, AnyConnection, Database, Memory, NewRow, Topic, VersionedRow};
use crate::histories::AUTHOR_NAMES;
use crate::statement::{Statement, by_place};
use crate::stored;

/// A record that can be edited. Its version is raised by every statement that changes what is shown of it; in tests
/// [`Database::write`] refuses a step that forgets to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VersionedRecord {
    /// An agent, by its number.
    Agent,
    /// A bank account of a customer, by the customer and its number.
    BankRequisite,
    /// A block, by the application and its number.
    Block,
    /// A branch.
    Branch,
    /// A bank account of a branch, by the branch and its number.
    BranchRequisite,
    /// A brand.
    Brand,
    /// A category.
    Category,
    /// A contact of a customer, by the customer and its number.
    Contact,
    /// A customer.
    Customer,
    /// A department.
    Department,
    /// A discount.
    Discount,
    /// Stock of an item in a warehouse: its pieces and its price. What orders reserve leaves the version as it is.
    Inventory,
    /// A menu item, by the application and its number.
    MenuItem,
    /// A card.
    Nomenclature,
    /// An order.
    Order,
    /// A page.
    Page,
    /// A permission of the project.
    Permission,
    /// A plan that an application offers, by the application and its number.
    PlanAssignment,
    /// What a bank account of a branch uses of an integration, by the branch, the account and the integration.
    RequisiteIntegration,
    /// A role.
    Role,
    /// A shop.
    Shop,
    /// Other hours of a shop on one day, by the shop and their number.
    ShopException,
    /// Opening hours of a shop, by the shop and their number.
    ShopHours,
    /// A brand in the order of an application, by the application and the brand.
    ShownBrand,
    /// A category in the order of an application, by the application and the category.
    ShownCategory,
    /// A task.
    Task,
    /// A warehouse.
    Warehouse,
    /// What a warehouse uses of an integration, by the warehouse and the integration.
    WarehouseIntegration,
    /// A webhook, by the application and its number.
    Webhook,
}

/// Where what happened to a record is told.
#[derive(Clone, Copy)]
enum Told {
    Nowhere,
    Histories,
    OrderEvents,
    StockMovements,
}

struct Place {
    kind: &'static str,
    table: &'static str,
    /// Columns of its numbers, with what compares them.
    keys: &'static [&'static str],
    /// What makes it a record of a project, around the number of the project.
    owned: (&'static str, &'static str),
    alive: &'static str,
    told: Told,
}

const OWN: (&str, &str) = ("project_id = ", "");
const OF_APPLICATION: (&str, &str) = ("application_id IN (SELECT id FROM applications WHERE project_id = ", ")");

impl Place {
    const fn of(table: &'static str) -> Self {
        Self { kind: table, table, keys: &["id = "], owned: OWN, alive: "TRUE", told: Told::Nowhere }
    }

    const fn told(self, told: Told) -> Self {
        Self { told, ..self }
    }

    const fn alive(self, alive: &'static str) -> Self {
        Self { alive, ..self }
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
                Place::of("users").named("agents", &["id = "]).alive("kind = 'agent' AND deleted_at IS NULL")
            }
            Self::BankRequisite => Place::of("counterparty_bank_requisites").named("bank_requisites", BY_CUSTOMER),
            Self::Block => Place::of("blocks").named("blocks", BY_APPLICATION).told(Told::Histories),
            Self::Branch => Place::of("branches").told(Told::Histories),
            Self::BranchRequisite => {
                Place::of("branch_bank_requisites").named("branch-bank-requisites", &["branch_id = ", "id = "])
            }
            Self::Brand => Place::of("brands").told(Told::Histories),
            Self::Category => Place::of("categories").told(Told::Histories),
            Self::Contact => Place::of("counterparty_contacts").named("contacts", BY_CUSTOMER),
            Self::Customer => Place::of("counterparties").alive(PRESENT).told(Told::Histories),
            Self::Department => Place::of("departments").told(Told::Histories),
            Self::Discount => Place::of("discounts").told(Told::Histories),
            Self::Inventory => Place::of("inventories").alive(PRESENT).told(Told::StockMovements),
            Self::MenuItem => Place::of("menu_items").named("menu_items", BY_APPLICATION).told(Told::Histories),
            Self::Nomenclature => Place::of("nomenclatures").told(Told::Histories),
            Self::Order => Place::of("orders").told(Told::OrderEvents),
            Self::Page => Place::of("pages").told(Told::Histories),
            Self::Permission => Place::of("permissions"),
            Self::PlanAssignment => Place::of("subscription_nomenclatures")
                .named("subscription-nomenclatures", &["application_id = ", "id = "])
                .of_application(),
            Self::RequisiteIntegration => Place::of("integration_links")
                .named(
                    "requisite-integrations",
                    &[
                        "(SELECT r.branch_id FROM branch_bank_requisites r WHERE r.id = owner_id) = ",
                        "owner_id = ",
                        "integration_id = ",
                    ],
                )
                .alive("owner = 'bank_requisite'"),
            Self::Role => Place::of("roles"),
            Self::Shop => Place::of("shops").alive(PRESENT).told(Told::Histories),
            Self::ShopException => Place::of("shop_exceptions").named("exceptions", BY_SHOP),
            Self::ShopHours => Place::of("shop_hours").named("hours", BY_SHOP),
            Self::ShownBrand => Place::of("application_brands")
                .named("application-brands", &["application_id = ", "brand_id = "])
                .of_application(),
            Self::ShownCategory => Place::of("application_categories")
                .named("application-categories", &["application_id = ", "category_id = "])
                .of_application(),
            Self::Task => Place::of("tasks").told(Told::Histories),
            Self::Warehouse => Place::of("warehouses").alive(PRESENT).told(Told::Histories),
            Self::WarehouseIntegration => Place::of("integration_links")
                .named("warehouse-integrations", &["owner_id = ", "integration_id = "])
                .alive("owner = 'warehouse'"),
            Self::Webhook => Place::of("webhooks").named("webhooks", &["application_id = ", "id = "]),
        }
    }

    /// The word for records of this kind.
    pub const fn kind(self) -> &'static str {
        self.place().kind
    }

    /// How many numbers name one.
    pub const fn numbers(self) -> usize {
        self.place().keys.len()
    }

    /// Where the one with these numbers has its version, if it is the project's.
    pub fn row(self, project: ProjectId, numbers: &[i64]) -> VersionedRow {
        let Place { table, keys, owned, alive, .. } = self.place();
        let keys = keys.iter().zip(numbers).map(|(key, number)| (*key, *number, ""));
        let conditions = keys.chain([(owned.0, project.get(), owned.1)]).collect();
        VersionedRow { table, conditions, alive }
    }
}

impl VersionedRecord {
    /// Where one will have its version that is to be made below the records with these numbers.
    pub fn new_row(self, project: ProjectId, above: &[i64]) -> NewRow {
        let numbers: Vec<i64> = above.iter().copied().chain([0]).collect();
        NewRow { kind: self.kind(), row: self.row(project, &numbers), place: above.len() }
    }
}

/// What was last done to a record.
#[derive(Debug, Clone)]
pub struct LastChange {
    /// When.
    pub at: DateTime<Utc>,
    /// By whom.
    pub author: Author,
    /// What they are called.
    pub author_name: Option<String>,
}

by_place! {
    struct ChangeRow {
        at: NaiveDateTime as Timestamp,
        user_id: Option<i64> as Nullable<BigInt>,
        customer_id: Option<i64> as Nullable<BigInt>,
        user_name: Option<String> as Nullable<Text>,
        customer_name: Option<String> as Nullable<Text>,
    }
}

impl TryFrom<ChangeRow> for LastChange {
    type Error = StoreError;

    fn try_from(row: ChangeRow) -> Result<Self, StoreError> {
        let author = stored::author_of(row.user_id, row.customer_id)?;
        let author_name = stored::author_name(author, row.user_name, row.customer_name);
        Ok(Self { at: stored::moment(row.at), author, author_name })
    }
}

/// The latest line of a table that tells what happened. `authors` say which employee and which customer did it, `from` which
/// lines are the record's.
fn latest(
    connection: &mut AnyConnection,
    authors: [&'static str; 2],
    from: Statement,
) -> QueryResult<Option<ChangeRow>> {
    let [user, customer] = authors;
    let rows = Statement::new(format!(
        "SELECT t.created_at, u.id, c.id, {AUTHOR_NAMES} FROM (SELECT created_at, {user} AS user_id, {customer} AS customer_id FROM "
    ))
    .then(from)
    .sql(" ORDER BY id DESC LIMIT 1) t LEFT JOIN users u ON u.id = t.user_id ")
    .sql("LEFT JOIN counterparties c ON c.id = t.customer_id")
    .rows(connection)?;
    Ok(rows.into_iter().next())
}

const ACTORS: [&str; 2] =
    ["CASE WHEN actor = 'user' THEN actor_id END", "CASE WHEN actor = 'customer' THEN actor_id END"];

struct Required(Memory<i64, bool>);

impl Default for Required {
    fn default() -> Self {
        Self(Memory::new(4_096))
    }
}

by_place! {
    struct RequiredRow {
        required: bool as Bool,
    }
}

impl Database {
    /// Who changed a record last, and when, where that is told.
    pub async fn last_change(
        &self,
        record: VersionedRecord,
        project: ProjectId,
        number: i64,
    ) -> Result<Option<LastChange>, StoreError> {
        let Place { kind, told, .. } = record.place();
        self.read(move |connection| {
            let of = |table: &'static str, column: &'static str| {
                Statement::new(table).sql(" WHERE project_id = ").value(project.get()).sql(column).value(number)
            };
            let row = match told {
                Told::Nowhere => None,
                Told::Histories => {
                    let lines = of("histories", " AND resource_id = ").sql(" AND resource = ").value(kind);
                    latest(connection, ["user_id", "counterparty_id"], lines)?
                }
                Told::OrderEvents => latest(connection, ACTORS, of("order_events", " AND order_id = "))?,
                Told::StockMovements => latest(connection, ACTORS, of("stock_movements", " AND inventory_id = "))?,
            };
            Ok::<_, Abort<StoreError>>(row.map(LastChange::try_from).transpose()?)
        })
        .await
    }

    /// Whether records of a project are changed with the version that was read alone.
    pub async fn requires_if_match(&self, project: ProjectId) -> Result<bool, StoreError> {
        let key = project.get();
        if let Some(known) = self.memory::<Required>().0.recall(self.cache_versions(), &key) {
            return Ok(known);
        }
        let before = self.cache_versions().version_anywhere(Topic::Access);
        let required = self
            .read_brief(move |connection| {
                let rows: Vec<RequiredRow> =
                    Statement::new("SELECT if_match_required FROM projects WHERE id = ").value(key).rows(connection)?;
                Ok::<_, Abort<StoreError>>(rows.first().is_some_and(|row| row.required))
            })
            .await?;
        self.memory::<Required>().0.keep(self.cache_versions(), before, project, key, &required);
        Ok(required)
    }
}
