//! Every endpoint against every kind of caller: the responses match the table of policies.

mod nulls;
mod preconditions;
mod reads;
mod records;
mod zeros;

use std::collections::{BTreeSet, HashMap};

use kontor::policies;
use kontor_adapter_diesel::database_tests;
use kontor_kernel::Permission;
use kontor_web::policy::{Access, Policy};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use self::records::Records;
use crate::shop_fixture::ShopFixture;
use crate::support::{Project, TestServer, send};

/// Endpoints without authentication. An addition must also be made here.
const OPEN: [&str; 7] = [
    "POST /api/agent-access-requests",
    "POST /api/agent-access-requests/{publicId}/consume",
    "POST /api/agent-access-requests/{publicId}/status",
    "POST /api/login",
    "POST /api/send_password",
    "POST /callbacks/acquirer",
    "POST /callbacks/telephony",
];

/// Expected result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Refused(u16),
    /// Access is granted; the rest of the request decides the response.
    LetIn,
}
use Expected::{LetIn, Refused};

fn method(policy: &Policy) -> Method {
    policy.method.as_str().parse().unwrap()
}

/// Returns a path with ids that do not exist: a permitted caller finds and changes nothing.
fn nowhere(policy: &Policy) -> String {
    let segments = policy.path.split('/').map(|segment| if segment.starts_with('{') { "999999999" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// The credentials of one call.
#[derive(Default, Clone)]
struct Credentials {
    app: Option<String>,
    bearer: Option<String>,
    query: Option<String>,
}

impl Credentials {
    fn app(token: &str) -> Self {
        Self { app: Some(token.to_owned()), ..Self::default() }
    }

    fn bearer(token: &str) -> Self {
        Self { bearer: Some(token.to_owned()), ..Self::default() }
    }

    fn with_bearer(self, token: &str) -> Self {
        Self { bearer: Some(token.to_owned()), ..self }
    }

    fn request(&self, server: &TestServer, method: Method, path: &str) -> RequestBuilder {
        let is_read = method == Method::GET;
        let mut request = server.request(method, path);
        if let Some(token) = &self.app {
            request = request.header("Token", token);
        }
        if let Some(token) = &self.bearer {
            request = request.bearer_auth(token);
        }
        if let Some(query) = &self.query {
            let pairs: Vec<_> =
                ["token", "Token", "access_token", "bearer"].iter().map(|name| (*name, query)).collect();
            request = request.query(&pairs);
        }
        if is_read { request } else { request.json(&serde_json::json!({})) }
    }
}

/// Calls an endpoint and returns what is wrong with the response.
async fn call(
    server: &TestServer,
    policy: &Policy,
    who: &str,
    credentials: &Credentials,
    expected: Expected,
) -> Option<String> {
    let answer = send(credentials.request(server, method(policy), &nowhere(policy))).await;
    let status = answer.status.as_u16();
    let right = match expected {
        Refused(refused) => status == refused && answer.json()["message"].is_string(),
        // 502: access is granted, but there is no acquirer.
        LetIn => (status < 500 || status == 502) && status != 401 && status != 403,
    };
    (!right).then(|| format!("{} {} by {who}: {status}, expected {expected:?}", policy.method, policy.path))
}

fn permissions(policy: &Policy) -> Vec<String> {
    match policy.access {
        Access::Staff(permissions) => permissions.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

fn is_staff(policy: &Policy) -> bool {
    matches!(policy.access, Access::Staff(_))
}

/// Callers that do not depend on the row, each with the expected result by kind of access.
struct Cast {
    callers: Vec<Caller>,
}

/// Name of the caller, its credentials, and the expected result of each row.
type Caller = (&'static str, Credentials, fn(&Policy) -> Expected);

fn nobody(_: &Policy) -> Expected {
    Refused(401)
}

fn takes_an_app_alone(policy: &Policy) -> bool {
    matches!(policy.access, Access::App | Access::Visitor)
}

fn only_an_app(policy: &Policy) -> Expected {
    if takes_an_app_alone(policy) { LetIn } else { Refused(401) }
}

fn only_a_customer(policy: &Policy) -> Expected {
    if policy.access == Access::CustomerOnly { LetIn } else { Refused(401) }
}

/// A valid application, and a Bearer that is not that of an employee.
fn app_and_customer(policy: &Policy) -> Expected {
    if is_staff(policy) || policy.access == Access::Backend { Refused(401) } else { LetIn }
}

fn everything_allowed(policy: &Policy) -> Expected {
    if is_staff(policy) { LetIn } else { Refused(401) }
}

fn nothing_allowed(policy: &Policy) -> Expected {
    match policy.access {
        Access::Staff([]) => LetIn,
        Access::Staff(_) => Refused(403),
        _ => Refused(401),
    }
}

const LONG_AGO: &str = "2020-01-01 00:00:00";

async fn end(server: &TestServer, bearer: &str, how: &str) -> String {
    let id = bearer.split('|').next().unwrap();
    let statement = match how {
        "expired" => format!("UPDATE access_tokens SET expires_at = '{LONG_AGO}' WHERE id = {id}"),
        "revoked" => format!("DELETE FROM access_tokens WHERE id = {id}"),
        "banned" => {
            format!(
                "UPDATE users SET is_banned = TRUE WHERE id = (SELECT subject_id FROM access_tokens WHERE id = {id})"
            )
        }
        "held to nothing" => format!("UPDATE access_tokens SET abilities = '[]' WHERE id = {id}"),
        how => panic!("{how}"),
    };
    server.execute(&statement).await;
    bearer.to_owned()
}

impl Cast {
    async fn of(server: &TestServer, project: &Project) -> Self {
        let app = Credentials::app(&project.app_token);
        let customer = || async { server.customer(project).await.1 };
        let owner = || async { server.owner(project).await };
        let (whole, admin) = (customer().await, owner().await);
        let part = |token: &str, second: bool| token.split('|').nth(usize::from(second)).unwrap().to_owned();
        let cut = |token: &str| token[..token.len() - 1].to_owned();
        // Ten kilobytes, which the server still reads.
        let long = |token: &str| format!("{token}{}", token[token.len() - 1..].repeat(10 * 1024));
        let in_query = |token: &str| Credentials { query: Some(token.to_owned()), ..Credentials::default() };
        let callers: Vec<Caller> = vec![
            ("nobody", Credentials::default(), nobody),
            ("an unknown application", Credentials::app("no-such-token"), nobody),
            ("an unknown application with a customer", Credentials::app("no-such-token").with_bearer(&whole), nobody),
            ("an application", app.clone(), only_an_app),
            ("a customer", Credentials::bearer(&whole), only_a_customer),
            ("an App Token as a Bearer", Credentials::bearer(&project.app_token), nobody),
            (
                "a customer, expired",
                app.clone().with_bearer(&end(server, &customer().await, "expired").await),
                only_an_app,
            ),
            (
                "a customer, revoked",
                app.clone().with_bearer(&end(server, &customer().await, "revoked").await),
                only_an_app,
            ),
            ("a customer's number", app.clone().with_bearer(&part(&whole, false)), only_an_app),
            ("a customer's secret", app.clone().with_bearer(&part(&whole, true)), only_an_app),
            ("a customer's token, cut", app.clone().with_bearer(&cut(&whole)), only_an_app),
            ("a separator", app.clone().with_bearer("|"), only_an_app),
            ("separators", app.clone().with_bearer(&long("|")), only_an_app),
            ("a customer's token with a long secret", app.clone().with_bearer(&long(&whole)), only_an_app),
            ("a customer's token in the query", in_query(&whole), nobody),
            ("an App Token in the query", in_query(&project.app_token), nobody),
            ("an employee's token in the query", in_query(&admin), nobody),
            ("an employee with an App Token", app.clone().with_bearer(&admin), |policy| match policy.access {
                Access::App | Access::Visitor | Access::Staff(_) => LetIn,
                _ => Refused(401),
            }),
            (
                "an employee without a permission",
                Credentials::bearer(&server.staff_with(project, &[]).await),
                nothing_allowed,
            ),
            (
                "an employee held to nothing",
                Credentials::bearer(&end(server, &owner().await, "held to nothing").await),
                nothing_allowed,
            ),
            ("an employee, expired", Credentials::bearer(&end(server, &owner().await, "expired").await), nobody),
            ("an employee, revoked", Credentials::bearer(&end(server, &owner().await, "revoked").await), nobody),
            ("an employee, banned", Credentials::bearer(&end(server, &owner().await, "banned").await), nobody),
            ("an employee's number", Credentials::bearer(&part(&admin, false)), nobody),
            ("an employee's secret", Credentials::bearer(&part(&admin, true)), nobody),
            ("an employee's token, cut", Credentials::bearer(&cut(&admin)), nobody),
            ("an employee's token with a long secret", Credentials::bearer(&long(&admin)), nobody),
            ("separators alone", Credentials::bearer(&long("|")), nobody),
        ];
        Self { callers }
    }
}

/// Returns `true` if a successful call ends the caller's token.
fn ends_tokens(policy: &Policy) -> bool {
    policy.path.ends_with("/logout") || (policy.method == "DELETE" && policy.path == "/api/counterparty")
}

fn guarded() -> impl Iterator<Item = &'static Policy> {
    policies::all().filter(|policy| policy.access != Access::Public)
}

#[test]
fn public_endpoints_are_listed() {
    let open = policies::all().filter(|policy| policy.access == Access::Public);
    let mut open: Vec<String> = open.map(|policy| format!("{} {}", policy.method, policy.path)).collect();
    open.sort();
    assert_eq!(open, OPEN);
}

#[test]
fn the_surfaces_keep_to_their_credentials() {
    for policy in guarded() {
        assert_eq!(
            is_staff(policy),
            policy.path != "/api/counterparty" && !policy.path.starts_with("/api/counterparty/"),
            "{} {}",
            policy.method,
            policy.path
        );
    }
}

/// Returns an employee, and an agent's token of an employee with all permissions. Each has every permission that does
/// not imply this one.
async fn everybody_but(server: &TestServer, project: &Project, missing: &str) -> [(String, Credentials); 2] {
    let lacked: Permission = missing.parse().unwrap();
    let rest = Permission::all().filter(|other| !lacked.is_covered_by(&[*other].into())).map(|other| other.to_string());
    let rest: Vec<String> = rest.collect();
    let names: Vec<&str> = rest.iter().map(String::as_str).collect();
    let employee = server.staff_with(project, &names).await;
    let agent = server.owner(project).await;
    let id = agent.split('|').next().unwrap();
    let abilities = serde_json::json!(rest);
    server.execute(&format!("UPDATE access_tokens SET abilities = '{abilities}' WHERE id = {id}")).await;
    [
        (format!("an employee with all but {missing}"), Credentials::bearer(&employee)),
        (format!("an agent held to all but {missing}"), Credentials::bearer(&agent)),
    ]
}

/// Lists that show records of a project with one record of every kind.
const LISTS: [&str; 40] = [
    "/api/agents",
    "/api/applications",
    "/api/branches",
    "/api/brands",
    "/api/categories",
    "/api/counterparties",
    "/api/departments",
    "/api/discounts",
    "/api/files",
    "/api/inventories",
    "/api/jobs",
    "/api/managers",
    "/api/menus",
    "/api/nomenclatures",
    "/api/orders",
    "/api/page_tags",
    "/api/promotions",
    "/api/responsible_users",
    "/api/roles",
    "/api/shops",
    "/api/subscriptions",
    "/api/tables/agents",
    "/api/tables/branches",
    "/api/tables/categories",
    "/api/tables/counterparties",
    "/api/tables/discounts",
    "/api/tables/files",
    "/api/tables/inventories",
    "/api/tables/nomenclatures",
    "/api/tables/orders",
    "/api/tables/pages",
    "/api/tables/reservations",
    "/api/tables/shops",
    "/api/tables/subscriptions",
    "/api/tables/tasks",
    "/api/tables/warehouses",
    "/api/tables/webhook_deliveries",
    "/api/tasks",
    "/api/users",
    "/api/webhook_deliveries",
];

/// Lists that are equal in all projects, except for the project's own additions.
const SHARED_LISTS: [&str; 2] = ["/api/permissions", "/api/screens"];

/// Returns the identifiers of the records in a list or a table.
fn listed(answer: &Value) -> BTreeSet<String> {
    let top = answer.as_object().into_iter().chain(answer["data"].as_object()).flatten();
    let lists = top.filter(|(key, _)| *key != "columns").filter_map(|(_, value)| value.as_array());
    lists.flatten().filter_map(|row| row.get("id")).map(ToString::to_string).collect()
}

database_tests! {
    async fn every_endpoint_refuses_callers_that_its_policy_refuses(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let mut wrong = Vec::new();
        let mut cast = Cast::of(&server, &project).await;
        for policy in guarded() {
            for (who, credentials, expected) in &cast.callers {
                wrong.extend(call(&server, policy, who, credentials, expected(policy)).await);
            }
            let both = Credentials::app(&project.app_token).with_bearer(&server.customer(&project).await.1);
            wrong.extend(call(&server, policy, "a customer of the application", &both, app_and_customer(policy)).await);
            let owner = Credentials::bearer(&server.owner(&project).await);
            wrong.extend(call(&server, policy, "an employee with everything", &owner, everything_allowed(policy)).await);
            if ends_tokens(policy) {
                cast = Cast::of(&server, &project).await;
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    async fn every_permission_of_a_policy_is_needed_and_enough(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let mut wrong = Vec::new();
        // A caller without a permission is refused everywhere that needs it, and stays logged in.
        let mut lacking: HashMap<String, [(String, Credentials); 2]> = HashMap::new();
        for policy in guarded().filter(|policy| is_staff(policy)) {
            let needed = permissions(policy);
            let names: Vec<&str> = needed.iter().map(String::as_str).collect();
            let exact = Credentials::bearer(&server.staff_with(&project, &names).await);
            wrong.extend(call(&server, policy, "an employee with just that", &exact, LetIn).await);
            for missing in needed {
                if !lacking.contains_key(&missing) {
                    lacking.insert(missing.clone(), everybody_but(&server, &project, &missing).await);
                }
                for (who, credentials) in &lacking[&missing] {
                    wrong.extend(call(&server, policy, who, credentials, Refused(403)).await);
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    async fn staff_of_another_project_are_refused_every_record(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let records = Records::of(&shop).await;
        let other = shop.server.project().await;
        let owner = shop.server.owner(&other).await;
        let mut wrong = Vec::new();
        let of_projects = guarded().filter(|policy| is_staff(policy) && policy.path.contains('{'));
        for policy in of_projects.filter(|policy| !records::is_shared(policy)) {
            let mut request = shop.server.as_staff(&owner, method(policy), &records.path(policy));
            if policy.method != "GET" {
                request = request.json(&records::body(policy));
            }
            let answer = send(request).await;
            // An access request handled by another project does not exist for the caller.
            let refused = if policy.path.starts_with("/api/agent-access-requests/") { 404 } else { 403 };
            if answer.status != refused {
                wrong.push(format!("{} {}: {} {}", policy.method, policy.path, answer.status, answer.text));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    async fn lists_leave_out_the_records_of_another_project(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let (server, records) = (&shop.server, Records::of(&shop).await);
        let (mine, theirs) = (server.owner(&shop.project).await, server.owner(&server.project().await).await);
        let menu = format!("/api/users/{}/create_menu_from_user_items", records.id("users"));
        send(server.as_staff(&mine, Method::POST, &menu).json(&json!({ "name": "Menu" }))).await.expect(201);
        let page = format!("/api/pages/{}", records.id("pages"));
        send(server.as_staff(&mine, Method::PUT, &page).json(&json!({ "tags": ["Tag"] }))).await.expect(200);
        let (mut filled, mut wrong) = (BTreeSet::new(), Vec::new());
        let lists = guarded().filter(|policy| is_staff(policy) && policy.method == "GET" && !policy.path.contains('{'));
        for policy in lists.filter(|policy| !records::is_shared(policy) && !SHARED_LISTS.contains(&policy.path)) {
            let seen_by = async |bearer: &str| {
                let list = send(server.as_staff(bearer, Method::GET, policy.path)).await;
                listed(&list.json())
            };
            let (own, foreign) = (seen_by(&mine).await, seen_by(&theirs).await);
            if !own.is_disjoint(&foreign) {
                wrong.push(format!("{}: {own:?} and {foreign:?}", policy.path));
            }
            if !own.is_empty() {
                filled.insert(policy.path);
            }
        }
        let empty: Vec<&str> = LISTS.into_iter().filter(|path| !filled.contains(path)).collect();
        assert!(empty.is_empty(), "nothing to compare in {empty:?}");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
