//! Staff at work: an employee with every permission in a separate project.

use kontor_adapter_diesel::testing::TestDatabase;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Project, TestServer, send};

/// A service, a project and its owner.
pub struct ProjectFixture {
    pub server: TestServer,
    pub project: Project,
    pub owner: String,
}

impl ProjectFixture {
    pub async fn open(db: TestDatabase) -> Self {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let owner = server.owner(&project).await;
        Self { server, project, owner }
    }

    pub async fn get(&self, path: &str) -> Answer {
        send(self.server.as_staff(&self.owner, Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        send(self.server.as_staff(&self.owner, Method::POST, path).json(&body)).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        send(self.server.as_staff(&self.owner, Method::PUT, path).json(&body)).await
    }

    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        send(self.server.as_staff(&self.owner, Method::PATCH, path).json(&body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        send(self.server.as_staff(&self.owner, Method::DELETE, path)).await
    }

    /// Returns the id of the calling employee.
    pub async fn own_number(&self) -> i64 {
        self.get("/api/user").await.expect(200)["user"]["id"].as_i64().unwrap()
    }

    /// Sends a request of an employee with exactly these permissions.
    pub async fn as_one_who_may(&self, permissions: &[&str], method: Method, path: &str, body: Value) -> Answer {
        let bearer = self.server.staff_with(&self.project, permissions).await;
        send(self.server.as_staff(&bearer, method, path).json(&body)).await
    }

    /// Sends a request of the owner of another project.
    pub async fn as_outsider(&self, method: Method, path: &str, body: Value) -> Answer {
        let bearer = self.server.owner(&self.server.project().await).await;
        send(self.server.as_staff(&bearer, method, path).json(&body)).await
    }

    /// Returns the id of a new record of this project.
    pub async fn create(&self, path: &str, body: Value) -> i64 {
        id_of(&self.post(path, body).await.expect(201))
    }

    /// Returns the id of a new record of another project.
    pub async fn create_elsewhere(&self, path: &str, body: Value) -> i64 {
        id_of(&self.as_outsider(Method::POST, path, body).await.expect(201))
    }

    pub async fn goods(&self, name: &str) -> i64 {
        self.create("/api/nomenclatures", json!({ "name": name, "kind_id": 2 })).await
    }

    /// Creates a subscription plan that costs 490 a month, with these additional fields.
    pub async fn plan(&self, name: &str, more: Value) -> i64 {
        let mut card = json!({
            "name": name, "kind_id": 1, "price": "490.00", "is_subscription": true, "billing_period_months": 1,
        });
        card.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.create("/api/nomenclatures", card).await
    }

    /// Another application of the project.
    pub async fn other_application(&self) -> Project {
        let other_application = json!({ "name": "Twin", "branch_id": self.project.branch_id });
        let other_application =
            self.post("/api/applications", other_application).await.expect(201)["application"].clone();
        let app_token = other_application["token"].as_str().unwrap().to_owned();
        Project { application_id: other_application["id"].as_i64().unwrap(), app_token, ..self.project.clone() }
    }

    pub async fn warehouse(&self, name: &str) -> i64 {
        self.create("/api/warehouses", json!({ "name": name, "branch_id": self.project.branch_id })).await
    }

    /// Returns the number of statements of a successful request.
    pub async fn cost(&self, path: &str) -> u64 {
        let once = async || self.get(path).await.expect(200);
        self.server.fewest_statements(once).await
    }
}

fn id_of(answer: &Value) -> i64 {
    answer.as_object().unwrap().values().next().unwrap()["id"].as_i64().unwrap()
}
