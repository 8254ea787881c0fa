//! Fills the demo project, through the service's own interface wherever it has one.

use kontor_adapter_diesel::demo_data::{PickupPoint, PromoCode, Shop};
use kontor_adapter_diesel::{Database, DemoData};
use kontor_kernel::{ProjectId, Random};
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::{DemoCustomer, DemoFile, DemoStaff, DemoWebhook};
use crate::adapters::SystemRandom;
use crate::cli::{Failure, project};
use crate::config::Config;

const CATALOGUE: &str = include_str!("catalogue.csv");
const STOCK: &str = include_str!("stock.csv");
const PHONE: &str = "79001234567";

/// One start of the demo.
pub struct Visit<'a> {
    pub config: &'a Config,
    pub database: &'a Database,
    pub base_url: &'a str,
    pub sandbox_url: &'a str,
}

/// The service as its staff reach it.
struct Desk<'a> {
    http: Client,
    base_url: &'a str,
    bearer: String,
}

impl Visit<'_> {
    /// The first run: a project with a catalogue, stock, a shop, a promo code and a webhook.
    pub async fn furnish(&self) -> Result<DemoFile, Failure> {
        let random: &dyn Random = &SystemRandom::new();
        let login = format!("owner-{}", random.digits(6));
        let created = project::create(self.config, self.database, "Hanse Kontor", &login, "owner@example.com").await?;
        let desk = self.desk(&created.login, &created.password).await?;

        let warehouse = json!({ "name": "Main warehouse", "branch_id": created.branch_id });
        desk.post("/api/warehouses", &warehouse).await?;
        let pictures = format!("{}/pictures", self.sandbox_url);
        let catalogue = CATALOGUE.replace("{pictures}", &pictures);
        desk.upload("/api/nomenclatures/import", "catalogue.csv", catalogue).await?;
        desk.upload("/api/inventories/upload", "stock.csv", STOCK.to_owned()).await?;

        let application = format!("/api/applications/{}", created.application_id);
        for kind in ["categories", "brands"] {
            let listed = desk.get(&format!("/api/{kind}")).await?;
            let (path, field) =
                (format!("{application}/{kind}"), if kind == "brands" { "brand_id" } else { "category_id" });
            for item in at(&listed, &format!("/{kind}"))?.as_array().into_iter().flatten() {
                desk.post(&path, &json!({ field: at(item, "/id")? })).await?;
            }
        }
        let hook_id = self.open_hook(&desk.http).await?;
        let url = self.hook_url(&hook_id);
        let webhook = desk.post(&format!("{application}/webhooks"), &json!({ "name": "Demo", "url": url })).await?;

        self.database.add_demo_data(ProjectId::new(created.project_id)?, demo_data()).await?;
        Ok(DemoFile {
            base_url: self.base_url.to_owned(),
            docs_url: format!("{}/docs/", self.base_url),
            sandbox_url: self.sandbox_url.to_owned(),
            project_id: created.project_id,
            application_id: created.application_id,
            app_token: created.app_token,
            staff: DemoStaff { login: created.login, password: created.password },
            customer: DemoCustomer { phone: PHONE.to_owned() },
            webhook: DemoWebhook { id: at(&webhook, "/webhook/id")?.as_i64().unwrap_or_default(), hook_id },
        })
    }

    /// A later run: the sandbox remembers nothing, so the webhook is led to a new receiver.
    pub async fn reopen(&self, known: DemoFile) -> Result<DemoFile, Failure> {
        let desk = self.desk(&known.staff.login, &known.staff.password).await?;
        let hook_id = self.open_hook(&desk.http).await?;
        let path = format!("/api/applications/{}/webhooks/{}", known.application_id, known.webhook.id);
        desk.send(Method::PATCH, &path, |request| request.json(&json!({ "url": self.hook_url(&hook_id) }))).await?;
        Ok(DemoFile {
            base_url: self.base_url.to_owned(),
            docs_url: format!("{}/docs/", self.base_url),
            sandbox_url: self.sandbox_url.to_owned(),
            webhook: DemoWebhook { hook_id, ..known.webhook },
            ..known
        })
    }

    async fn desk(&self, login: &str, password: &str) -> Result<Desk<'_>, Failure> {
        let http = Client::builder().no_proxy().build()?;
        let mut desk = Desk { http, base_url: self.base_url, bearer: String::new() };
        let answer = desk.post("/api/login", &json!({ "login": login, "password": password })).await?;
        at(&answer, "/user/access_token/value")?.as_str().unwrap_or_default().clone_into(&mut desk.bearer);
        Ok(desk)
    }

    async fn open_hook(&self, http: &Client) -> Result<String, Failure> {
        let request = http.post(format!("{}/control/hooks", self.sandbox_url)).json(&json!({}));
        let hook: Value = request.send().await?.error_for_status()?.json().await?;
        Ok(at(&hook, "/id")?.as_str().unwrap_or_default().to_owned())
    }

    fn hook_url(&self, hook_id: &str) -> String {
        format!("{}/hooks/{hook_id}", self.sandbox_url)
    }
}

impl Desk<'_> {
    async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.send(Method::GET, path, |request| request).await
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.send(Method::POST, path, |request| request.json(body)).await
    }

    async fn upload(&self, path: &str, name: &'static str, text: String) -> Result<Value, Failure> {
        let form = Form::new().part("file", Part::text(text).file_name(name));
        self.send(Method::POST, path, |request| request.multipart(form)).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        fill: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Value, Failure> {
        let request = self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.bearer);
        let response = fill(request).send().await?;
        let (status, text) = (response.status(), response.text().await?);
        if status.is_success() {
            Ok(serde_json::from_str(&text)?)
        } else {
            Err(format!("{path} answered {status}: {text}").into())
        }
    }
}

fn at<'v>(value: &'v Value, pointer: &str) -> Result<&'v Value, Failure> {
    value.pointer(pointer).ok_or_else(|| format!("an answer lacks {pointer}: {value}").into())
}

fn demo_data() -> DemoData {
    DemoData {
        shop: Shop { name: "Old Harbour Shop", address: "Speicherstadt 1", phone: "79001110000" },
        pickup_point: PickupPoint { name: "Harbour Gate", address: "Landing Stage 3" },
        promo: PromoCode {
            code: "HANSE10",
            name: "Ten per cent off the cart",
            basis_points: 1_000,
            usage_limit: 1_000,
        },
    }
}
