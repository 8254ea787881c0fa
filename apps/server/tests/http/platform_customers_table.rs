//! Customers as a table.

use kontor_adapter_diesel::database_tests;
use serde_json::{Value, json};

use crate::office::Office;
use crate::platform_customers::{PATH, company, person};

const TABLE: &str = "/api/tables/counterparties";

fn numbers(table: &Value) -> Vec<i64> {
    table["counterparties"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect()
}

database_tests! {
    async fn the_table_is_filtered_sorted_searched_and_cut_into_pages(db: TestDatabase) {
        let office = Office::open(db).await;
        let manager = office.get("/api/user").await.expect(200)["user"]["id"].as_i64().unwrap();
        let mut body = person("Ёлка");
        body["last_name"] = json!("Иванова");
        body["phone_1"] = json!("79001234567");
        let a = office.create(PATH, body).await;
        let mut body = company("Nord-West 24");
        body["manager_id"] = json!(manager);
        body["email"] = json!("sales@nord-west.ru");
        let b = office.create(PATH, body).await;
        office.server.clock.advance(3 * 86_400);
        let c = office.create(PATH, json!({ "is_company": false, "first_name": "Anna" })).await;
        office.create(&format!("{PATH}/{c}/contacts"), json!({ "kind": "phone", "value": "79995550101" })).await;
        office.create_elsewhere(PATH, person("Анна")).await;
        let day = kontor_kernel::Clock::now(&*office.server.clock).date_naive();
        for (query, expected) in [
            ("", vec![c, b, a]),
            ("order_by=id_asc", vec![a, b, c]),
            ("order_by=name_asc", vec![c, b, a]),
            ("order_by=name_desc", vec![a, b, c]),
            ("order_by=created_at_asc&per_page=2", vec![a, b]),
            ("per_page=2&page=2", vec![a]),
            ("page=99", vec![]),
            ("is_company=true", vec![b]),
            ("is_company=false", vec![c, a]),
            (&format!("manager_id={manager}"), vec![b]),
            (&format!("manager_id[]={manager}&manager_id[]=999999"), vec![b]),
            ("manager_id=1000000000000", vec![]),
            (&format!("date_from={day}"), vec![c]),
            ("date_to=2020-01-01", vec![]),
            ("query=иванова", vec![a]),
            ("query=елка%20иван", vec![a]),
            ("query=%2B7%20(900)%20123-45-67", vec![a]),
            ("query=89001234567", vec![a]),
            ("query=1234567", vec![a]),
            ("query=nord%20west", vec![b]),
            ("query=7707083893", vec![b]),
            ("query=sales@nord-west.ru", vec![b]),
            ("query=79995550101", vec![c]),
            (&format!("query=%23{b}"), vec![b]),
            ("query=nobody", vec![]),
            ("query=%25%27%22*", vec![]),
            ("query=an&is_company=false&order_by=name_asc", vec![c]),
        ] {
            let table = office.get(&format!("{TABLE}?{query}")).await.expect(200);
            assert_eq!(numbers(&table), expected, "{query}");
            let listed = office.get(&format!("{PATH}?{query}")).await.expect(200);
            assert_eq!(numbers(&listed), expected, "{query}");
        }
        let table = office.get(TABLE).await.expect(200);
        assert_eq!(table["pagination"]["per_page"], 15);
        let row = &table["counterparties"][1];
        assert_eq!(row["name"], json!({ "icon": null, "value": "Nord-West 24", "link": format!("/api/counterparties/{b}") }));
        assert_eq!((&row["type"], &row["inn"], &row["manager"]), (&json!("Company"), &json!("7707083893"), &json!("Anna Kern")));
        assert_eq!(table["counterparties"][2]["name"]["value"], "Иванова Ёлка");
        office.get(&format!("{TABLE}?page=0&order_by=phone_asc&manager_id=x&is_company=perhaps&colour=red&query=")).await
            .expect_invalid(&["page", "order_by", "manager_id", "is_company", "colour", "query"]);
    }

    async fn a_list_costs_the_same_whatever_its_length(db: TestDatabase) {
        let office = Office::open(db).await;
        office.create(PATH, person("Anna")).await;
        for path in [TABLE, PATH, &format!("{TABLE}?query=kern&order_by=name_asc")] {
            let few = office.cost(path).await;
            for _ in 0..6 {
                office.create(PATH, person("Eva")).await;
            }
            assert_eq!(office.cost(path).await, few, "{path}");
        }
    }
}
