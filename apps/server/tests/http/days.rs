//! Days in filters are days of the project's time zone.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::{ProjectId, Zone};
use kontor_organization::ports::ProjectRepository;
use serde_json::json;

use crate::process::ProcessEnvironment;
use crate::project_fixture::ProjectFixture;

const PATHS: [(&str, &str); 2] =
    [("/api/nomenclatures", "nomenclatures"), ("/api/tables/nomenclatures", "nomenclatures")];

/// Creates three items: the last instant of 1 March in Moscow, the first of 2 March, and noon. Returns which of them
/// each query finds.
async fn found(fixture: &ProjectFixture, query: &str) -> Vec<Vec<String>> {
    let mut lists = Vec::new();
    for (path, key) in PATHS {
        let listed = fixture.get(&format!("{path}?{query}")).await.expect(200);
        let name = |row: &serde_json::Value| row["name"]["value"].as_str().or(row["name"].as_str()).unwrap().to_owned();
        lists.push(listed[key].as_array().unwrap().iter().map(name).collect());
    }
    lists
}

database_tests! {
    async fn a_day_begins_where_the_project_is(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for (name, moment) in [("late", "20:59:59"), ("early", "21:00:00"), ("noon", "12:00:00")] {
            let id = fixture.create("/api/nomenclatures", json!({ "name": name, "kind_id": 2 })).await;
            let day = if name == "noon" { "2026-03-02" } else { "2026-03-01" };
            fixture.server.execute(&format!("UPDATE nomenclatures SET created_at = '{day} {moment}' WHERE id = {id}")).await;
        }
        let both = |names: &[&str]| vec![names.iter().map(ToString::to_string).collect::<Vec<_>>(); 2];
        let zone = async || fixture.get("/api/settings/3").await.expect(200)["setting"]["value"].clone();
        assert_eq!(zone().await, "Europe/Moscow");
        for (query, expected) in [
            ("date_to=2026-03-01", vec!["late"]),
            ("date_from=2026-03-02", vec!["early", "noon"]),
            ("date_from=2026-03-01&date_to=2026-03-01", vec!["late"]),
            ("date_from=0001-01-01&date_to=9999-12-31", vec!["late", "early", "noon"]),
        ] {
            assert_eq!(found(&fixture, query).await, both(&expected), "{query}");
        }

        // In Kamchatka it is 2 March at noon of 1 March UTC.
        let project = ProjectId::new(fixture.project.id).unwrap();
        let kamchatka = Zone::parse("Asia/Kamchatka").unwrap();
        assert!(fixture.server.db.database.set_time_zone(project, kamchatka).await.unwrap());
        assert_eq!(zone().await, "Asia/Kamchatka");
        assert_eq!(found(&fixture, "date_to=2026-03-01").await, both(&[]));
        assert_eq!(found(&fixture, "date_from=2026-03-02&date_to=2026-03-02").await, both(&["late", "early"]));
    }

    async fn an_operator_sets_the_time_zone(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let project = environment.create_project("owner")["project_id"].to_string();
        let set = |zone: &'static str| environment.command(&["project", "time-zone", "--project", &project, "--zone", zone]).output().unwrap();
        let done = set("Asia/Novosibirsk");
        assert!(done.status.success() && String::from_utf8(done.stdout).unwrap().contains("Asia/Novosibirsk"));
        let refused = set("Novosibirsk");
        assert!(!refused.status.success() && String::from_utf8(refused.stderr).unwrap().contains("--zone must be the name"));
        let unknown = environment.command(&["project", "time-zone", "--project", "999", "--zone", "UTC"]).output().unwrap();
        assert!(!unknown.status.success() && String::from_utf8(unknown.stderr).unwrap().contains("project 999 not found"));
    }
}
