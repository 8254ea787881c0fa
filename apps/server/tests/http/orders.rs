//! Carts and orders over HTTP.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::shop_fixture::ShopFixture;
use crate::support::{Project, keys, send};

const ORDER: [&str; 26] = [
    "acquirer_payment_method_type",
    "address",
    "amount_due",
    "created_at",
    "delivery_price",
    "delivery_subtype",
    "delivery_subtype_param",
    "delivery_type",
    "final_price",
    "id",
    "last_redeemed_at",
    "original_price",
    "payment_link",
    "payment_type",
    "price",
    "product_discount_amount",
    "products",
    "promo_code",
    "promo_discount_amount",
    "redeem_token",
    "redeemed_count",
    "shop",
    "status",
    "total_discount_amount",
    "total_tickets",
    "updated_at",
];

database_tests! {
    async fn a_cart_is_priced(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(10, 26_550).await;
        shop.promo("SPRING").await;
        let products = json!([{ "id": item, "quantity": 5 }]);
        let cart = shop.precalculate(json!({ "products": products, "promo_code": "SPRING" })).await.expect(200);
        assert_eq!(cart["original_price"], json!(1327.5));
        assert_eq!((&cart["promo_discount_amount"], &cart["final_price"]), (&json!(132.75), &json!(1194.75)));
        assert_eq!((&cart["price"], &cart["discount"], &cart["total"]), (&json!("1327.50"), &json!("132.75"), &json!("1194.75")));
        assert_eq!((&cart["quantity_pack"], &cart["discount_error"]), (&json!(2), &Value::Null));
        assert_eq!(cart["applied_discount"]["value"], "10.00");
        assert_eq!(keys(&cart["products"][0]), ["id", "pieces_per_pack", "price", "quantity", "quantity_pack", "wholesale"]);
        let cart = shop.precalculate(json!({ "products": products, "promo_code": "NOPE" })).await.expect(200);
        assert_eq!((&cart["discount_error"]["code"], &cart["final_price"]), (&json!("unknown"), &json!(1327.5)));
    }

    async fn wrong_carts_are_named_by_line(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(10, 100).await;
        let cart = |products: Value| shop.precalculate(json!({ "products": products }));
        cart(json!([{ "id": item, "quantity": 11 }, { "id": 99_999, "quantity": 1 }])).await
            .expect_invalid(&["products.0.quantity", "products.1.id"]);
        cart(json!([{ "id": item, "quantity": 0 }, { "id": item, "quantity": 1.5 }])).await
            .expect_invalid(&["products.0.quantity", "products.1.quantity"]);
        cart(json!([])).await.expect_invalid(&["products"]);
        cart(json!([{ "id": item, "quantity": 1 }, { "id": item, "quantity": 1 }])).await.expect_invalid(&["products.1.id"]);
        shop.precalculate(json!({ "promo_code": "ВЕСНА" })).await.expect_invalid(&["products", "promo_code"]);
        let many: Vec<_> = (1..=501).map(|id| json!({ "id": id, "quantity": 1 })).collect();
        cart(json!(many)).await.expect_invalid(&["products"]);
    }

    async fn precalculating_is_limited(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(10, 100).await;
        for _ in 0..30 {
            shop.precalculate(json!({ "products": [{ "id": item, "quantity": 1 }] })).await.expect(200);
        }
        let answer = shop.precalculate(json!({ "products": [{ "id": item, "quantity": 1 }] })).await;
        answer.expect(429);
        assert!(answer.headers.contains_key("retry-after"));
    }

    async fn a_calculation_counts_earlier_uses_of_the_customer(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let (item, owner) = (shop.goods(10, 10_000).await, shop.server.owner(&shop.project).await);
        let promo = json!({ "name": "Once", "type": "percent", "value": 10, "code": "ONCE", "customer_limit": 1 });
        send(shop.server.as_staff(&owner, Method::POST, "/api/discounts").json(&promo)).await.expect(201);
        let cart = json!({ "products": [{ "id": item, "quantity": 1 }], "promo_code": "ONCE" });
        let path = "/api/counterparty/orders/precalculate";
        let own = async |bearer: &str| {
            let request = shop.server.as_customer(&shop.project, bearer, Method::POST, path);
            send(request.json(&cart)).await.expect(200)
        };
        assert_eq!(own(&shop.bearer).await["promo_discount_amount"], json!(10.0));
        let mut body = shop.pickup(item, 1);
        body["promo_code"] = json!("ONCE");
        shop.order(&body).await.expect(201);
        let used = own(&shop.bearer).await;
        assert_eq!((&used["discount_error"]["code"], &used["final_price"]), (&json!("customer_limit"), &json!(100.0)));
        shop.order(&body).await.expect_invalid(&["promo_code"]);
        // Others have not used it: another customer, an anonymous caller, and a caller with an invalid token.
        let (_, another) = shop.server.customer(&shop.project).await;
        assert_eq!(own(&another).await["discount_error"], Value::Null);
        assert_eq!(own("1|no-such-token").await["discount_error"], Value::Null);
        assert_eq!(shop.precalculate(cart.clone()).await.expect(200)["promo_discount_amount"], json!(10.0));
    }

    async fn a_payment_type_that_is_paid_online_needs_a_method(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let (item, owner) = (shop.goods(9, 100).await, shop.server.owner(&shop.project).await);
        let online = shop.server
            .insert(format!("INSERT INTO payment_types (project_id, name, is_online) VALUES ({}, 'Net', TRUE) RETURNING id", shop.project.id))
            .await;
        let mut body = shop.pickup(item, 1);
        body["payment_type_id"] = json!(online);
        shop.order(&body).await.expect_invalid(&["payment_method_type"]);
        let mut by_staff = body.clone();
        by_staff["counterparty_id"] = json!(shop.customer);
        let by_staff = shop.server.as_staff(&owner, Method::POST, "/api/orders").json(&by_staff);
        send(by_staff).await.expect_invalid(&["payment_method_type"]);
        let form = json!({ "first_name": "Anna", "last_name": "P", "phone": "79005550201", "address": "Elbe Street 5",
            "payment_type_id": online, "products": [{ "id": item, "quantity": 1 }] });
        let path = "/api/counterparty/contact_form";
        send(shop.server.as_app(&shop.project, Method::POST, path).json(&form)).await.expect_invalid(&["payment_type_id"]);
        assert_eq!((shop.count("orders").await, shop.reserved(item).await), (0, 0));
        body["payment_method_type"] = json!("bank_card");
        let placed = shop.order(&body).await.expect(201);
        assert!(placed["order"]["payment_link"].is_string(), "{placed}");
    }

    async fn an_order_is_placed_and_read_back(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(10, 26_550).await;
        let mut body = shop.pickup(item, 2);
        body["payment_type_id"] = json!(shop.payment_type);
        let placed = shop.order(&body).await.expect(201)["order"].clone();
        let expected: Vec<_> = ORDER.into_iter().filter(|key| *key != "updated_at").collect();
        assert_eq!(keys(&placed), expected);
        assert_eq!((&placed["status"]["id"], &placed["price"], &placed["final_price"]), (&json!(1), &json!("531.00"), &json!(531.0)));
        assert_eq!((&placed["address"], &placed["payment_link"]), (&json!("Square 1"), &Value::Null));
        assert_eq!(placed["payment_type"]["name"], "Cash");
        let list = shop.own("").await.expect(200);
        assert_eq!((&list["ordersCount"], &list["orders"][0]), (&json!(1), &placed));
        assert_eq!(shop.own(&format!("/{}", placed["id"])).await.expect(200)["order"], placed);
        assert_ne!(shop.order(&body).await.expect(201)["order"]["id"], placed["id"], "not idempotent");
        assert_eq!(shop.reserved(item).await, 4);
        let list = shop.own("").await.expect(200);
        assert_eq!((&list["ordersCount"], list["orders"].as_array().unwrap().len()), (&json!(2), 2));
        let oldest = shop.own("?page=2&per_page=1&other=1").await.expect(200);
        assert_eq!(oldest, json!({ "orders": [placed], "ordersCount": 2 }));
        shop.own("?page=0&per_page=501").await.expect_invalid(&["page", "per_page"]);
    }

    async fn every_wrong_part_of_an_order_is_named(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(1, 100).await;
        let products = json!([{ "id": item, "quantity": 1 }]);
        shop.order(&json!({})).await.expect_invalid(&["delivery_type_id", "products"]);
        shop.order(&json!({ "delivery_type_id": 1, "products": products, "phone": "79001234567", "comment": "x" })).await
            .expect_invalid(&["phone", "comment"]);
        shop.order(&json!({ "delivery_type_id": 1, "products": products })).await.expect_invalid(&["shop_id"]);
        shop.order(&json!({ "delivery_type_id": 2, "products": products })).await.expect_invalid(&["delivery_subtype_id"]);
        shop.order(&json!({ "delivery_type_id": 2, "delivery_subtype_id": 1, "products": products })).await
            .expect_invalid(&["delivery_subtype_param_id"]);
        shop.order(&json!({ "delivery_type_id": 2, "delivery_subtype_id": 2, "products": products })).await
            .expect_invalid(&["address"]);
        shop.order(&json!({
            "delivery_type_id": 1, "shop_id": 99_999, "payment_type_id": 99_999, "promo_code": "NOPE",
            "products": [{ "id": item, "quantity": 2 }],
        })).await.expect_invalid(&["payment_type_id", "products.0.quantity", "shop_id"]);
        let mut body = shop.pickup(item, 1);
        body["payment_method_type"] = json!("barter");
        shop.order(&body).await.expect_invalid(&["payment_method_type"]);
        assert_eq!(shop.count("orders").await, 0);
    }

    async fn inactive_and_unaccepted_options_cannot_be_chosen(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(9, 100).await;
        let (project, application) = (shop.project.id, shop.project.application_id);
        let card = shop.server
            .insert(format!("INSERT INTO payment_types (project_id, name) VALUES ({project}, 'Card') RETURNING id"))
            .await;
        let paid_by = |kind: i64| {
            let mut body = shop.pickup(item, 1);
            body["payment_type_id"] = json!(kind);
            body
        };
        shop.order(&paid_by(card)).await.expect(201);
        let link = format!(
            "INSERT INTO application_payment_types (project_id, application_id, payment_type_id) \
             VALUES ({project}, {application}, {})",
            shop.payment_type
        );
        shop.server.execute(&link).await;
        let refused = shop.order(&paid_by(card)).await;
        refused.expect_invalid(&["payment_type_id"]);
        assert_eq!(refused.json(), shop.order(&paid_by(999_999)).await.expect(422), "as one that does not exist");
        shop.order(&paid_by(shop.payment_type)).await.expect(201);

        let courier = json!({
            "delivery_type_id": 2, "delivery_subtype_id": 2, "address": "Elbe Street 5",
            "products": [{ "id": item, "quantity": 1 }],
        });
        shop.order(&courier).await.expect(201);
        shop.server.execute("UPDATE delivery_subtypes SET is_active = FALSE WHERE id = 2").await;
        shop.order(&courier).await.expect_invalid(&["delivery_subtype_id"]);
        shop.server.execute("UPDATE delivery_subtypes SET is_active = TRUE").await;
        shop.server.execute("UPDATE delivery_types SET is_active = FALSE WHERE id = 2").await;
        shop.order(&courier).await.expect_invalid(&["delivery_type_id"]);
        assert_eq!(shop.count("orders").await, 3);
    }

    async fn a_hidden_order_is_answered_as_one_that_does_not_exist(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let id = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let other_application = json!({ "name": "Twin", "branch_id": shop.project.branch_id });
        let other_application = shop.employee(Method::POST, "/api/applications", &other_application).await.expect(201)["application"].clone();
        let (application_id, app_token) = (other_application["id"].as_i64().unwrap(), other_application["token"].as_str().unwrap().to_owned());
        let other_application = Project { application_id, app_token, ..shop.project.clone() };
        let elsewhere = shop.server.token(&other_application, "counterparty", shop.customer, Some(application_id)).await;
        let (_, other) = shop.server.customer(&shop.project).await;
        for (project, bearer) in [(&shop.project, other), (&other_application, elsewhere)] {
            let read = async |id: i64| {
                let path = format!("/api/counterparty/orders/{id}");
                send(shop.server.as_customer(project, &bearer, Method::GET, &path)).await
            };
            let (hidden, absent) = (read(id).await, read(99_999).await);
            hidden.expect(404);
            assert_eq!((hidden.status, hidden.text), (absent.status, absent.text));
        }
    }

    async fn an_order_shows_the_name_that_the_dictionary_gives_its_status(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let placed = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"].clone();
        let owner = shop.server.owner(&shop.project).await;
        let read = async |path: &str| send(shop.server.as_staff(&owner, Method::GET, path)).await.expect(200);
        let rename = "UPDATE dictionary_items SET name = 'Принят' WHERE dictionary = 'order_statuses' AND id = 1";
        shop.server.execute(rename).await;
        let known = read("/api/order_statuses/1").await["orderStatus"]["name"].clone();
        assert_eq!(known, "Принят");
        let path = format!("/{}", placed["id"]);
        for status in [
            shop.own(&path).await.expect(200)["order"]["status"].clone(),
            shop.own("").await.expect(200)["orders"][0]["status"].clone(),
            shop.order(&shop.pickup(item, 1)).await.expect(201)["order"]["status"].clone(),
            read(&format!("/api/orders{path}")).await["order"]["status"].clone(),
            read("/api/orders").await["orders"][0]["status"].clone(),
        ] {
            assert_eq!(status, json!({ "id": 1, "name": known }));
        }
        assert_eq!(read("/api/tables/orders").await["orders"][0]["status"], known);
    }

    async fn foreign_orders_are_not_found(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let id = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let path = format!("/api/counterparty/orders/{id}");
        let (_, other) = shop.server.customer(&shop.project).await;
        send(shop.server.as_customer(&shop.project, &other, Method::GET, &path)).await.expect(404);
        send(shop.server.as_app(&shop.project, Method::GET, &path)).await.expect(401);
        let elsewhere = shop.server.project().await;
        let outsider = shop.server.owner(&elsewhere).await;
        send(shop.server.as_staff(&outsider, Method::GET, &format!("/api/orders/{id}"))).await.expect(403);
        send(shop.server.as_staff(&outsider, Method::GET, "/api/orders/99999")).await.expect(404);
    }

    async fn staff_see_and_move_orders(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let id = shop.order(&shop.pickup(item, 2)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let owner = shop.server.owner(&shop.project).await;
        let path = format!("/api/orders/{id}");
        let order = send(shop.server.as_staff(&owner, Method::GET, &path)).await.expect(200)["order"].clone();
        assert_eq!((&order["counterparty"]["phone"], &order["reservations"][0]["state"]), (&json!("79001234567"), &json!("held")));
        assert!(order.get("redeem_token").is_none());
        let put = |body: Value| shop.server.as_staff(&owner, Method::PUT, &path).json(&body);
        let edited = send(put(json!({ "comment": "fragile", "status_id": 3 }))).await.expect(200)["order"].clone();
        assert_eq!((&edited["comment"], &edited["status"]["id"]), (&json!("fragile"), &json!(3)));
        send(put(json!({ "status_id": 1 }))).await.expect_invalid(&["status_id"]);
        send(put(json!({ "status_id": 99, "manager_id": "x" }))).await.expect_invalid(&["status_id", "manager_id"]);
        send(put(json!({ "manager_id": 99_999 }))).await.expect_invalid(&["manager_id"]);
        let canceled = send(put(json!({ "status_id": 6, "comment": null }))).await.expect(200)["order"].clone();
        assert_eq!((&canceled["comment"], &canceled["reservations"][0]["state"]), (&Value::Null, &json!("released")));
        assert_eq!(shop.reserved(item).await, 0);
        let viewer = shop.server.staff_with(&shop.project, &["view-orders"]).await;
        send(shop.server.as_staff(&viewer, Method::PUT, &path).json(&json!({}))).await.expect(403);
    }

    async fn lists_are_filtered(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        for _ in 0..3 {
            shop.order(&shop.pickup(item, 1)).await.expect(201);
        }
        let owner = shop.server.owner(&shop.project).await;
        let get = |path: String| { let request = shop.server.as_staff(&owner, Method::GET, &path); async move { send(request).await } };
        let (customer, application) = (shop.customer, shop.project.application_id);
        for (query, total) in [
            (String::new(), 3),
            (format!("counterparty_id={customer}&application_id={application}&status_id=1"), 3),
            ("status_id=6".to_owned(), 0),
            ("query=79001234567&date_from=2020-01-01".to_owned(), 3),
            ("query=Анна+9009999".to_owned(), 0),
        ] {
            let list = get(format!("/api/orders?{query}")).await.expect(200);
            assert_eq!(list["ordersCount"], total, "{query}");
        }
        get("/api/orders?colour=red&per_page=101".to_owned()).await.expect(422);
        let table = get(format!("/api/tables/orders?client_id={application}&per_page=2")).await.expect(200);
        assert_eq!((&table["pagination"]["total"], table["orders"].as_array().unwrap().len()), (&json!(3), 2));
        let nobody = customer + 1;
        let table = get(format!("/api/tables/orders?counterparty_id={nobody}&client_id={application}")).await.expect(200);
        assert_eq!(table["pagination"]["total"], 0);
        let before = shop.server.db.database.statements();
        get("/api/orders?per_page=1".to_owned()).await.expect(200);
        let one = shop.server.db.database.statements() - before;
        get("/api/orders".to_owned()).await.expect(200);
        assert_eq!(shop.server.db.database.statements() - before, 2 * one);
    }

    async fn the_customer_and_the_application_are_filtered_apart(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let (project, application) = (&shop.project, shop.project.application_id);
        let other_application = json!({ "name": "Twin", "branch_id": project.branch_id });
        let other_application = shop.employee(Method::POST, "/api/applications", &other_application).await.expect(201)["application"]["id"].clone();
        let link = "INSERT INTO warehouse_applications (project_id, warehouse_id, application_id) VALUES";
        shop.server.execute(&format!("{link} ({}, {}, {other_application})", project.id, shop.warehouse)).await;
        let (other, _) = shop.server.customer(project).await;
        let order = async |customer: i64, application: &Value| {
            let mut body = shop.pickup(item, 1);
            body["counterparty_id"] = json!(customer);
            body["application_id"] = application.clone();
            shop.employee(Method::POST, "/api/orders", &body).await.expect(201)["order"]["id"].clone()
        };
        let through_twin = order(shop.customer, &other_application).await;
        let of_other = order(other, &json!(application)).await;
        for (query, found) in [
            (format!("client_id={other_application}"), vec![&through_twin]),
            (format!("client_id={application}"), vec![&of_other]),
            (format!("counterparty_id={other}"), vec![&of_other]),
            (format!("counterparty_id={}&client_id={application}", shop.customer), vec![]),
        ] {
            let path = format!("/api/tables/orders?{query}");
            let table = shop.employee(Method::GET, &path, &json!({})).await.expect(200);
            let rows = table["orders"].as_array().unwrap();
            let numbers: Vec<&Value> = rows.iter().map(|row| &row["id"]["value"]).collect();
            assert_eq!(numbers, found, "{query}");
        }
    }
}
