//! `kontor demo` as a process: it takes the settings that every command takes.

use std::time::Instant;

use kontor::cli::demo::DemoFile;
use kontor_adapter_diesel::{database_tests, look_again};
use reqwest::Method;
use serde_json::json;

use crate::process::{PATIENCE, Site};
use crate::support::{Answer, send};

database_tests! {
    async fn a_demo_takes_the_settings_of_every_command(db: TestDatabase) {
        let site = Site::open(db, 1.0).await;
        let folder = tempfile::tempdir().unwrap();
        let (config, data) = (folder.path().join("demo.toml"), folder.path().join("shop"));
        std::fs::write(&config, "trusted_proxies = [\"127.0.0.1\"]\ncode_limit_factor = 3").unwrap();
        let (config, place) = (config.to_str().unwrap(), data.to_str().unwrap());
        let arguments = ["--config", config, "demo", "--data", place, "--sandbox-bind", "127.0.0.1:0"];
        let mut process = site.spawn_with(&arguments, &[("KONTOR_CODE_LIMIT_FACTOR", "2".to_owned())]);
        let until = Instant::now() + PATIENCE;
        let file = loop {
            if let Ok(text) = std::fs::read_to_string(data.join("demo.json")) {
                break serde_json::from_str::<DemoFile>(&text).unwrap();
            }
            process.must_run();
            look_again!(until, "the demo does not start:\n{}", site.log());
        };
        // The address, the database and outside services come from the environment, not from the demo.
        assert_eq!(file.base_url, site.url());
        assert_eq!(site.number("SELECT count(*) AS id FROM nomenclatures").await, 31);
        assert!(!data.join("kontor.db").exists());
        let front = site.front(&json!(file.app_token));
        let asked = front.request(Method::POST, "/api/counterparty/send_password");
        let asked = send(asked.json(&json!({ "phone": "79005550031" }))).await;
        asked.expect(200);
        assert_eq!(asked.headers["x-ratelimit-limit"], "6", "the environment stands above the file");
        assert_eq!(site.control("/messages?to=79005550031").await["messages"].as_array().unwrap().len(), 1);

        let log_in_from = async |address: &str| -> Answer {
            let body = json!({ "login": "nobody", "password": "wrong" });
            let request = site.http.post(format!("{}/api/login", site.url()));
            send(request.header("X-Forwarded-For", address).json(&body)).await
        };
        for _ in 0..5 {
            log_in_from("203.0.113.7").await.expect(401);
        }
        log_in_from("203.0.113.7").await.expect(429);
        log_in_from("203.0.113.8").await.expect(401);
        process.terminate();
        assert!(process.ended().await.success());
    }
}
