//! Caching headers of every row of the policies, and of requests without a policy.

use std::collections::BTreeSet;

use kontor::policies;
use kontor_adapter_diesel::database_tests;
use kontor_web::policy::{Access, Policy};
use reqwest::{Method, RequestBuilder};
use serde_json::json;

use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, TestServer, send};

fn cache_control(answer: &Answer) -> Option<&str> {
    answer.headers.get("cache-control").map(|value| value.to_str().unwrap())
}

/// Returns the names in every line of `Vary`, in lower case.
fn vary(answer: &Answer) -> BTreeSet<String> {
    let lines = answer.headers.get_all("vary").into_iter().map(|line| line.to_str().unwrap().to_lowercase());
    lines.flat_map(|line| line.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>()).collect()
}

/// Returns the credentials whose presence or value changes the response.
fn credentials(policy: &Policy) -> BTreeSet<String> {
    let names: &[&str] = match policy.access {
        Access::Public => &[],
        Access::App => &["token"],
        Access::Visitor | Access::Customer | Access::CustomerOnly => &["token", "authorization"],
        Access::Staff(_) | Access::Backend => &["authorization"],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns the path with identifiers that do not exist.
fn path(policy: &Policy) -> String {
    let segments = policy.path.split('/').map(|segment| if segment.starts_with('{') { "999999999" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

fn request(server: &TestServer, policy: &Policy, app: Option<&str>, bearer: Option<&str>) -> RequestBuilder {
    let method: Method = policy.method.as_str().parse().unwrap();
    let mut request = server.request(method.clone(), &path(policy));
    if let Some(app) = app {
        request = request.header("Token", app);
    }
    if let Some(bearer) = bearer {
        request = request.bearer_auth(bearer);
    }
    if method == Method::GET { request } else { request.json(&json!({})) }
}

/// Returns `true` if all holders of the App Token get the same response.
fn is_shown(policy: &Policy, bearer: Option<&str>) -> bool {
    policy.method == "GET" && (policy.access == Access::App || policy.access == Access::Visitor && bearer.is_none())
}

database_tests! {
    async fn every_endpoint_sends_cache_headers_of_its_policy(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let app = project.app_token.as_str();
        let (mut wrong, mut kept) = (Vec::new(), 0);
        let owner = async || server.owner(&project).await;
        let customer = async || server.customer(&project).await.1;
        let (mut admin, mut buyer) = (owner().await, customer().await);
        for policy in policies::all() {
            let callers = [
                (None, None), (Some("unknown"), None), (Some(app), None), (Some(app), Some(buyer.as_str())),
                (None, Some(admin.as_str())),
            ];
            for (app, bearer) in callers {
                let answer = send(request(&server, policy, app, bearer)).await;
                let shown = is_shown(policy, bearer) && answer.status == 200;
                kept += i32::from(shown);
                let expected = if shown { "no-cache" } else { "no-store" };
                if cache_control(&answer) != Some(expected) || !vary(&answer).is_superset(&credentials(policy)) {
                    let reported = (cache_control(&answer), vary(&answer));
                    wrong.push(format!("{} {}: {} {reported:?}", policy.method, policy.path, answer.status));
                }
            }
            if policy.path.ends_with("/logout") || (policy.method == "DELETE" && policy.path == "/api/counterparty") {
                // Earlier requests have logged both out.
                (admin, buyer) = (owner().await, customer().await);
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(kept > 15, "{kept} answers may be kept");
    }

    async fn cached_responses_are_the_same_for_every_caller_with_the_app_token(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        shop.goods(3, 1000).await;
        let menus = format!("/api/applications/{}/menu_items", shop.project.application_id);
        let owner = shop.server.owner(&shop.project).await;
        let menu = json!({ "name": "Menu", "slug": "navpanel" });
        send(shop.server.as_staff(&owner, Method::POST, &menus).json(&menu)).await.expect(201);
        let customer = shop.server.customer(&shop.project).await.1;
        let app = Some(shop.project.app_token.as_str());
        for policy in policies::all().filter(|policy| policy.method == "GET" && policy.access == Access::App) {
            let alone = send(request(&shop.server, policy, app, None)).await;
            let signed_in = send(request(&shop.server, policy, app, Some(&customer))).await;
            assert_eq!((alone.status, &alone.text), (signed_in.status, &signed_in.text), "{}", policy.path);
            assert_eq!(cache_control(&alone), cache_control(&signed_in), "{}", policy.path);
        }
        // The response from the cache equals the first one.
        for policy in policies::all().filter(|policy| policy.server_cached && !policy.path.contains('{')) {
            let first = send(request(&shop.server, policy, app, None)).await;
            let again = send(request(&shop.server, policy, app, None)).await;
            assert_eq!(again.status, 200, "{}", policy.path);
            assert_eq!((cache_control(&first), vary(&first)), (cache_control(&again), vary(&again)), "{}", policy.path);
        }
    }

    async fn responses_of_unknown_paths_are_not_cached(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let owner = server.owner(&server.project().await).await;
        let get = |path: &str| server.request(Method::GET, path);
        for request in [
            get("/healthz"), get("/readyz"), get("/metrics"), get("/nowhere"), get("/api/nowhere"), get("/files/none"),
            get(&format!("/files/{}", "a".repeat(40))), server.request(Method::DELETE, "/api/branches"),
            server.as_staff(&owner, Method::PUT, "/files/none"), get("/agent-access/none"),
            get("/healthz").header("X-Wide", "x".repeat(20_000)),
        ] {
            let answer = send(request).await;
            assert_eq!(cache_control(&answer), Some("no-store"), "{answer:?}");
        }
    }
}
