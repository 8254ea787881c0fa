//! A merchant: a project with staff, items, plans and a webhook endpoint.

use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::testing::stock_fixture::{Item, StockFixture};
use kontor_auth::model::{AgentPolicy, AgentRule, AgentRules};
use kontor_catalog::model::{InventoryDraft, StockLevel};
use kontor_kernel::{
    AppScope, InventoryId, Money, NomenclatureId, PaymentTypeId, Permission, ProjectId, ShopId, Staff, TokenId, UserId,
    WarehouseId,
};
use kontor_webhooks::model::{EndpointUrl, WebhookDraft};

use crate::acts::agents::TASKS;
use crate::services::Services;

/// Time zones with and without daylight saving time, one of them with a shift of half an hour.
const ZONES: [&str; 5] =
    ["Europe/Moscow", "Europe/Berlin", "America/New_York", "Asia/Vladivostok", "Australia/Lord_Howe"];
const AT: &str = "'2026-01-01 00:00:00'";

/// Records of a merchant.
#[derive(Debug, Clone)]
pub struct Merchant {
    pub app: AppScope,
    /// Employee with all permissions.
    pub staff: Staff,
    /// The same employee with a session that began before every call of an agent.
    pub supervisor: Staff,
    /// Agent whose writes need approval.
    pub agent: Staff,
    /// Shop where customers collect orders.
    pub shop: ShopId,
    /// Payment type of the shop.
    pub payment_type: PaymentTypeId,
    /// Items; the last ones are tickets.
    pub items: Vec<NomenclatureId>,
    /// Article numbers of the items.
    pub articles: Vec<String>,
    /// Stock levels of the items.
    pub stock: Vec<InventoryId>,
    /// Warehouse named in spreadsheets.
    pub warehouse: i64,
    /// Subscription plans.
    pub plans: Vec<NomenclatureId>,
    /// Promo codes with a discount.
    pub promo_codes: Vec<String>,
}

/// Creates a token of an employee or agent.
async fn session(db: &TestDatabase, p: ProjectId, user: i64) -> TokenId {
    let token = db
        .number(format!(
            "INSERT INTO access_tokens (guard, subject_id, project_id, fingerprint, created_at, expires_at) VALUES ('user', \
             {user}, {p}, 'f', {AT}, '2100-01-01 00:00:00') RETURNING id AS number"
        ))
        .await;
    TokenId::new(token).unwrap()
}

impl Merchant {
    /// Returns the merchant with another token of its agent.
    pub async fn with_agent_token(&self, db: &TestDatabase) -> Self {
        let token_id = session(db, self.agent.project_id, self.agent.user_id.get()).await;
        Self { agent: Staff { token_id, ..self.agent.clone() }, ..self.clone() }
    }

    /// Creates the records of a merchant.
    pub async fn opens(number: usize, db: &TestDatabase, services: &Services) -> Self {
        let house = StockFixture::open(db).await;
        let (p, app) = (house.project, house.first);
        let zone = ZONES[number % ZONES.len()];
        // Every second merchant charges for delivery.
        let charges = if number % 2 == 1 { "TRUE" } else { "FALSE" };
        house
            .run(format!(
                "UPDATE projects SET time_zone = '{zone}', charges_delivery = {charges} WHERE id = {p};
                 INSERT INTO delivery_types (project_id, id, name, price, is_active) VALUES ({p}, 1, 'Pickup', 0, TRUE), \
                 ({p}, 2, 'Delivery', 30000, TRUE);
                 INSERT INTO delivery_subtypes (project_id, id, delivery_type_id, name, price, is_active) VALUES \
                 ({p}, 2, 2, 'Courier', 30000, TRUE);"
            ))
            .await;
        let shop = house
            .number(format!(
                "INSERT INTO shops (project_id, branch_id, name, address, is_active, created_at, updated_at) \
                 SELECT {p}, min(id), 'Shop', 'Square 1', TRUE, {AT}, {AT} FROM branches WHERE project_id = {p} \
                 RETURNING id AS number"
            ))
            .await;
        let payment_type = house
            .number(format!("INSERT INTO payment_types (project_id, name) VALUES ({p}, 'Cash') RETURNING id AS number"))
            .await;
        let role = house
            .number(format!(
                "INSERT INTO roles (project_id, name, is_owner, created_at, updated_at) VALUES ({p}, 'Owner', TRUE, {AT}, \
                 {AT}) RETURNING id AS number"
            ))
            .await;
        let user = house
            .number(format!(
                "INSERT INTO users (project_id, role_id, login, email, password_hash, first_name, last_name, is_banned, \
                 is_sick, active_seconds, created_at, updated_at) VALUES ({p}, {role}, 'owner{p}', 'o{p}@shop.example', '', \
                 'Ivan', 'Smirnov', FALSE, FALSE, 0, {AT}, {AT}) RETURNING id AS number"
            ))
            .await;
        let staff = Staff {
            project_id: p,
            user_id: UserId::new(user).unwrap(),
            token_id: TokenId::new(1).unwrap(),
            is_agent: false,
            permissions: Permission::all().collect(),
        };
        let agent_role = house
            .number(format!(
                "INSERT INTO roles (project_id, name, is_owner, kind, created_at, updated_at) VALUES ({p}, 'Agent', FALSE, \
                 'agent', {AT}, {AT}) RETURNING id AS number"
            ))
            .await;
        let agent = house
            .number(format!(
                "INSERT INTO users (project_id, role_id, login, email, password_hash, first_name, last_name, is_banned, \
                 is_sick, active_seconds, kind, created_at, updated_at) VALUES ({p}, {agent_role}, 'agent{p}', \
                 'a{p}@shop.example', '', 'Bot', '', FALSE, FALSE, 0, 'agent', {AT}, {AT}) RETURNING id AS number"
            ))
            .await;
        let agent = Staff {
            user_id: UserId::new(agent).unwrap(),
            token_id: session(db, p, agent).await,
            is_agent: true,
            permissions: TASKS.permissions.iter().copied().collect(),
            ..staff.clone()
        };
        let supervisor = Staff { token_id: session(db, p, user).await, ..staff.clone() };
        let mut merchant = Self {
            app,
            staff,
            supervisor,
            agent,
            shop: ShopId::new(shop).unwrap(),
            payment_type: PaymentTypeId::new(payment_type).unwrap(),
            items: Vec::new(),
            articles: Vec::new(),
            stock: Vec::new(),
            warehouse: house.near,
            plans: Vec::new(),
            promo_codes: Vec::new(),
        };
        merchant.fills_the_shelves(&house, services).await;
        merchant.offers(&house).await;
        let url = EndpointUrl::parse(&format!("https://merchant{number}.example/hook")).unwrap();
        let draft = WebhookDraft { name: None, url, is_active: true };
        services.webhooks.create(&merchant.staff, app.application_id, draft).await.unwrap();
        let rules = AgentRules { write: Some(AgentRule::NeedsApproval), ..AgentRules::default() };
        // The rules read the calls, so they stay for the whole run.
        let policy = AgentPolicy { rules, retention_days: 3_650, ..AgentPolicy::default() };
        services.agents.set_policy(&merchant.staff, policy).await.unwrap();
        merchant
    }

    async fn fills_the_shelves(&mut self, house: &StockFixture<'_>, services: &Services) {
        const GOODS: [&str; 6] = ["Tea", "Coffee", "Cup", "Kettle", "Concert", "Lecture"];
        let category = house.category("All", None).await;
        for (place, name) in (0_i64..).zip(GOODS) {
            let item = house.item(Item::goods(name, category)).await;
            let article = format!("a-{item}");
            let kind = if place >= 4 { "6" } else { "NULL" };
            house
                .run(format!(
                    "UPDATE nomenclatures SET type_id = {kind}, article = '{article}', article_key = '{article}' \
                     WHERE id = {item}"
                ))
                .await;
            let item = NomenclatureId::new(item).unwrap();
            // The third item is stocked in two warehouses.
            let warehouses = if place == 2 { vec![house.near, house.far] } else { vec![house.near] };
            for warehouse in warehouses {
                let draft = InventoryDraft {
                    warehouse_id: WarehouseId::new(warehouse).unwrap(),
                    nomenclature_id: item,
                    quantity: StockLevel::new(20 + place).unwrap(),
                    price: Money::from_minor(9_990 + 3_333 * place).unwrap(),
                };
                let kept = services.inventories.create(&self.staff, draft).await.unwrap();
                self.stock.push(kept.id);
            }
            self.items.push(item);
            self.articles.push(article);
        }
        for (name, price, months) in [("Silver", 49_000, 1), ("Gold", 99_000, 1), ("Yearly", 490_000, 12)] {
            let plan = house.item(Item::goods(name, category)).await;
            let (project, app) = (self.app.project_id, self.app.application_id);
            house
                .run(format!(
                    "UPDATE nomenclatures SET kind_id = 1, is_subscription = TRUE, price = {price}, \
                     billing_period_months = {months} WHERE id = {plan};
                     INSERT INTO subscription_nomenclatures (project_id, application_id, nomenclature_id, plan_slug, \
                     position, is_active, created_at, updated_at) \
                     VALUES ({project}, {app}, {plan}, 'plan-{plan}', 1, TRUE, {AT}, {AT});"
                ))
                .await;
            self.plans.push(NomenclatureId::new(plan).unwrap());
        }
        house.db.database.rebuild_offers().await.unwrap();
    }

    async fn offers(&mut self, house: &StockFixture<'_>) {
        let p = house.project;
        for (code, kind, value, limit) in
            [("SPRING", "percent", 1_000, "NULL"), ("FEW", "fixed", 5_000, "12"), ("ONCE", "percent", 3_333, "NULL")]
        {
            let customer = if code == "ONCE" { "1" } else { "NULL" };
            house
                .run(format!(
                    "INSERT INTO discounts (project_id, name, code, kind, value, target, minimum_sum, usage_limit, \
                     customer_limit, used_count, status, created_at, updated_at) VALUES ({p}, 'Promo', '{code}', '{kind}', \
                     {value}, 'cart', 0, {limit}, {customer}, 0, 'active', {AT}, {AT})"
                ))
                .await;
            self.promo_codes.push(code.to_owned());
        }
    }
}
