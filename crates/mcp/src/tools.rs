//! Tools, by group: each is one piece of work, carried out by one operation of the API. Together they must stay few and
//! short: a model reads all of them before it works.
//!
//! Writes have the argument `dry_run`: the dry run of the operation, or its rehearsal.

/// Effect of a tool. The classes are those of the policy for agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Changes nothing.
    Read,
    /// Changes what another write takes back.
    Write,
    /// Moves money, or changes prices, stock or what customers owe.
    Money,
    /// Ends or deletes what cannot be restored.
    Destructive,
}

/// Tool for agents. Schemas and permissions are those of its operation.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Name, unique among the tools.
    pub name: &'static str,
    /// Description for models.
    pub about: &'static str,
    /// Effect.
    pub class: Class,
    /// Method and path template of the operation.
    pub operation: &'static str,
    /// Arguments that fill placeholders of the path: argument and placeholder.
    pub ids: &'static [(&'static str, &'static str)],
    /// Fields of the body or the query string that are arguments. Required fields must be among them.
    pub takes: &'static [&'static str],
    /// Fields of the records in the response that the output schema lists.
    pub shows: &'static [&'static str],
    /// JSON object with arguments.
    pub example: &'static str,
}

macro_rules! classes {
    ($($name:ident => $class:ident,)+) => {$(
        #[doc = concat!("Creates a tool of the class `", stringify!($class), "`.")]
        pub const fn $name(
            name: &'static str,
            about: &'static str,
            operation: &'static str,
        ) -> Self {
            Self {
                name,
                about,
                class: Class::$class,
                operation,
                ids: &[],
                takes: &[],
                shows: &[],
                example: "{}",
            }
        }
    )+};
}

impl Tool {
    classes! {
        read => Read,
        write => Write,
        money => Money,
        destructive => Destructive,
    }

    /// Names the arguments that fill placeholders of the path.
    #[must_use]
    pub const fn ids(mut self, ids: &'static [(&'static str, &'static str)]) -> Self {
        self.ids = ids;
        self
    }

    /// Names the fields that are arguments.
    #[must_use]
    pub const fn takes(mut self, fields: &'static [&'static str]) -> Self {
        self.takes = fields;
        self
    }

    /// Names the fields of the output schema.
    #[must_use]
    pub const fn shows(mut self, fields: &'static [&'static str]) -> Self {
        self.shows = fields;
        self
    }

    /// Sets the example.
    #[must_use]
    pub const fn example(mut self, arguments: &'static str) -> Self {
        self.example = arguments;
        self
    }
}

/// All tools: name of the group, and its tools.
pub const GROUPS: &[(&str, &[Tool])] = &[
    ("orders", ORDERS),
    ("stock", STOCK),
    ("catalogue", CATALOGUE),
    ("customers", CUSTOMERS),
    ("subscriptions", SUBSCRIPTIONS),
    ("content", CONTENT),
    ("tasks", TASKS),
    ("reports", REPORTS),
];

const ORDERS: &[Tool] = &[
    Tool::read("find_orders", "Orders, newest first. Oldest first with order_by id_asc.", "GET /api/orders")
        .takes(&["query", "status_id", "counterparty_id", "date_from", "date_to", "order_by", "page", "per_page"])
        .shows(&["id", "status", "payment_state", "amount_due", "counterparty"])
        .example(r#"{ "status_id": [22], "order_by": "id_asc", "per_page": 1 }"#),
    Tool::read("get_order", "One order with lines (`reservations`), payments and refunds.", "GET /api/orders/{id}")
        .ids(&[("order_id", "id")])
        .shows(&["id", "status", "reservations", "amount_due", "captured_amount"])
        .example(r#"{ "order_id": 3 }"#),
    Tool::read("price_order", "Price and availability of a cart. Stores nothing.", "POST /api/orders/calculator")
        .takes(&[
            "products",
            "counterparty_id",
            "application_id",
            "promo_code",
            "delivery_type_id",
            "delivery_subtype_id",
        ])
        .shows(&["products", "amount_due", "discount_error"])
        .example(r#"{ "products": [{ "id": 1, "quantity": 2 }] }"#),
    Tool::money(
        "create_order",
        "Places an order for a customer and reserves stock.",
        "POST /api/orders",
    )
    .takes(&[
        "counterparty_id",
        "products",
        "delivery_type_id",
        "delivery_subtype_id",
        "delivery_subtype_param_id",
        "shop_id",
        "address",
        "comment",
        "promo_code",
        "application_id",
    ])
    .shows(&["id", "status", "amount_due", "payment_link"])
    .example(
        r#"{ "counterparty_id": 1, "products": [{ "id": 1, "quantity": 1 }], "delivery_type_id": 1, "shop_id": 1 }"#,
    ),
    Tool::money(
        "update_order",
        "Changes status or details. Canceling releases stock, issuing ships it.",
        "PUT /api/orders/{id}",
    )
    .ids(&[("order_id", "id")])
    .takes(&["status_id", "comment", "address", "manager_id"])
    .shows(&["id", "status"])
    .example(r#"{ "order_id": 3, "comment": "Call first.", "dry_run": true }"#),
    Tool::money("add_order_line", "Adds an item to an order.", "POST /api/orders/{id}/nomenclatures")
        .ids(&[("order_id", "id")])
        .takes(&["nomenclature_id", "quantity", "price"])
        .shows(&["id", "status", "amount_due"])
        .example(r#"{ "order_id": 2, "nomenclature_id": 1, "quantity": 1, "dry_run": true }"#),
    Tool::money(
        "change_order_line",
        "Changes quantity or price of a line. On a paid order, removed units are refunded.",
        "PUT /api/orders/{id}/nomenclatures/{nomenclature}",
    )
    .ids(&[("order_id", "id"), ("line_id", "nomenclature")])
    .takes(&["quantity", "price", "reason", "restock"])
    .shows(&["id", "status", "amount_due"])
    .example(r#"{ "order_id": 2, "line_id": 1, "quantity": 1, "dry_run": true }"#),
    Tool::destructive(
        "remove_order_line",
        "Removes a line. On a paid order, it is refunded.",
        "DELETE /api/orders/{id}/nomenclatures/{nomenclature}",
    )
    .ids(&[("order_id", "id"), ("line_id", "nomenclature")])
    .takes(&["reason", "restock"])
    .shows(&["id", "status", "amount_due"])
    .example(r#"{ "order_id": 2, "line_id": 1, "dry_run": true }"#),
    Tool::money(
        "refund_order",
        "Refunds lines, an amount or everything of a paid order. Send one of lines, amount, delivery, everything.",
        "POST /api/orders/{id}/request-refund",
    )
    .ids(&[("order_id", "id")])
    .takes(&["lines", "amount", "delivery", "everything", "reason", "restock"])
    .shows(&["id", "status", "refunded_amount"])
    .example(r#"{ "order_id": 3, "lines": [{ "id": 3, "quantity": 1 }], "reason": "Dented", "restock": false }"#),
    Tool::money(
        "record_payment",
        "Records a payment received outside the service.",
        "POST /api/orders/{id}/record-payment",
    )
    .ids(&[("order_id", "id")])
    .takes(&["method", "receipt"])
    .shows(&["id", "status", "captured_amount"])
    .example(r#"{ "order_id": 2, "method": "cash" }"#),
    Tool::destructive(
        "cancel_order",
        "Cancels an unpaid order and releases its stock.",
        "DELETE /api/orders/{id}",
    )
    .ids(&[("order_id", "id")])
    .example(r#"{ "order_id": 2 }"#),
];

const STOCK: &[Tool] = &[
    Tool::read(
        "find_stock",
        "Stock records by item and warehouse. Low stock with quantity_lt.",
        "GET /api/inventories",
    )
    .takes(&["query", "warehouse_id", "nomenclature_id", "quantity_lt", "page", "per_page"])
    .shows(&["id", "nomenclature", "warehouse", "quantity", "available"])
    .example(r#"{ "quantity_lt": 5 }"#),
    Tool::money(
        "correct_stock",
        "Sets quantity or price of one stock record. For several, use import_stock.",
        "PUT /api/inventories/{id}",
    )
    .ids(&[("inventory_id", "id")])
    .takes(&["quantity", "price", "comment"])
    .shows(&["id", "quantity", "available", "price"])
    .example(r#"{ "inventory_id": 1, "quantity": 10, "comment": "Counted." }"#),
    Tool::money(
        "import_stock",
        "Sets stock and prices from a CSV table, such as `article,warehouse,quantity,price`.",
        "POST /api/inventories/upload",
    )
    .takes(&["csv", "partial", "keep_empty"])
    .shows(&["message", "created", "updated", "errors", "job"])
    .example(r#"{ "csv": "article,warehouse,quantity,price\nA-1,Main,5,4.90\n", "dry_run": true }"#),
    Tool::read("list_warehouses", "Warehouses with their ids.", "GET /api/tables/warehouses")
        .takes(&["page", "per_page"]),
];

const CATALOGUE: &[Tool] = &[
    Tool::read("search_items", "Finds items by words of name or article.", "POST /api/search_nomenclature")
        .takes(&["query", "limit"])
        .shows(&["id", "name", "article", "price"])
        .example(r#"{ "query": "tea" }"#),
    Tool::read("list_items", "Items by category or brand.", "GET /api/nomenclatures")
        .takes(&["category_id", "brand_id", "order_by", "page", "per_page"])
        .shows(&["id", "name", "article", "price"])
        .example(r#"{ "per_page": 5 }"#),
    Tool::read("get_item", "One item with texts, photos and parameters.", "GET /api/nomenclatures/{id}")
        .ids(&[("item_id", "id")])
        .shows(&["id", "name", "article", "description", "price"])
        .example(r#"{ "item_id": 1 }"#),
    Tool::money("create_item", "Creates an item.", "POST /api/nomenclatures")
        .takes(&["name", "kind_id", "article", "price", "category_id", "brand_id", "description"])
        .shows(&["id", "name", "price"])
        .example(r#"{ "name": "Tin", "kind_id": 2 }"#),
    Tool::money(
        "update_item",
        "Changes texts, category or price. For prices in bulk, use import_items.",
        "PUT /api/nomenclatures/{id}",
    )
    .ids(&[("item_id", "id")])
    .takes(&["name", "article", "price", "category_id", "brand_id", "description"])
    .shows(&["id", "name", "price"])
    .example(r#"{ "item_id": 1, "description": "<p>New</p>" }"#),
    Tool::money(
        "import_items",
        "Creates and changes items from a CSV table, such as `article,name,kind,price`.",
        "POST /api/nomenclatures/import",
    )
    .takes(&["csv", "partial", "keep_empty"])
    .shows(&["message", "created", "updated", "errors", "job"])
    .example(r#"{ "csv": "article,price\nA-1,9.90\n", "dry_run": true }"#),
    Tool::read("list_categories", "Categories with their parents.", "GET /api/categories")
        .shows(&["id", "name", "parent"]),
];

const CUSTOMERS: &[Tool] = &[
    Tool::read("find_customers", "Customers by name, phone or e-mail.", "GET /api/counterparties")
        .takes(&["query", "page", "per_page"])
        .shows(&["id", "name", "first_name", "last_name", "phone_1"])
        .example(r#"{ "query": "Ivan" }"#),
    Tool::write("create_customer", "Creates a customer.", "POST /api/counterparties")
        .takes(&["is_company", "name", "first_name", "last_name", "phone_1", "email", "address"])
        .shows(&["id"])
        .example(r#"{ "is_company": false, "first_name": "Ivan" }"#),
    Tool::write("update_customer", "Changes a customer.", "PUT /api/counterparties/{id}")
        .ids(&[("customer_id", "id")])
        .takes(&["is_company", "name", "first_name", "last_name", "phone_1", "email", "address"])
        .shows(&["id"])
        .example(r#"{ "customer_id": 1, "is_company": false, "address": "Elbe Street 5" }"#),
];

const SUBSCRIPTIONS: &[Tool] = &[
    Tool::read("find_subscriptions", "Subscriptions by state or customer.", "GET /api/subscriptions")
        .takes(&["status", "counterparty_id", "order_by", "page", "per_page"])
        .shows(&["id", "status", "amount", "next_charge_at"])
        .example(r#"{ "per_page": 5 }"#),
    Tool::read("upcoming_charges", "Charges of subscriptions that are due soon.", "GET /api/subscriptions/upcoming")
        .takes(&["until", "page", "per_page"])
        .shows(&["subscription_id", "amount", "charge_at", "past_due"]),
    Tool::money("pause_subscription", "Moves the next period to a later time.", "POST /api/subscriptions/{id}/pause")
        .ids(&[("subscription_id", "id")])
        .takes(&["until"])
        .shows(&["id", "status", "next_charge_at"])
        .example(r#"{ "subscription_id": 1, "until": "2030-01-01T00:00:00Z" }"#),
    Tool::destructive(
        "cancel_subscription",
        "Ends a subscription after its paid period.",
        "POST /api/subscriptions/{id}/cancel",
    )
    .ids(&[("subscription_id", "id")])
    .shows(&["id", "status"])
    .example(r#"{ "subscription_id": 1 }"#),
];

const CONTENT: &[Tool] = &[
    Tool::read("find_pages", "Content pages.", "GET /api/tables/pages").takes(&["query", "page"]),
    Tool::read("get_page", "One page with its HTML.", "GET /api/pages/{id}")
        .ids(&[("page_id", "id")])
        .shows(&["id", "title", "slug", "content", "is_active"])
        .example(r#"{ "page_id": 1 }"#),
    Tool::write("create_page", "Creates a page; a draft unless is_active.", "POST /api/pages")
        .takes(&["title", "content", "description", "is_active"])
        .shows(&["id", "title", "is_active"])
        .example(r#"{ "title": "News", "is_active": false }"#),
    Tool::write("update_page", "Changes a page that customers see.", "PUT /api/pages/{id}")
        .ids(&[("page_id", "id")])
        .takes(&["title", "content", "description", "is_active"])
        .shows(&["id", "title", "is_active"])
        .example(r#"{ "page_id": 1, "title": "News" }"#),
];

const TASKS: &[Tool] = &[
    Tool::read("find_tasks", "Tasks of employees.", "GET /api/tasks")
        .takes(&["query", "status_id", "responsible_id", "order_id", "page", "per_page"])
        .shows(&["id", "title", "status", "deadline"])
        .example(r#"{ "status_id": [1, 2] }"#),
    Tool::write("create_task", "Creates a task for an employee.", "POST /api/tasks")
        .takes(&["title", "description", "status_id", "responsible_id", "order_id", "counterparty_id", "deadline"])
        .shows(&["id", "title", "status"])
        .example(r#"{ "title": "Call the supplier" }"#),
    Tool::write("update_task", "Changes a task.", "PUT /api/tasks/{id}")
        .ids(&[("task_id", "id")])
        .takes(&["title", "description", "status_id", "responsible_id", "deadline"])
        .shows(&["id", "title", "status"])
        .example(r#"{ "task_id": 1, "status_id": 3 }"#),
];

const REPORTS: &[Tool] = &[
    Tool::read("report_sales", "Orders and revenue by day or hour.", "GET /api/reports/orders")
        .takes(&["from", "to", "by"])
        .shows(&["rows", "total"])
        .example(r#"{ "from": "2026-01-01", "to": "2026-01-31" }"#),
    Tool::read("report_items", "Best-selling items of a period.", "GET /api/reports/items")
        .takes(&["from", "to", "order_by"])
        .shows(&["items"]),
    Tool::read("get_job", "State of an import that runs as a job.", "GET /api/jobs/{id}")
        .ids(&[("job_id", "id")])
        .shows(&["id", "status", "done_rows", "total_rows", "errors_total"])
        .example(r#"{ "job_id": 1 }"#),
];
