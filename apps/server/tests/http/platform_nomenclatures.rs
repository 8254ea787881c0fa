//! Items of the catalog.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;

const PATH: &str = "/api/nomenclatures";
const TABLE: &str = "/api/tables/nomenclatures";

async fn full_card(fixture: &ProjectFixture) -> Value {
    let category = fixture.create("/api/categories", json!({ "name": "Чай" })).await;
    let brand = fixture.create("/api/brands", json!({ "name": "Слон" })).await;
    let project = fixture.project.id;
    let tag = fixture.server.insert(format!(
        "INSERT INTO tags (project_id, name, created_at) VALUES ({project}, 'Хит', '2026-01-01 00:00:00') RETURNING id"
    )).await;
    json!({
        "article": "ЧАЙ-1", "name": "Чай листовой", "kind_id": 2, "category_id": category, "brand_id": brand,
        "country_id": 8, "storage_unit_id": 2, "vat_id": 3, "price": "265.00", "description": "<p>А</p>",
        "characteristics": "<ul><li>100 г</li></ul>", "is_subscription": false,
        "parameters": { "wholesale": true, "pieces_per_pack": 12, "quantity_pack": 4 },
        "photos": ["https://cdn.example/2.jpg", "https://cdn.example/1.jpg"], "tags": [tag],
    })
}

async fn names(fixture: &ProjectFixture, query: &str) -> Vec<String> {
    let listed = fixture.get(&format!("{PATH}?{query}")).await.expect(200);
    let items = listed["nomenclatures"].as_array().unwrap();
    items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

database_tests! {
    async fn an_item_is_created_and_read(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = full_card(&fixture).await;
        let created = fixture.post(PATH, body.clone()).await.expect(201);
        let item = &created["nomenclature"];
        for field in [
            "article", "name", "kind_id", "category_id", "brand_id", "country_id", "storage_unit_id", "vat_id", "price",
            "description", "characteristics", "is_subscription", "parameters",
        ] {
            assert_eq!(item[field], body[field], "{field}");
        }
        assert_eq!(item["kind"], json!({ "id": 2, "name": "Goods" }));
        assert_eq!(item["category"]["name"], "Чай");
        assert_eq!(item["brand"]["name"], "Слон");
        assert_eq!(item["country"]["name"], "India");
        assert_eq!(item["storage_unit"], json!({ "id": 2, "name": "Kilogram", "abbreviation": "kg" }));
        assert_eq!(item["vat"], json!({ "id": 3, "name": "10%" }));
        assert_eq!(item["photos"][0], json!({ "id": null, "url": "https://cdn.example/2.jpg" }));
        assert_eq!(item["tags"], json!([{ "id": body["tags"][0], "name": "Хит" }]));
        assert_eq!(item["billing_period_months"], json!(null));
        assert_eq!(fixture.get(&format!("{PATH}/{}", item["id"])).await.expect(200), created);
    }

    async fn one_list_holds_goods_services_and_plans(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.goods("Чай").await;
        fixture.create(PATH, json!({ "name": "Ремонт", "kind_id": 1, "price": 100 })).await;
        let plan = json!({
            "name": "Клуб", "kind_id": 1, "price": "9.90", "is_subscription": true, "billing_period_months": 36,
        });
        fixture.create(PATH, plan).await;
        let listed = fixture.get(PATH).await.expect(200);
        assert_eq!(listed["nomenclaturesCount"], 3);
        let items = &listed["nomenclatures"];
        assert_eq!((&items[0]["price"], &items[1]["price"]), (&json!(null), &json!("100.00")));
        assert_eq!(items[2]["billing_period_months"], 36);
        assert_eq!(items[2]["is_subscription"], true);
    }

    async fn nothing_becomes_a_service_without_a_price(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let goods = fixture.create(PATH, json!({ "name": "Кружка", "kind_id": 2 })).await;
        let path = format!("{PATH}/{goods}");
        for change in [json!({ "kind_id": 1 }), json!({ "is_subscription": true, "billing_period_months": 1 })] {
            fixture.put(&path, change).await.expect_invalid(&["price"]);
        }
        let answer = fixture.put(&path, json!({ "kind_id": 1, "price": "0" })).await.expect(200);
        assert_eq!(answer["nomenclature"]["price"], "0.00", "0 was written");
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.post(PATH, json!({})).await.expect_invalid(&["name", "kind_id"]);
        let body = json!({
            "name": [], "kind_id": 3, "article": "x".repeat(101), "category_id": false, "brand_id": -1, "price": "-1",
            "billing_period_months": 37, "is_subscription": "maybe", "description": 1.5,
            "parameters": { "wholesale": 2, "pieces_per_pack": 0, "quantity_pack": null },
            "photos": ["https://a/1", "ftp://a/2"], "tags": ["x"],
        });
        fixture.post(PATH, body).await.expect_invalid(&[
            "name", "kind_id", "article", "category_id", "brand_id", "price", "billing_period_months", "is_subscription",
            "description", "parameters.wholesale", "parameters.pieces_per_pack", "parameters.quantity_pack", "photos.1",
            "tags.0",
        ]);
        let photos = vec!["https://a/1"; 21];
        fixture.post(PATH, json!({ "name": "A", "kind_id": 2, "photos": photos })).await.expect_invalid(&["photos"]);
        for (terms, fields) in [
            (json!({ "kind_id": 1 }), vec!["price"]),
            (json!({ "kind_id": 2, "is_subscription": true }), vec!["price", "billing_period_months"]),
            (json!({ "kind_id": 1, "price": "1", "billing_period_months": 1 }), vec!["billing_period_months"]),
        ] {
            let mut body = terms;
            body["name"] = json!("A");
            fixture.post(PATH, body).await.expect_invalid(&fields);
        }
    }

    async fn unknown_references_are_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let category = fixture.create_elsewhere("/api/categories", json!({ "name": "A" })).await;
        let brand = fixture.create_elsewhere("/api/brands", json!({ "name": "A" })).await;
        let body = json!({
            "name": "A", "kind_id": 2, "category_id": category, "brand_id": brand, "country_id": 999,
            "storage_unit_id": 999, "vat_id": 999, "tags": [999],
        });
        let fields = ["category_id", "brand_id", "country_id", "storage_unit_id", "vat_id", "tags.0"];
        fixture.post(PATH, body.clone()).await.expect_invalid(&fields);
        let path = format!("{PATH}/{}", fixture.goods("A").await);
        fixture.put(&path, body).await.expect_invalid(&fields);
    }

    async fn an_update_touches_the_sent_fields_alone(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let mut expected = fixture.post(PATH, full_card(&fixture).await).await.expect(201);
        let path = format!("{PATH}/{}", expected["nomenclature"]["id"]);
        let change = json!({
            "name": "Чай чёрный", "category_id": 0, "brand_id": null, "parameters": { "quantity_pack": 6 },
            "photos": ["https://cdn.example/3.jpg"], "tags": [],
        });
        let changed = fixture.put(&path, change).await.expect(200);
        let item = &mut expected["nomenclature"];
        item["name"] = json!("Чай чёрный");
        item["parameters"]["quantity_pack"] = json!(6);
        item["photos"] = json!([{ "id": null, "url": "https://cdn.example/3.jpg" }]);
        item["tags"] = json!([]);
        for cleared in ["category_id", "category", "brand_id", "brand"] {
            item[cleared] = json!(null);
        }
        item["updated_at"] = changed["nomenclature"]["updated_at"].clone();
        assert_eq!(changed, expected);
        assert_eq!(fixture.get(&path).await.expect(200), expected);

        fixture.put(&path, json!({ "name": null, "kind_id": null, "price": null, "photos": null, "vat_id": "x" })).await
            .expect_invalid(&["name", "kind_id", "price", "photos", "vat_id"]);
        fixture.put(&path, json!({ "is_subscription": true })).await.expect_invalid(&["billing_period_months"]);
        let plan = json!({ "is_subscription": true, "billing_period_months": 3 });
        assert_eq!(fixture.put(&path, plan).await.expect(200)["nomenclature"]["billing_period_months"], 3);
        let goods = fixture.put(&path, json!({ "is_subscription": false })).await.expect(200);
        assert_eq!(goods["nomenclature"]["billing_period_months"], json!(null));
    }

    async fn an_article_is_unique(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({ "name": "A", "kind_id": 2, "article": "A-1" });
        fixture.create(PATH, body.clone()).await;
        fixture.post(PATH, body.clone()).await.expect_invalid(&["article"]);
        fixture.create_elsewhere(PATH, body).await;
        let path = format!("{PATH}/{}", fixture.goods("B").await);
        fixture.put(&path, json!({ "article": "A-1" })).await.expect_invalid(&["article"]);
    }

    async fn goods_with_stock_stay_goods(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (item, place) = (fixture.goods("A").await, fixture.warehouse("W").await);
        let stock = json!({ "warehouse_id": place, "nomenclature_id": item, "quantity": 0, "price": "1.00" });
        fixture.create("/api/inventories", stock).await;
        let path = format!("{PATH}/{item}");
        fixture.put(&path, json!({ "kind_id": 1, "price": "1" })).await.expect_invalid(&["kind_id"]);
        fixture.put(&path, json!({ "kind_id": 2 })).await.expect(200);
    }

    async fn only_staff_of_the_project_with_the_permission_come_in(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}", fixture.goods("A").await);
        let body = json!({ "name": "B", "kind_id": 2 });
        for absent in [format!("{PATH}/999999"), format!("{PATH}/x")] {
            fixture.get(&absent).await.expect(404);
            fixture.put(&absent, json!({})).await.expect(404);
        }
        fixture.as_outsider(Method::GET, &path, json!({})).await.expect(403);
        fixture.as_outsider(Method::PUT, &path, json!({})).await.expect(403);
        let viewer = ["view-nomenclatures"];
        for path in [PATH, TABLE, &path] {
            fixture.as_one_who_may(&viewer, Method::GET, path, json!({})).await.expect(200);
            fixture.as_one_who_may(&["edit-nomenclatures"], Method::GET, path, json!({})).await.expect(403);
        }
        fixture.as_one_who_may(&viewer, Method::POST, PATH, body.clone()).await.expect(403);
        fixture.as_one_who_may(&viewer, Method::PUT, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["create-nomenclatures"], Method::PUT, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["create-nomenclatures"], Method::POST, PATH, body.clone()).await.expect(201);
        fixture.as_one_who_may(&["edit-nomenclatures"], Method::POST, PATH, body).await.expect(201);
    }

    async fn a_list_is_filtered_sorted_and_cut_into_pages(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let category = fixture.create("/api/categories", json!({ "name": "Чай" })).await;
        let brand = fixture.create("/api/brands", json!({ "name": "Слон" })).await;
        fixture.create(PATH, json!({ "name": "Ёлка", "kind_id": 2, "category_id": category, "price": 3 })).await;
        fixture.create(PATH, json!({ "name": "Кружка", "kind_id": 2, "brand_id": brand, "article": "К-1", "price": 1 })).await;
        fixture.create(PATH, json!({ "name": "ремонт", "kind_id": 1, "price": 2 })).await;
        for (query, expected) in [
            ("", vec!["Ёлка", "Кружка", "ремонт"]),
            ("query=%D1%91%D0%9B", vec!["Ёлка"]),
            ("query=%D0%BA-1", vec!["Кружка"]),
            (&format!("category_id={category}"), vec!["Ёлка"]),
            (&format!("category_id[]={category}&category_id[]=999"), vec!["Ёлка"]),
            (&format!("brand_id={brand}"), vec!["Кружка"]),
            ("kind_id=1", vec!["ремонт"]),
            ("kind_id[]=1&kind_id[]=2", vec!["Ёлка", "Кружка", "ремонт"]),
            ("order_by=price_asc", vec!["Кружка", "ремонт", "Ёлка"]),
            ("order_by=name_desc", vec!["ремонт", "Кружка", "Ёлка"]),
            ("order_by=created_at_asc", vec!["Ёлка", "Кружка", "ремонт"]),
            ("date_from=2020-01-01&date_to=2999-12-31", vec!["Ёлка", "Кружка", "ремонт"]),
            ("date_to=2020-01-01", vec![]),
            ("date_from=0001-01-01&date_to=9999-12-31", vec!["Ёлка", "Кружка", "ремонт"]),
            ("page=2&per_page=2", vec!["ремонт"]),
            ("page=9999", vec![]),
        ] {
            assert_eq!(names(&fixture, query).await, expected, "{query}");
        }
        assert_eq!(fixture.get(&format!("{PATH}?per_page=1")).await.expect(200)["nomenclaturesCount"], 3);
        for path in [PATH, TABLE] {
            for (query, fields) in [
                ("page=0&per_page=101", vec!["page", "per_page"]),
                ("page=x&per_page=0&order_by=color_asc", vec!["page", "per_page", "order_by"]),
                ("kind_id=3&category_id=x&date_from=2026&query=", vec!["kind_id", "category_id", "date_from", "query"]),
                ("colour=red", vec!["colour"]),
            ] {
                let answer = fixture.get(&format!("{path}?{query}")).await;
                let body = answer.expect(422);
                for field in &fields {
                    assert!(body["errors"][field].is_array(), "{query} {field}: {body}");
                }
            }
        }
    }

    async fn items_are_searched_the_best_first(db: TestDatabase) {
        let (fixture, search) = (ProjectFixture::open(db).await, "/api/search_nomenclature");
        for (name, article) in [("Чехол для дивана Клиппан", "70-2"), ("Диван", "KLIPPAN-601"), ("Диван Ёлка", "E-1"), ("Klippan", "X")] {
            fixture.create(PATH, json!({ "name": name, "kind_id": 2, "article": article })).await;
        }
        for (query, expected) in [
            ("klippan 601", vec!["Диван"]),
            ("KLIPPAN601", vec!["Диван"]),
            ("klippan", vec!["Klippan", "Диван"]),
            ("диван", vec!["Диван", "Диван Ёлка", "Чехол для дивана Клиппан"]),
            ("елка ДИВ", vec!["Диван Ёлка"]),
            ("\"* OR NEAR(", vec![]),
            ("%", vec![]),
        ] {
            let found = fixture.post(search, json!({ "query": query })).await.expect(200);
            let items = found["nomenclatures"].as_array().unwrap();
            assert_eq!(items.iter().map(|item| item["name"].as_str().unwrap()).collect::<Vec<_>>(), expected, "{query}");
            assert_eq!(found["nomenclaturesCount"], expected.len());
        }
        let cut = fixture.post(search, json!({ "query": "диван", "limit": 1 })).await.expect(200);
        assert_eq!((cut["nomenclatures"].as_array().unwrap().len(), &cut["nomenclaturesCount"]), (1, &json!(3)));
        assert_eq!(names(&fixture, "query=%D0%B4%D0%B8%D0%B2%D0%B0%D0%BD&order_by=id_asc").await[0], "Чехол для дивана Клиппан");
        for (body, fields) in [
            (json!({}), vec!["query"]),
            (json!({ "query": " ", "limit": 0 }), vec!["query", "limit"]),
            (json!({ "query": "x".repeat(256), "limit": 101 }), vec!["query", "limit"]),
            (json!({ "query": ["x"], "limit": "many" }), vec!["query", "limit"]),
        ] {
            let refused = fixture.post(search, body).await;
            let answer = refused.expect(422);
            for field in fields {
                assert!(answer["errors"][field].is_array(), "{field}: {answer}");
            }
        }
        fixture.as_one_who_may(&["view-orders"], Method::POST, search, json!({ "query": "x" })).await.expect(403);
    }

    async fn the_table_has_the_documented_envelope(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for number in 0..16 {
            fixture.goods(&format!("Чай {number}")).await;
        }
        let table = fixture.get(TABLE).await.expect(200);
        assert_eq!(table["pagination"], json!({
            "total": 16, "per_page": 15, "current_page": 1, "last_page": 2, "from": 1, "to": 15,
        }));
        assert_eq!(table["nomenclatures"].as_array().unwrap().len(), 15);
        let row = table["nomenclatures"][0].as_object().unwrap();
        for (order, column) in (1..).zip(table["columns"].as_array().unwrap()) {
            assert_eq!(column["order"], order);
            let cell = &row[column["key"].as_str().unwrap()];
            assert_eq!(cell.is_object(), column["has_icon"] == true, "{column}");
        }
        assert_eq!(row["name"]["value"], "Чай 0");
        let last = fixture.get(&format!("{TABLE}?page=2&order_by=id_desc")).await.expect(200);
        assert_eq!(last["nomenclatures"][0]["name"]["value"], "Чай 0");
        assert_eq!(last["pagination"]["from"], 16);
    }

    async fn a_page_costs_the_same_statements_with_any_content(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = full_card(&fixture).await;
        let (mut few, mut many) = (Vec::new(), Vec::new());
        for (count, costs) in [(1, &mut few), (20, &mut many)] {
            for number in 0..count {
                let mut body = body.clone();
                body["article"] = json!(format!("{count}-{number}"));
                fixture.create(PATH, body).await;
            }
            let searched = format!("{PATH}?query=%D1%87%D0%B0%D0%B9");
            for path in [PATH, TABLE, &searched] {
                costs.push(fixture.cost(path).await);
            }
        }
        assert_eq!(few, many);
    }
}
