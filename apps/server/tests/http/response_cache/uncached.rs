//! Requests that are not served from the response cache.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;

use super::Store;
use crate::support::send;

database_tests! {
    async fn revoked_access_gets_no_cached_response(db: TestDatabase) {
        let store = Store::open(db).await;
        let (here, server) = (store.here(), &store.front.server);
        let good = store.read(&here, "products").await;
        assert_eq!((good.0, store.read(&here, "products").await), (200, good.clone()));
        let get = |token: &str| server.request(Method::GET, "/api/counterparty/products").header("Token", token);
        send(get("another-token")).await.expect(401);
        send(server.request(Method::GET, "/api/counterparty/products")).await.expect(401);
        server.execute("UPDATE applications SET is_active = FALSE").await;
        assert_eq!(store.read(&here, "products").await.0, 401);
        server.execute("UPDATE applications SET is_active = TRUE").await;
        assert_eq!(store.read(&here, "products").await, good);
    }

    async fn personal_responses_are_not_cached(db: TestDatabase) {
        let store = Store::open(db).await;
        let (server, project) = (&store.front.server, &store.front.project);
        let ask = || server.as_customer(project, &store.front.bearer, Method::GET, "/api/counterparty/products");
        for _ in 0..2 {
            let before = server.db.database.statements();
            send(ask()).await.expect(200);
            assert!(server.db.database.statements() > before);
        }
    }

    async fn refusals_are_not_cached(db: TestDatabase) {
        let store = Store::open(db).await;
        let here = store.here();
        for path in ["products/999999", "products?page=0", "products/x"] {
            let first = store.read(&here, path).await;
            assert!([404, 422].contains(&first.0), "{first:?}");
            assert_eq!(store.read(&here, path).await, first);
        }
        let metrics = send(here.request(Method::GET, "/metrics")).await.text;
        assert!(metrics.contains("kontor_answers_remembered_total{outcome=\"miss\"}"), "{metrics}");
        assert!(metrics.contains("kontor_answers_remembered_bytes"), "{metrics}");
    }
}
