//! Files of orders.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::json;

use crate::platform_files::PDF;
use crate::shop_fixture::ShopFixture;
use crate::support::send;

fn form(content: &[u8]) -> Form {
    Form::new().part("file", Part::bytes(content.to_vec()).file_name("Накладная.pdf"))
}

database_tests! {
    async fn staff_keep_files_with_an_order(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(9, 1_000).await;
        let order = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"]["id"].clone();
        let owner = shop.server.owner(&shop.project).await;
        let (files, table) = (format!("/api/orders/{order}/files"), format!("/api/tables/orders/{order}/files"));
        let empty = send(shop.server.as_staff(&owner, Method::GET, &table)).await.expect(200);
        assert_eq!((&empty["files"], &empty["pagination"]["total"]), (&json!([]), &json!(0)));
        let added = send(shop.server.as_staff(&owner, Method::POST, &files).multipart(form(PDF))).await.expect(201)["file"].clone();
        assert_eq!((&added["file_type_id"], &added["name"]), (&json!(3), &json!("Накладная.pdf")));
        for _ in 0..2 {
            send(shop.server.as_staff(&owner, Method::POST, &files).multipart(form(PDF))).await.expect(201);
        }
        let cost = async |path: &str| {
            let once = async || send(shop.server.as_staff(&owner, Method::GET, path)).await.expect(200);
            shop.server.fewest_statements(once).await
        };
        let short = format!("{table}?per_page=1&order_by=id_asc");
        let page = send(shop.server.as_staff(&owner, Method::GET, &short)).await.expect(200);
        assert_eq!((&page["files"][0]["id"], &page["pagination"]["total"]), (&added["id"], &json!(3)));
        assert_eq!(cost(&table).await, cost(&short).await, "whatever the number of files");

        let path = format!("/api/files/{}", added["id"]);
        send(shop.server.as_staff(&owner, Method::DELETE, &path)).await.expect(200);
        let left = send(shop.server.as_staff(&owner, Method::GET, &table)).await.expect(200);
        assert_eq!(left["pagination"]["total"], 2);

        // The remaining files are deleted with the customer.
        let path = format!("/api/counterparties/{}", shop.customer);
        send(shop.server.as_staff(&owner, Method::DELETE, &path)).await.expect(200);
        let left = send(shop.server.as_staff(&owner, Method::GET, &table)).await.expect(200);
        assert_eq!(left["pagination"]["total"], 0);
        let kept = shop.server.insert("SELECT count(*) AS id FROM files WHERE state <> 'deleted'".to_owned()).await;
        assert_eq!(kept, 0);
    }

    async fn invalid_files_of_an_order_are_refused(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(9, 1_000).await;
        let order = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"]["id"].clone();
        let owner = shop.server.owner(&shop.project).await;
        let files = format!("/api/orders/{order}/files");
        let refused = |form: Form| { let request = shop.server.as_staff(&owner, Method::POST, &files).multipart(form); async move { send(request).await.expect(422) } };
        assert_eq!(refused(Form::new().text("order_id", "1")).await["errors"], json!({ "file": ["is required"], "order_id": ["is not a known field"] }));
        assert!(refused(form(b"#!/bin/sh")).await["errors"]["file"].is_array());
        let other = shop.server.project().await;
        let outsider = shop.server.owner(&other).await;
        send(shop.server.as_staff(&outsider, Method::POST, &files).multipart(form(PDF))).await.expect(403);
        send(shop.server.as_staff(&outsider, Method::GET, &format!("/api/tables/orders/{order}/files"))).await.expect(403);
        send(shop.server.as_staff(&owner, Method::POST, "/api/orders/99999/files").multipart(form(PDF))).await.expect(404);
        send(shop.server.as_staff(&owner, Method::GET, "/api/tables/orders/99999/files")).await.expect(404);
        assert_eq!(shop.count("files").await, 0);
    }
}
