use super::*;

#[expect(clippy::result_large_err, reason = "the error is figment's own")]
fn load(file: &str, environment: &[(&str, &str)], flags: Flags) -> Result<Config, String> {
    let mut outcome = Err(String::new());
    figment::Jail::expect_with(|jail| {
        jail.clear_env();
        jail.create_file("kontor.toml", file)?;
        for (key, value) in environment {
            jail.set_env(key, value);
        }
        outcome = Config::load(None, flags).map_err(|error| error.to_string());
        Ok(())
    });
    outcome
}

#[test]
fn the_nearer_layer_wins() {
    let file = "database_url = \"sqlite:file.db\"\nlog = \"warn\"";
    let config = load(file, &[("KONTOR_LOG", "debug"), ("DATABASE_URL", "sqlite:fallback.db")], Flags::default());
    let config = config.unwrap();
    assert_eq!((config.log.as_str(), config.database().unwrap().to_string().as_str()), ("debug", "sqlite:file.db"));
    let flags = Flags { database_url: Some("sqlite:flag.db".into()), bind: None };
    let config = load(file, &[("KONTOR_DATABASE_URL", "sqlite:env.db")], flags).unwrap();
    assert_eq!(config.database().unwrap().to_string(), "sqlite:flag.db");
    let config = load("", &[("DATABASE_URL", "sqlite:fallback.db")], Flags::default()).unwrap();
    assert_eq!(config.database().unwrap().to_string(), "sqlite:fallback.db");
}

#[test]
fn unknown_keys_are_errors() {
    assert!(load("colour = \"red\"", &[], Flags::default()).unwrap_err().contains("colour"));
    assert!(load("", &[("KONTOR_COLOUR", "red")], Flags::default()).unwrap_err().contains("colour"));
}

#[test]
fn every_wrong_setting_is_named_and_no_secret() {
    let file = "colour = \"red\"\nsecret_key = 73519264\nhttp_workers = \"swordfish\"\nlog_format = \"xml\"";
    let environment = [("KONTOR_ENV", "production"), ("KONTOR_RETENTION_DAYS", "soon"), ("KONTOR_BODY_SECONDS", "0")];
    let error = load(file, &environment, Flags::default()).unwrap_err();
    let keys: Vec<_> = error.lines().filter_map(|line| line.split(": ").nth(1)).collect();
    let wrong = ["colour", "http_workers", "retention_days", "secret_key", "body_seconds", "log_format"];
    assert_eq!(keys, wrong, "{error}");
    assert!(error.contains("kontor.toml") && error.contains("KONTOR_"), "it names the source: {error}");
    let error = error + &load("secret_key = swordfish", &[], Flags::default()).unwrap_err();
    assert!(error.contains("line 1") && !error.contains("swordfish") && !error.contains("73519264"), "{error}");
}

#[test]
fn production_refuses_what_is_unsafe() {
    let production = ("KONTOR_ENV", "production");
    assert!(load("", &[production], Flags::default()).unwrap_err().contains("secret_key"));
    let key = ("KONTOR_SECRET_KEY", "d41c8f07b6a29e5330f1c7d9e84b62a5");
    assert!(load("", &[production, key], Flags::default()).is_ok());
    let weak = ("KONTOR_SECRET_KEY", "changeme-changeme-changeme-changeme");
    assert!(load("", &[weak], Flags::default()).is_ok());
    assert!(load("", &[production, weak], Flags::default()).unwrap_err().contains("secret_key"));
    let factor = ("KONTOR_CODE_LIMIT_FACTOR", "2");
    assert!(load("", &[factor], Flags::default()).is_ok());
    assert!(load("", &[production, key, factor], Flags::default()).unwrap_err().contains("code_limit_factor"));
    let sandbox = ("KONTOR_ACQUIRER_SHOP_ID", "sandbox");
    assert!(load("", &[production, key, sandbox], Flags::default()).unwrap_err().contains("acquirer_shop_id"));
}

#[test]
fn the_development_key_is_for_this_machine_alone() {
    let key = ("KONTOR_SECRET_KEY", "d41c8f07b6a29e5330f1c7d9e84b62a5");
    for (bind, local) in [("127.0.0.1:80", true), ("[::1]:80", true), ("0.0.0.0:80", false), ("192.0.2.1:80", false)] {
        let bind = ("KONTOR_BIND", bind);
        let loaded = load("", &[bind], Flags::default());
        assert_eq!(loaded.is_ok(), local, "{bind:?}");
        if let Err(error) = loaded {
            assert!(error.contains("bind") && error.contains("KONTOR_SECRET_KEY"), "{error}");
        }
        assert!(!load("", &[bind, key], Flags::default()).unwrap().has_development_key());
    }
}

#[test]
fn metrics_have_an_address_of_their_own_in_production() {
    let key = ("KONTOR_SECRET_KEY", "d41c8f07b6a29e5330f1c7d9e84b62a5");
    let production = ("KONTOR_ENV", "production");
    let monitoring = |environment: &[(&str, &str)]| {
        load("", environment, Flags::default()).map(|config| config.monitoring().unwrap())
    };
    assert_eq!(monitoring(&[]), Ok(None));
    assert!(monitoring(&[production, key]).unwrap().unwrap().ip().is_loopback());
    assert_eq!(monitoring(&[production, key, ("KONTOR_MONITORING_BIND", "main")]), Ok(None));
    let own = ("KONTOR_MONITORING_BIND", "10.0.0.7:9000");
    assert_eq!(monitoring(&[own]), Ok(Some("10.0.0.7:9000".parse().unwrap())));
    assert!(monitoring(&[("KONTOR_MONITORING_BIND", "here")]).unwrap_err().contains("monitoring_bind"));
}

#[test]
fn bodies_have_bounds() {
    for (setting, fits) in [
        ("body_seconds = 0", false),
        ("body_seconds = 3601", false),
        ("body_seconds = 1", true),
        ("body_memory_mb = 0", false),
        ("body_memory_mb = 1", true),
        ("body_limit = 2097152\nbody_memory_mb = 1", false),
    ] {
        assert_eq!(load(setting, &[], Flags::default()).is_ok(), fits, "{setting}");
    }
}

#[test]
fn a_verification_costs_something() {
    for (text, minor) in [("1", Some(100)), ("10.50", Some(1_050)), ("0", None), ("-1", None), ("a rouble", None)] {
        let loaded = load("", &[("KONTOR_VERIFICATION_AMOUNT", text)], Flags::default());
        let amount = loaded.ok().map(|config| config.verification().unwrap().amount.minor());
        assert_eq!(amount, minor, "{text}");
    }
}

#[test]
fn a_consent_names_its_text() {
    let named = |text: &str| load(&format!("subscription_consent_version = \"{text}\""), &[], Flags::default());
    assert_eq!(load("", &[], Flags::default()).unwrap().consent_text().unwrap(), "1");
    assert_eq!(named("2027-01").unwrap().consent_text().unwrap(), "2027-01");
    for wrong in ["", " ", &"x".repeat(65)] {
        assert!(named(wrong).unwrap_err().contains("subscription_consent_version"), "{wrong}");
    }
}

#[test]
fn charges_have_a_pace() {
    for (pace, fits) in [("1", true), ("1000000", true), ("0", false), ("1000001", false)] {
        let loaded = load(&format!("subscription_charges_per_second = {pace}"), &[], Flags::default());
        assert_eq!(loaded.is_ok(), fits, "{pace}");
    }
}

#[test]
fn secrets_are_masked() {
    let environment = [
        ("KONTOR_SECRET_KEY", "0123456789abcdef0123456789abcdef"),
        ("KONTOR_DATABASE_URL", "postgres://u:hunter2@h/d"),
        ("KONTOR_TELEPHONY_API_ID", "12345678"),
        ("KONTOR_SUGGEST_API_KEY", "f00dfeed"),
        ("KONTOR_REDIS_URL", "redis://kontor:swordfish@redis.example/2"),
    ];
    let shown = load("", &environment, Flags::default()).unwrap().masked().unwrap();
    for secret in ["0123456789abcdef", "hunter2", "12345678", "f00dfeed", "swordfish"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(shown.contains("redis://***@redis.example:6379/2"), "{shown}");
}

#[test]
fn redis_is_an_address_or_nothing() {
    assert!(load("", &[], Flags::default()).unwrap().redis().unwrap().is_none());
    assert!(load("redis_url = \"unix:///run/redis.sock\"", &[], Flags::default()).unwrap().redis().unwrap().is_some());
    let error = load("", &[("KONTOR_REDIS_URL", "http://:swordfish@redis")], Flags::default()).unwrap_err();
    assert!(error.contains("redis_url") && !error.contains("swordfish"), "{error}");
    let error = load("redis_timeout_ms = 0", &[], Flags::default()).unwrap_err();
    assert!(error.contains("redis_timeout_ms"), "{error}");
}

#[test]
fn texts_may_look_like_anything() {
    let environment = [
        ("KONTOR_ACQUIRER_SHOP_ID", "100500"),
        ("KONTOR_ACQUIRER_SECRET_KEY", "0012"),
        ("KONTOR_TELEPHONY_API_ID", "1e9"),
        ("KONTOR_SMTP_USER", "true"),
        ("KONTOR_SMTP_PASSWORD", "[a, b]"),
        ("KONTOR_SMTP_PORT", "2525"),
    ];
    let config = load("", &environment, Flags::default()).unwrap();
    assert_eq!((config.acquirer_shop_id.as_str(), config.smtp_user.as_str()), ("100500", "true"));
    let secrets = [&config.acquirer_secret_key, &config.telephony_api_id, &config.smtp_password];
    assert_eq!(secrets.map(ExposeSecret::expose_secret), ["0012", "1e9", "[a, b]"]);
    assert_eq!(config.smtp_port, 2525);
}

#[test]
fn codes_are_sent_by_call_by_default() {
    assert_eq!(load("", &[], Flags::default()).unwrap().phone_codes, PhoneCodes::Call);
    let sms = load("", &[("KONTOR_PHONE_CODES", "sms")], Flags::default()).unwrap();
    assert_eq!(sms.phone_codes, PhoneCodes::Sms);
    let error = load("phone_codes = \"pigeon\"", &[], Flags::default()).unwrap_err();
    assert!(error.contains("phone_codes: must be one of: call, sms"), "{error}");
    let never = load("miniapp_contact_seconds = 0", &[], Flags::default());
    assert!(never.unwrap_err().contains("miniapp_contact_seconds"));
}

#[test]
fn a_bucket_is_described_whole_or_not_at_all() {
    let bucket = [
        ("KONTOR_FILES_S3_BUCKET", "files"),
        ("KONTOR_FILES_S3_ENDPOINT", "https://s3.example.com"),
        ("KONTOR_FILES_S3_ACCESS_KEY", "kontor"),
        ("KONTOR_FILES_S3_SECRET_KEY", "swordfish"),
    ];
    let config = load("", &bucket, Flags::default()).unwrap();
    assert!(config.files().is_ok());
    let shown = config.masked().unwrap();
    assert!(shown.contains("files_s3_secret_key = \"***\"") && !shown.contains("swordfish"), "{shown}");
    for missing in 0..bucket.len() {
        let rest: Vec<_> = bucket.iter().enumerate().filter(|(at, _)| *at != missing).map(|(_, one)| *one).collect();
        let error = load("", &rest, Flags::default()).map(|config| config.files_s3_bucket).unwrap_err();
        assert!(error.contains(&bucket[missing].0["KONTOR_".len()..].to_lowercase()), "{missing}: {error}");
    }
    assert!(load("files_limit = 0", &[], Flags::default()).unwrap_err().contains("files_limit"));
}

#[test]
fn traces_need_a_collector_and_a_share() {
    let config = load("traces_percent = 100", &[], Flags::default()).unwrap();
    assert!(config.sampling().request(None, false, 1, "GET").is_none());
    load("traces_url = \"http://127.0.0.1:4318/v1/traces\"", &[], Flags::default()).unwrap();
    for url in ["127.0.0.1:4318", "grpc://127.0.0.1:4317", "https://kontor:swordfish@otel.example.com/v1/traces"] {
        let error = load("", &[("KONTOR_TRACES_URL", url)], Flags::default()).map(|config| config.log).unwrap_err();
        assert!(error.contains("traces_url: must be") && !error.contains("swordfish"), "{error}");
    }
    assert!(load("traces_percent = 101", &[], Flags::default()).unwrap_err().contains("traces_percent"));
}

#[test]
fn lists_take_commas() {
    let config = load("", &[("KONTOR_TRUSTED_PROXIES", "10.0.0.0/8, 127.0.0.1")], Flags::default()).unwrap();
    assert_eq!(config.proxies().unwrap().len(), 2);
    assert!(load("trusted_proxies = [\"proxy\"]", &[], Flags::default()).unwrap_err().contains("proxy"));
}

#[test]
fn limits_of_codes_are_raised_within_reason() {
    assert_eq!(load("", &[], Flags::default()).unwrap().code_limit_factor, 1);
    for (factor, fits) in [("1", true), ("100", true), ("0", false), ("101", false), ("-1", false)] {
        let loaded = load("", &[("KONTOR_CODE_LIMIT_FACTOR", factor)], Flags::default());
        let loaded = loaded.map(|config| config.code_limit_factor.to_string());
        match loaded {
            Ok(loaded) => assert!(fits && loaded == factor, "{factor}"),
            Err(error) => assert!(!fits && error.to_lowercase().contains("code_limit_factor"), "{factor}: {error}"),
        }
    }
}

#[test]
#[expect(clippy::result_large_err, reason = "the error is figment's own")]
fn operator_settings_override_defaults() {
    let defaults = Config { log: "warn".into(), retention_days: 7, ..Config::default() };
    figment::Jail::expect_with(|jail| {
        jail.clear_env();
        jail.create_file("kontor.toml", "log = \"trace\"\ncors_origins = [\"https://shop.example\"]")?;
        jail.set_env("KONTOR_STAFF_TOKEN_HOURS", "8");
        let config = Layers::read(None, Flags::default()).over(&defaults).unwrap();
        assert_eq!((config.log.as_str(), config.retention_days, config.staff_token_hours), ("trace", 7, 8));
        assert_eq!(config.cors_origins, ["https://shop.example"], "lists are not put together");
        jail.set_env("KONTOR_RETENTION_DAYS", "soon");
        let error = Layers::read(None, Flags::default()).over(&defaults).unwrap_err().to_string();
        assert!(error.to_lowercase().contains("retention_days"), "{error}");
        assert!(error.contains("KONTOR_"), "tells where it was said: {error}");
        Ok(())
    });
}
