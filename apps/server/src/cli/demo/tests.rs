use std::net::Ipv4Addr;

use kontor_kernel::ExposeSecret;

use super::*;

fn arguments(data: &Path) -> DemoArguments {
    let sandbox_bind = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    DemoArguments { bind: None, sandbox_bind, data: data.to_owned(), database: None }
}

#[test]
#[expect(clippy::result_large_err, reason = "the error is figment's own")]
fn the_demo_takes_what_every_command_takes() {
    figment::Jail::expect_with(|jail| {
        jail.clear_env();
        let arguments = arguments(&jail.directory().join("shop"));
        let settings = |arguments: &DemoArguments| {
            Layers::read(None, arguments.flags()).over(&own(arguments).unwrap()).map_err(|error| error.to_string())
        };

        let bare = settings(&arguments).unwrap();
        assert_eq!((bare.bind.to_string().as_str(), bare.log.as_str()), ("127.0.0.1:8080", "warn"));
        assert!(bare.database().unwrap().to_string().ends_with("shop/kontor.db"));
        assert!(bare.trusted_proxies.is_empty() && bare.code_limit_factor > 1);

        jail.create_file("kontor.toml", "bind = \"0.0.0.0:9000\"\nlog = \"info\"\nacquirer_shop_id = \"mine\"")?;
        jail.set_env("KONTOR_TRUSTED_PROXIES", "10.0.0.0/8");
        jail.set_env("KONTOR_CODE_LIMIT_FACTOR", "1");
        jail.set_env("KONTOR_LOG", "debug");
        assert!(settings(&arguments).unwrap_err().contains("KONTOR_SECRET_KEY"), "its key is for this machine alone");
        jail.set_env("KONTOR_SECRET_KEY", "d41c8f07b6a29e5330f1c7d9e84b62a5");
        let printed = settings(&arguments).unwrap();
        assert_eq!((printed.bind.to_string().as_str(), printed.log.as_str()), ("0.0.0.0:9000", "debug"));
        assert_eq!(
            (printed.trusted_proxies.as_slice(), printed.code_limit_factor),
            (&["10.0.0.0/8".to_owned()][..], 1)
        );
        assert_eq!((printed.acquirer_shop_id.as_str(), printed.webhook_allow_internal), ("mine", true));

        jail.set_env("DATABASE_URL", "sqlite:elsewhere.db");
        assert_eq!(settings(&arguments).unwrap().database().unwrap().to_string(), "sqlite:elsewhere.db");
        let flags = DemoArguments {
            bind: "127.0.0.1:9100".parse().ok(),
            database: Some("sqlite:flag.db".into()),
            ..arguments.clone()
        };
        let flagged = settings(&flags).unwrap();
        assert_eq!(flagged.bind.port(), 9100);
        assert_eq!(flagged.database().unwrap().to_string(), "sqlite:flag.db");

        jail.set_env("KONTOR_ENV", "production");
        assert!(settings(&arguments).unwrap_err().contains("webhook_allow_internal"), "a demo is no production");
        let refused = || development(&Layers::read(None, arguments.flags()), &own(&arguments).unwrap());
        assert!(refused().unwrap_err().to_string().contains("does not run in production"));
        // Even if all other settings are valid.
        jail.set_env("KONTOR_WEBHOOK_ALLOW_INTERNAL", "false");
        assert!(settings(&arguments).is_ok() && refused().is_err());
        jail.set_env("KONTOR_COLOUR", "red");
        assert!(settings(&arguments).unwrap_err().contains("colour"));
        Ok(())
    });
}

#[tokio::test]
#[expect(clippy::result_large_err, reason = "the error is figment's own")]
async fn addresses_of_the_sandbox_are_defaults_too() {
    let sandbox = Sandbox::start(SandboxConfig::new(Arc::new(SystemClock))).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kontor.toml");
    std::fs::write(&file, "smtp_host = \"mail.example.com\"\npublic_url = \"https://shop.example\"").unwrap();
    let arguments = arguments(folder.path());
    let defaults = connected(own(&arguments).unwrap(), &sandbox, "http://127.0.0.1:1");
    let mut read = None;
    // Other tests set variables of this process at the same time.
    figment::Jail::expect_with(|jail| {
        jail.clear_env();
        read = Some(Layers::read(Some(file), arguments.flags()).over(&defaults));
        Ok(())
    });
    let config = read.unwrap().unwrap();
    assert_eq!((config.smtp_host.as_str(), config.public_url.as_str()), ("mail.example.com", "https://shop.example"));
    assert_eq!((config.telephony_url.as_str(), config.smtp_port), (sandbox.url(), sandbox.smtp_addr().port()));
    assert_eq!(config.acquirer_secret_key.expose_secret(), "test_sandbox_secret_key");
    sandbox.stop().await;
}

#[test]
fn files_with_credentials_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("demo.json");
    for contents in ["one", "two"] {
        write(&path, &contents).unwrap();
        assert_eq!(read::<String>(&path).unwrap().as_deref(), Some(contents));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 1, "no draft is left");
}

#[test]
fn an_address_for_all_is_reached_on_this_machine() {
    for (bound, expected) in [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("192.0.2.1:80", "192.0.2.1:80")]
    {
        assert_eq!(reachable(bound.parse().unwrap()).to_string(), expected);
    }
}
