//! PostgreSQL over TLS: trusted certificates, client certificates, and normal operation.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use kontor_adapter_diesel::testing::{OwnServer, ServerTls, Stop};
use kontor_adapter_diesel::{Database, DatabaseUrl, PoolOptions, tests_with};
use kontor_kernel::StoreError;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

use crate::fixtures::{number, run};
use crate::orders::shop::ShopFixture;

const PASSWORD: &str = "p@ss/w%C3%B6rd";

/// A certificate authority, and a server with a certificate for `localhost` alone.
struct Trial {
    server: OwnServer,
    authority: CertifiedIssuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for this name, and its key.
fn signed(authority: &CertifiedIssuer<'_, KeyPair>, name: &str) -> (String, String) {
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, authority).unwrap().pem(), key.serialize_pem())
}

impl Trial {
    async fn start() -> Self {
        let authority = authority("Authority of a test");
        let (certificate, key) = signed(&authority, "localhost");
        let server = OwnServer::start_with_tls(&ServerTls { certificate, key, authority: authority.pem() });
        let trial = Self { server, authority, folder: tempfile::tempdir().unwrap() };
        trial.file("ca.pem", &trial.authority.pem());
        let accounts = "SET password_encryption = 'scram-sha-256'; CREATE ROLE shop SUPERUSER LOGIN PASSWORD 'p@ss/wörd'; \
             CREATE ROLE clerk SUPERUSER LOGIN;";
        run(&trial.server.database(), accounts.to_owned()).await;
        trial
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// URL with the account and password at this host. `CA` is replaced by the file of the authority, `PORT` by the
    /// port.
    fn url(&self, place: &str, settings: &str) -> String {
        let password = PASSWORD.replace('@', "%40").replace('/', "%2F");
        let ca = self.folder.path().join("ca.pem");
        format!("postgres://shop:{password}@{place}/postgres?{settings}")
            .replace("PORT", &self.server.port().to_string())
            .replace("CA", ca.to_str().unwrap())
    }

    fn refusal(&self, place: &str, settings: &str) -> String {
        refusal(&self.url(place, settings))
    }
}

fn refusal(url: &str) -> String {
    let options = PoolOptions { connections: 1, wait: Duration::from_secs(2), ..PoolOptions::default() };
    match Database::open(DatabaseUrl::Postgres(url.to_owned()), options) {
        Ok(_) => panic!("{url} leads somewhere"),
        Err(StoreError::Unavailable(reason) | StoreError::Failed(reason)) => reason,
        Err(other) => panic!("{other:?}"),
    }
}

const BY_TLS: &str = "SELECT count(*) AS value FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl";

async fn orders_are_stored_by_tls_and_connections_come_back() {
    let mut trial = Trial::start().await;
    let db = trial.server.database_at(&trial.url("localhost:PORT", "sslmode=verify-full&sslrootcert=CA"));
    assert_eq!(number(&db, BY_TLS).await, 1, "the server says so, too");
    let shop = ShopFixture::open(&db).await;
    let vase = shop.goods("Vase", 1_000, 100).await;
    shop.placed(&shop.command(&[(vase, 1)])).await;
    for stop in [Stop::Fast, Stop::Immediate] {
        trial.server.restart(stop);
        shop.placed(&shop.command(&[(vase, 1)])).await;
    }
    assert_eq!(shop.count("orders").await, 3);
    assert_eq!(number(&db, BY_TLS).await, 1);
}

async fn the_address_says_how_much_is_verified() {
    let trial = Trial::start().await;
    let other = authority("Stranger");
    let other = trial.file("other.pem", &other.pem());
    // The certificate is for `localhost`, not for 127.0.0.1.
    for (place, settings) in [
        ("localhost:PORT", "sslmode=verify-full&sslrootcert=CA"),
        ("localhost:PORT", "sslmode=verify-full&sslrootcert=CA&ssl_min_protocol_version=TLSv1.3"),
        ("localhost:PORT", "sslmode=verify-full&sslrootcert=CA&hostaddr=127.0.0.1&target_session_attrs=read-write"),
        ("127.0.0.1:PORT", "sslmode=verify-ca&sslrootcert=CA"),
        ("127.0.0.1:PORT", "sslmode=require"),
        ("127.0.0.1:PORT", "sslmode=require&sslrootcert=CA"),
        // The first of the two cannot be reached.
        ("127.0.0.1:1,localhost:PORT", "sslmode=verify-full&sslrootcert=CA&target_session_attrs=read-write"),
    ] {
        let db = trial.server.database_at(&trial.url(place, settings));
        assert_eq!(number(&db, BY_TLS).await, 1, "{place} {settings}");
    }
    let name = trial.refusal("127.0.0.1:PORT", "sslmode=verify-full&sslrootcert=CA");
    assert!(name.contains("is for localhost, not for 127.0.0.1"), "{name}");
    for mode in ["verify-full", "verify-ca", "require"] {
        let outsider = trial.refusal("localhost:PORT", &format!("sslmode={mode}&sslrootcert={other}"));
        assert!(outsider.contains("not signed by a trusted authority"), "{mode}: {outsider}");
    }
    let system = trial.refusal("localhost:PORT", "sslmode=verify-full");
    assert!(system.contains("trust"), "{system}");
    let missing = trial.refusal("localhost:PORT", "sslmode=verify-full&sslrootcert=/nowhere.pem");
    assert!(missing.contains("/nowhere.pem"), "{missing}");
    let binding = trial.refusal("localhost:PORT", "sslmode=verify-full&sslrootcert=CA&channel_binding=require");
    assert!(binding.contains("channel_binding"), "{binding}");
    let wrong = trial.url("localhost:PORT", "sslmode=verify-full&sslrootcert=CA").replace("shop:", "shop:not");
    let wrong = refusal(&wrong);
    assert!(wrong.contains("password authentication failed"), "{wrong}");
    // This account is not admitted without TLS.
    let plain = trial.refusal("localhost:PORT", "sslmode=disable");
    assert!(plain.contains("no encryption"), "{plain}");
}

async fn a_client_shows_its_certificate() {
    let trial = Trial::start().await;
    let seller = |(certificate, key): (String, String)| {
        let (certificate, key) = (trial.file("clerk.pem", &certificate), trial.file("clerk.key", &key));
        let settings = format!("sslmode=verify-full&sslrootcert=CA&sslcert={certificate}&sslkey={key}");
        let url = trial.url("localhost:PORT", &settings);
        let (_, place) = url.split_once('@').unwrap();
        format!("postgres://clerk@{place}")
    };
    let db = trial.server.database_at(&seller(signed(&trial.authority, "clerk")));
    let shown = "SELECT count(*) AS value FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND client_dn LIKE '%clerk%'";
    assert_eq!(number(&db, shown).await, 1);
    let outsider = refusal(&seller(signed(&authority("Stranger"), "clerk")));
    assert!(outsider.contains("UnknownCA") || outsider.contains("ended the connection"), "{outsider}");
    let other = refusal(&seller(signed(&trial.authority, "cashier")));
    assert!(other.contains("certificate authentication failed"), "{other}");
}

#[test]
fn a_server_without_tls_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 8];
            if stream.read_exact(&mut request).is_ok() {
                let _ = stream.write_all(b"N");
            }
        }
    });
    let reason = refusal(&format!("postgres://shop@127.0.0.1:{port}/kontor?sslmode=require"));
    assert!(reason.contains("does not speak TLS"), "{reason}");
}

tests_with!(postgres_server:
    orders_are_stored_by_tls_and_connections_come_back,
    the_address_says_how_much_is_verified,
    a_client_shows_its_certificate,
);
