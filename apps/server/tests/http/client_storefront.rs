//! The storefront as customers see it.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::support::{Answer, keys, send};

/// A project with three mugs in stock (5.00, 3.00, 7.50), shown in a category with a brand.
struct Shop {
    fixture: ProjectFixture,
    category: i64,
    ids: Vec<i64>,
}

impl Shop {
    async fn open(db: TestDatabase) -> Self {
        let fixture = ProjectFixture::open(db).await;
        let csv = "article,name,category,brand,photos,characteristics\n\
            M-1,Кружка,Kitchen / Mugs,Nord,https://a/1,<b>blue</b>\nM-2,Mug B,Kitchen / Mugs,,,\nM-3,Mug A,Kitchen,,,\n";
        fixture.upload("/api/nomenclatures/import", csv.as_bytes().to_vec(), &[]).await.expect(200);
        let warehouse = fixture.warehouse("Main").await;
        let csv =
            format!("article;warehouse;quantity;price\nM-1;{warehouse};5;5,00\nM-2;{warehouse};6;3\nM-3;Main;7;7.5\n");
        fixture.upload("/api/inventories/upload", csv.into_bytes(), &[]).await.expect(200);
        let mut shop = Self { fixture, category: 0, ids: Vec::new() };
        let list = shop.get("products").await.expect(200);
        shop.ids =
            list["products"]["data"].as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect();
        shop.category = list["products"]["data"][0]["category"]["id"].as_i64().unwrap();
        shop
    }

    async fn get(&self, path: &str) -> Answer {
        send(self.fixture.server.as_app(&self.fixture.project, Method::GET, &format!("/api/counterparty/{path}"))).await
    }

    async fn names(&self, query: &str) -> Vec<String> {
        let list = self.get(&format!("products?{query}")).await.expect(200);
        let items = list["products"]["data"].as_array().unwrap();
        items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    }
}

database_tests! {
    async fn the_list_filters_sorts_and_pages(db: TestDatabase) {
        let shop = Shop::open(db).await;
        assert_eq!(shop.names("order_by=price_asc").await, ["Mug B", "Кружка", "Mug A"]);
        assert_eq!(shop.names("order_by=name_desc").await, ["Кружка", "Mug B", "Mug A"]);
        assert_eq!(shop.names("query=%D0%9A%D0%A0%D0%A3%D0%96").await, ["Кружка"]);
        assert_eq!(shop.names("query=m-3").await, ["Mug A"]);
        assert_eq!(shop.names(&format!("category_id[]={}&order_by=name_asc", shop.category)).await, ["Mug B", "Кружка"]);
        assert_eq!(shop.names("price_from=3.5&price_to=5.009").await, ["Кружка"]);
        assert!(shop.names("sale=1").await.is_empty());
        assert_eq!(shop.names("sale=false").await.len(), 3);
        assert_eq!(shop.names("per_page=1&page=2&order_by=price_asc").await, ["Кружка"]);
        let list = shop.get("products?per_page=2").await.expect(200);
        let numbers = |name: &str| list["products"][name].clone();
        assert_eq!((numbers("total"), numbers("last_page"), numbers("current_page")), (json!(3), json!(2), json!(1)));
        let item = &list["products"]["data"][0];
        assert_eq!(item["price"], "5.00");
        assert_eq!(item["is_favourite"], false);
        assert_eq!(item["photos"], json!([{ "id": null, "url": "https://a/1" }]));
        assert_eq!(item["parameters"], json!({ "wholesale": false, "pieces_per_pack": 1, "quantity_pack": 1 }));
        assert!(keys(item).contains(&"old_price"));
    }

    async fn brands_countries_and_tags_are_filtered_apart(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let fixture = &shop.fixture;
        let list = shop.get("products").await.expect(200)["products"]["data"].clone();
        let card = |name: &str| {
            let item = list.as_array().unwrap().iter().find(|item| item["name"] == name).unwrap();
            format!("/api/nomenclatures/{}", item["id"])
        };
        // The mug with a brand has neither the country nor the tag.
        let brand = fixture.get("/api/brands").await.expect(200)["brands"][0]["id"].clone();
        let country = fixture.get("/api/countries").await.expect(200)["countries"][0]["id"].clone();
        let tag = fixture.server.insert(format!(
            "INSERT INTO tags (project_id, name, created_at) VALUES ({}, 'New', '2026-01-01 00:00:00') RETURNING id",
            fixture.project.id
        )).await;
        fixture.put(&card("Mug A"), json!({ "country_id": country })).await.expect(200);
        fixture.put(&card("Mug B"), json!({ "tags": [tag] })).await.expect(200);
        for (filter, name, price) in [
            (format!("brand_id[]={brand}"), "Кружка", 5.0),
            (format!("country_id[]={country}"), "Mug A", 7.5),
            (format!("tag_id[]={tag}"), "Mug B", 3.0),
        ] {
            assert_eq!(shop.names(&filter).await, [name], "{filter}");
            let prices = shop.get(&format!("prices?{filter}")).await.expect(200);
            assert_eq!(prices, json!({ "min_price": price, "max_price": price }), "{filter}");
        }
        for list in ["products", "prices"] {
            shop.get(&format!("{list}?brand_id[]=x&country_id[]=1.5&tag_id[]=1&tag_id[]=1a")).await
                .expect_invalid(&["brand_id.0", "country_id.0", "tag_id.1"]);
        }
    }

    async fn facets_count_what_each_filter_would_leave(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let fixture = &shop.fixture;
        let brand = fixture.get("/api/brands").await.expect(200)["brands"][0]["id"].clone();
        let list = shop.get("products").await.expect(200);
        assert_eq!(keys(&list), ["products"]);
        let card = format!("/api/nomenclatures/{}", list["products"]["data"][1]["id"]);
        let country = fixture.get("/api/countries").await.expect(200)["countries"][0].clone();
        fixture.put(&card, json!({ "country_id": country["id"], "tags": [] })).await.expect(200);
        let facets = async |query: &str| shop.get(&format!("products?facets=1&{query}")).await.expect(200)["facets"].clone();
        let counts = |facets: &Value, name: &str| -> Vec<(String, u64)> {
            let values = facets[name].as_array().unwrap();
            values.iter().map(|one| (one["name"].as_str().unwrap().to_owned(), one["count"].as_u64().unwrap())).collect()
        };
        let all = facets("").await;
        assert_eq!(counts(&all, "categories"), [("Mugs".to_owned(), 2), ("Kitchen".to_owned(), 1)]);
        assert_eq!(counts(&all, "brands"), [("Nord".to_owned(), 1)]);
        assert_eq!(counts(&all, "countries"), [(country["name"].as_str().unwrap().to_owned(), 1)]);
        assert_eq!((&all["tags"], &all["is_complete"]), (&json!([]), &json!(true)));
        assert_eq!(all["price"], json!({ "min": "3.00", "max": "7.50" }));
        // The brand filter narrows everything except the brands, and the price filter everything except the price.
        let narrow = facets(&format!("brand_id[]={brand}&price_from=4")).await;
        assert_eq!(counts(&narrow, "categories"), [("Mugs".to_owned(), 1)]);
        assert_eq!(counts(&narrow, "brands"), [("Nord".to_owned(), 1)]);
        assert_eq!(narrow["price"], json!({ "min": "5.00", "max": "5.00" }));
        assert_eq!(counts(&facets(&format!("category_id[]={}", shop.category)).await, "categories").len(), 2);
        // For exact and for approximate matches of a text.
        for query in ["query=mug", "query=kruzhka", "query=%D0%BA%D1%80%D1%83%D0%B6%D1%88%D0%BA%D0%B0"] {
            let list = shop.get(&format!("products?facets=1&{query}")).await.expect(200);
            let counted: u64 = counts(&list["facets"], "categories").iter().map(|(_, count)| count).sum();
            assert_eq!(list["products"]["total"], counted, "{query}");
            assert_eq!(list["facets"]["price"].is_null(), counted == 0, "{query}");
        }
        shop.get("products?facets=perhaps").await.expect_invalid(&["facets"]);
        shop.get("prices?facets=1").await.expect_invalid(&["facets"]);
    }

    async fn facets_reckon_with_discounts(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let discount = json!({ "name": "Sale", "type": "percent", "value": "50.00", "target": "product", "nomenclature_id": shop.ids[0] });
        shop.fixture.create("/api/discounts", discount).await;
        let facets = shop.get("products?facets=1&sale=1").await.expect(200)["facets"].clone();
        assert_eq!(facets["price"], json!({ "min": "2.50", "max": "2.50" }));
        assert_eq!(facets["categories"].as_array().unwrap().len(), 1);
        let facets = shop.get("products?facets=1&price_to=3").await.expect(200)["facets"].clone();
        assert_eq!((&facets["price"], &facets["categories"][0]["count"]), (&json!({ "min": "2.50", "max": "7.50" }), &json!(2)));
    }

    async fn prices_follow_the_filters_and_ignore_the_page(db: TestDatabase) {
        let shop = Shop::open(db).await;
        assert_eq!(shop.get("prices").await.expect(200), json!({ "min_price": 3.0, "max_price": 7.5 }));
        let narrow = format!("prices?category_id[]={}&page=2&per_page=1", shop.category);
        assert_eq!(shop.get(&narrow).await.expect(200), json!({ "min_price": 3.0, "max_price": 5.0 }));
        for unpaged in ["prices", "categories", "brands"] {
            shop.get(&format!("{unpaged}?page=0&per_page=x&per_page=1000")).await.expect(200);
            shop.get(&format!("{unpaged}?colour=red&page=0")).await.expect_invalid(&["colour"]);
        }
        assert_eq!(shop.get("prices?query=nothing").await.expect(200), json!({ "min_price": 0.0, "max_price": 0.0 }));
    }

    async fn every_wrong_filter_is_named(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let wrong = "products?query=&category_id[]=x&order_by=best&price_from=-1&price_to=0&sale=maybe&page=0&per_page=101&colour=red";
        let answer = shop.get(wrong).await;
        answer.expect(422);
        for field in ["query", "category_id.0", "sale", "colour"] {
            assert!(answer.json()["errors"][field].is_array(), "{field}: {}", answer.text);
        }
        for list in ["products", "prices"] {
            shop.get(&format!("{list}?price_from=5&price_to=4.99")).await.expect_invalid(&["price_to"]);
        }
        shop.get("products?order_by=best&price_from=-1&price_to=0&page=0&per_page=101").await
            .expect_invalid(&["order_by", "price_from", "price_to", "page", "per_page"]);
        shop.get(&format!("products?query={}", "x".repeat(256))).await.expect_invalid(&["query"]);
        shop.get(&format!("products?query={}", "x".repeat(255))).await.expect(200);
        assert_eq!(shop.names("query=b").await, ["Mug B"], "a single character");
        shop.get("prices?price_from=x").await.expect_invalid(&["price_from"]);
        let anonymous = send(shop.fixture.server.request(Method::GET, "/api/counterparty/products")).await;
        assert_eq!(anonymous.status, StatusCode::UNAUTHORIZED);
    }

    async fn a_query_string_is_understood_or_its_fields_are_named(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let (many, small) = ("9".repeat(40), format!("0.{}", "0".repeat(40)));
        let (from_many, to_many) = (format!("price_from={many}"), format!("price_to={many}"));
        let (from_small, to_small) = (format!("price_from={small}"), format!("price_to=1{small}"));
        for list in ["products", "prices"] {
            for (query, fields) in [
                ("a[b]=1", vec!["a[b]"]), ("a[][]=1", vec!["a[]"]), ("a=1&a=2", vec!["a"]), ("a[]=1", vec!["a"]),
                ("category_id[a][]=1", vec!["category_id[a]"]), ("category_id[0]=1&category_id[0]=2", vec!["category_id[0]"]),
                ("category_id[][]=1", vec!["category_id[]"]), ("category_id[=1", vec!["category_id["]),
                ("category_id=1&category_id[]=2", vec!["category_id"]), ("category_id[]=1&category_id=2", vec!["category_id"]),
                ("category_id=1&category_id=2", vec!["category_id"]), ("category_id[]=1&category_id[]=[2]", vec!["category_id.1"]),
                ("query=a&query=b", vec!["query"]), ("query[]=a", vec!["query"]), ("query[a]=b", vec!["query[a]"]),
                ("order_by=name_asc&order_by=name_asc", vec!["order_by"]), ("order_by[]=name_asc", vec!["order_by"]),
                ("sale=1&sale=0", vec!["sale"]), ("sale[]=1", vec!["sale"]), ("price_from[]=1&price_to[]=2", vec!["price_from", "price_to"]),
                ("page[]=1", vec!["page"]),
                ("price_from=1&price_from=1&price_to=2&price_to=3", vec!["price_from", "price_to"]),
                ("price_from=1e400&price_to=1e400", vec!["price_from", "price_to"]), ("price_from=-1e400", vec!["price_from"]),
                ("price_from=1e-400", vec!["price_from"]), ("price_from=1e99999999999&price_to=1e28", vec!["price_from", "price_to"]),
                (&from_many, vec!["price_from"]), (&to_many, vec!["price_to"]), (&from_small, vec!["price_from"]), (&to_small, vec!["price_to"]),
                ("price_to=-0", vec!["price_to"]), ("price_to=0.99", vec!["price_to"]), ("price_from=-0.01", vec!["price_from"]),
                ("price_from=NaN&price_to=inf", vec!["price_from", "price_to"]), ("price_from=&price_to=%20", vec!["price_from", "price_to"]),
                ("price_from=0x1&price_to=%D9%A3", vec!["price_from", "price_to"]), ("price_from=1,5", vec!["price_from"]),
                ("price_from=1_000", vec!["price_from"]), ("=1", vec![""]), ("[]=1", vec![""]),
            ] {
                let answer = shop.get(&format!("{list}?{query}")).await;
                assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{list}?{query}: {}", answer.text);
                answer.expect_invalid(&fields);
            }
            for query in ["price_from=-0", "price_from=-0.000", "price_from=0e0", "price_from=3e0&price_to=1e2", "price_to=7.50000000000000000000", ""] {
                shop.get(&format!("{list}?{query}")).await.expect(200);
            }
        }
        shop.get("products?page=1&page=2&per_page=1&per_page=1").await.expect_invalid(&["page", "per_page"]);
        assert_eq!(shop.names("price_from=-0&price_to=5e0").await.len(), 2);
        assert_eq!(shop.get("prices?price_from=-0&price_to=50e-1").await.expect(200), json!({ "min_price": 3.0, "max_price": 5.0 }));
    }

    async fn a_card_counts_one_view_in_ten_minutes(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let path = format!("products/{}", shop.ids[0]);
        let card = shop.get(&path).await.expect(200);
        let product = &card["product"];
        assert_eq!((&product["quantity"], &product["price"]), (&json!(5), &json!("5.00")));
        assert_eq!(product["characteristics"], "<b>blue</b>");
        assert_eq!((&product["tags"], &product["share_link"]), (&json!([]), &json!(null)));
        assert_eq!(product["views_count"], 1);
        assert_eq!(shop.get(&path).await.expect(200)["product"]["views_count"], 1);
        shop.fixture.server.clock.advance(600);
        assert_eq!(shop.get(&path).await.expect(200)["product"]["views_count"], 2);
        for absent in ["products/999999999", "products/x", "products/0"] {
            shop.get(absent).await.expect(404);
        }
    }

    async fn a_card_shows_the_current_share_link(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let link = async || shop.get(&format!("products/{}", shop.ids[0])).await.expect(200)["product"]["share_link"].clone();
        let path = format!("/api/nomenclatures/{}", shop.ids[0]);
        assert_eq!(link().await, json!(null));
        shop.fixture.put(&path, json!({ "share_link": "https://shop.example/1" })).await.expect(200);
        assert_eq!(link().await, "https://shop.example/1");
        let import = async |sheet: &str| shop.fixture.upload("/api/nomenclatures/import", sheet.as_bytes().to_vec(), &[]).await;
        for (sheet, updated, reported) in [
            ("article,price\nM-1,1\n", 1, json!("https://shop.example/1")),
            ("article,share_link\nM-1,https://shop.example/1\n", 0, json!("https://shop.example/1")),
            ("article,share_link\nM-1,http://shop.example/2\nM-2,\n", 1, json!("http://shop.example/2")),
            ("article,share_link\nM-1,\n", 1, json!(null)),
        ] {
            assert_eq!(import(sheet).await.expect(200)["updated"], updated, "{sheet}");
            assert_eq!(link().await, reported, "{sheet}");
        }
        let refused = import("article,share_link\nM-1,mailto:a@b.example\n").await;
        assert_eq!(refused.expect(422)["rows"][0]["column"], "share_link");
        assert_eq!(link().await, json!(null));
    }

    async fn categories_and_brands_of_the_application(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let application = shop.fixture.project.application_id;
        let known = shop.fixture.get("/api/categories").await.expect(200);
        let root = known["categories"].as_array().unwrap().iter().find(|category| category["name"] == "Kitchen").unwrap();
        assert_eq!(shop.get("categories").await.expect(200), json!({ "categories": [], "categoriesCount": 0 }));
        let path = format!("/api/applications/{application}/categories");
        shop.fixture.post(&path, json!({ "category_id": root["id"] })).await;
        let roots = shop.get("categories?limit=1").await.expect(200);
        assert_eq!(roots["categoriesCount"], 1);
        assert_eq!(keys(&roots["categories"][0]), ["id", "name", "parent", "photo"]);
        let children = shop.get(&format!("categories?parent_id={}", root["id"])).await.expect(200);
        assert_eq!(children["categories"][0]["parent"], json!({ "id": root["id"], "name": "Kitchen" }));
        let brand = shop.fixture.get("/api/brands").await.expect(200)["brands"][0]["id"].clone();
        shop.fixture.post(&format!("/api/applications/{application}/brands"), json!({ "brand_id": brand })).await;
        let brands = shop.get("brands").await.expect(200);
        assert_eq!((&brands["brandsCount"], &brands["brands"][0]["name"]), (&json!(1), &json!("Nord")));
        assert_eq!(keys(&brands["brands"][0]), ["created_at", "id", "name", "photo"]);
        for path in ["categories?limit=0", "brands?limit=0", "brands?limit=x"] {
            shop.get(path).await.expect_invalid(&["limit"]);
        }
    }

    async fn a_limit_shortens_categories_and_brands(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let application = format!("/api/applications/{}", fixture.project.application_id);
        let root = fixture.create("/api/categories", json!({ "name": "Garden" })).await;
        let other = fixture.create("/api/categories", json!({ "name": "Kitchen" })).await;
        for category in [root, other] {
            let shown = json!({ "category_id": category });
            fixture.post(&format!("{application}/categories"), shown).await.expect(201);
        }
        for name in ["Pots", "Spades"] {
            fixture.create("/api/categories", json!({ "name": name, "parent_id": root })).await;
        }
        for name in ["Nord", "Sud"] {
            let brand = fixture.create("/api/brands", json!({ "name": name })).await;
            fixture.post(&format!("{application}/brands"), json!({ "brand_id": brand })).await.expect(201);
        }
        let shop = Shop { fixture, category: root, ids: Vec::new() };
        for (list, query) in [
            ("categories", "limit=".to_owned()),
            ("categories", format!("parent_id={root}&limit=")),
            ("brands", "limit=".to_owned()),
        ] {
            let whole = shop.get(&format!("{list}?{query}3")).await.expect(200);
            assert_eq!(whole[list].as_array().unwrap().len(), 2, "{list}?{query}3: {whole}");
            let cut = shop.get(&format!("{list}?{query}1")).await.expect(200);
            let first = json!([whole[list][0]]);
            assert_eq!((&cut[list], &cut[format!("{list}Count")]), (&first, &json!(1)), "{list}?{query}1");
        }
    }

    async fn a_list_costs_two_statements_beside_the_token(db: TestDatabase) {
        let shop = Shop::open(db).await;
        let mut page = 0;
        let once = async || {
            // A new page each time, because responses are cached.
            page += 1;
            shop.get(&format!("products?per_page={page}&category_id[]={}", shop.category)).await.expect(200);
        };
        let spent = shop.fixture.server.fewest_statements(once).await;
        assert!((1..=3).contains(&spent), "{spent} statements");
    }
}
