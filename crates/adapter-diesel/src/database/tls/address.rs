//! Parser for connection URIs, and the URI that leads through the forwarder instead.

use std::fmt;
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::TlsError;

/// Connection URI, split as libpq splits it. Accounts, names and settings keep their encoding.
pub(super) struct ConnectionUri<'a> {
    scheme: &'a str,
    account: Option<&'a str>,
    hosts: Vec<String>,
    ports: Vec<String>,
    /// Includes the leading slash.
    name: &'a str,
    settings: Vec<(String, &'a str)>,
}

/// Extent of certificate verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The issuer, if roots are given.
    Require,
    /// The issuer.
    VerifyCa,
    /// The issuer and the host name.
    VerifyFull,
}

/// Trusted issuers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Roots {
    /// Issuers that the machine trusts.
    System,
    /// Issuers in a file.
    File(String),
    /// Any issuer.
    Any,
}

/// Requirements of an address for its connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TlsSettings {
    pub mode: Mode,
    pub roots: Roots,
    /// Files of the client certificate and of its key.
    pub shown: Option<(String, String)>,
    /// `true` if only TLS 1.3 is accepted.
    pub newest_only: bool,
    /// `true` if the host name is sent before encryption starts (SNI).
    pub names_host: bool,
    /// Timeout for connecting.
    pub patience: Duration,
    pub keep_alive: Option<KeepAlive>,
    pub user_timeout: Option<Duration>,
}

/// TCP keep-alive settings. Missing values use the defaults of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeepAlive {
    pub idle: Option<Duration>,
    pub interval: Option<Duration>,
    pub count: Option<u32>,
}

/// Server that an address names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Socket on this machine, which needs no TLS.
    Socket { folder: String, port: String },
    /// Server that is reached over the network.
    Network(Server),
}

/// Server on the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    /// Host name expected in the certificate.
    pub host: String,
    /// Network address, if it is not resolved from the name.
    pub address: Option<String>,
    pub port: u16,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Default timeout without `connect_timeout`. libpq would wait forever.
const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

const PORT: &str = "5432";

/// Settings that the forwarder implements, and settings that require nothing beyond its behaviour.
const KNOWN: [&str; 6] = ["sslmode", "sslrootcert", "sslcert", "sslkey", "sslsni", "ssl_min_protocol_version"];
const IMPLIED: [(&str, &str); 3] = [("sslnegotiation", "postgres"), ("sslcertmode", "allow"), ("sslcompression", "0")];

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn host_and_port(text: &str) -> Option<(&str, &str)> {
    if let Some(text) = text.strip_prefix('[') {
        let (host, port) = text.split_once(']')?;
        return if port.is_empty() { Some((host, "")) } else { port.strip_prefix(':').map(|port| (host, port)) };
    }
    Some(text.split_once(':').unwrap_or((text, "")))
}

impl<'a> ConnectionUri<'a> {
    /// Parses a URI. Returns `None` for text that libpq will reject.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (account, rest) = match rest.split_once('@') {
            Some((account, rest)) if !account.contains('/') => (Some(account), rest),
            _ => (None, rest),
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, name) = place.split_at(place.find('/').unwrap_or(place.len()));
        let servers: Option<Vec<_>> = hosts.split(',').map(host_and_port).collect();
        let (hosts, ports) = servers?.into_iter().map(|(host, port)| (decoded(host), decoded(port))).unzip();
        let settings = query.split('&').filter_map(|setting| setting.split_once('='));
        let settings = settings.map(|(key, value)| (decoded(key), value)).collect();
        Some(Self { scheme, account, hosts, ports, name, settings })
    }

    /// Returns a setting. If it occurs twice, the last one applies.
    fn setting(&self, key: &str) -> Option<String> {
        self.settings.iter().rev().find(|(name, _)| name == key).map(|(_, value)| decoded(value))
    }

    fn number(&self, key: &str) -> Result<Option<u32>, TlsError> {
        let parse = |text: String| {
            text.parse::<i64>()
                .map_err(|_| TlsError::new(format!("`{key}` must be a number")))
                .map(|number| u32::try_from(number).unwrap_or(0))
        };
        // Zero and less select the default of the machine.
        Ok(self.setting(key).map(parse).transpose()?.filter(|number| *number > 0))
    }

    fn list(&self, key: &str) -> Option<Vec<String>> {
        let text = self.setting(key).filter(|text| !text.is_empty())?;
        Some(text.split(',').map(str::to_owned).collect())
    }

    /// Returns the servers in order.
    pub fn places(&self) -> Result<Vec<Place>, TlsError> {
        let addresses = self.list("hostaddr");
        let hosts = self.list("host").unwrap_or_else(|| self.hosts.clone());
        let count = addresses.as_ref().map_or(hosts.len(), Vec::len);
        let ports = self.list("port").unwrap_or_else(|| self.ports.clone());
        let is_alone = |list: &[String]| list.iter().all(String::is_empty);
        if hosts.len() != count && !is_alone(&hosts) {
            return Err(TlsError::new("`hostaddr` must have one address for each host"));
        }
        if ports.len() != count && ports.len() != 1 {
            return Err(TlsError::new("`port` must have one port, or one for each host"));
        }
        let at = |list: &[String], number: usize| list.get(number).cloned().unwrap_or_default();
        let place = |number| {
            let (host, port) = (at(&hosts, number), at(&ports, if ports.len() == 1 { 0 } else { number }));
            let address = addresses.as_ref().map(|list| at(list, number)).filter(|address| !address.is_empty());
            let port = if port.is_empty() { PORT.to_owned() } else { port };
            if address.is_none() && (host.is_empty() || host.starts_with(['/', '@'])) {
                return Ok(Place::Socket { folder: host, port });
            }
            let port = port.trim().parse().map_err(|_| TlsError::new(format!("`{port}` is not a valid port")))?;
            let host = if host.is_empty() { address.clone().unwrap_or_default() } else { host };
            Ok(Place::Network(Server { host, address, port }))
        };
        (0..count).map(place).collect()
    }

    /// Returns the address with a socket in this folder in place of every network server.
    pub fn with_sockets(&self, folder: &str, places: &[Place]) -> String {
        let (hosts, ports): (Vec<String>, Vec<String>) = (1..)
            .zip(places)
            .map(|(number, place)| match place {
                Place::Socket { folder, port } => (folder.clone(), port.clone()),
                Place::Network(_) => (folder.to_owned(), number.to_string()),
            })
            .unzip();
        let mut url = format!("{}://", self.scheme);
        if let Some(account) = self.account {
            url += account;
            url.push('@');
        }
        url += self.name;
        let encoded = |list: &[String]| utf8_percent_encode(&list.join(","), NON_ALPHANUMERIC).to_string();
        url.extend(["?host=", &encoded(&hosts), "&port=", &encoded(&ports), "&sslmode=disable"]);
        let replaced = |key: &str| key.starts_with("ssl") || ["host", "hostaddr", "port"].contains(&key);
        for (key, value) in self.settings.iter().filter(|(key, _)| !replaced(key)) {
            let key = utf8_percent_encode(key, NON_ALPHANUMERIC).to_string().replace("%5F", "_");
            url.extend(["&", &key, "=", value]);
        }
        url
    }
}

impl TlsSettings {
    /// Returns the settings; `None` if the address does not require TLS. A requirement that the forwarder does not
    /// implement is an error, so that it is never silently ignored.
    pub fn of(uri: &ConnectionUri<'_>) -> Result<Option<Self>, TlsError> {
        let Some(mode) = mode(uri)? else { return Ok(None) };
        if uri.setting("channel_binding").as_deref() == Some("require") {
            return Err(TlsError::new("`channel_binding=require` is not supported; leave it out"));
        }
        for (key, _) in &uri.settings {
            let value = uri.setting(key).unwrap_or_default();
            let is_implied = IMPLIED.contains(&(key.as_str(), value.as_str())) || key == "ssl";
            if key.starts_with("ssl") && !KNOWN.contains(&key.as_str()) && !is_implied {
                return Err(TlsError::new(format!("`{key}` is not supported")));
            }
        }
        let newest_only = match uri.setting("ssl_min_protocol_version").as_deref() {
            None | Some("" | "TLSv1" | "TLSv1.1" | "TLSv1.2") => false,
            Some("TLSv1.3") => true,
            Some(other) => return Err(TlsError::new(format!("`ssl_min_protocol_version={other}` is not known"))),
        };
        let shown = match (uri.setting("sslcert"), uri.setting("sslkey")) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(TlsError::new("`sslcert` and `sslkey` must be set together")),
        };
        let seconds = |number: u32| Duration::from_secs(number.into());
        let keep_alive = KeepAlive {
            idle: uri.number("keepalives_idle")?.map(seconds),
            interval: uri.number("keepalives_interval")?.map(seconds),
            count: uri.number("keepalives_count")?,
        };
        Ok(Some(Self {
            mode,
            roots: roots(uri, mode)?,
            shown,
            newest_only,
            names_host: uri.setting("sslsni").as_deref() != Some("0"),
            patience: uri.number("connect_timeout")?.map_or(DEFAULT_CONNECT_TIMEOUT, seconds),
            keep_alive: (uri.setting("keepalives").as_deref() != Some("0")).then_some(keep_alive),
            user_timeout: uri.number("tcp_user_timeout")?.map(|number| Duration::from_millis(number.into())),
        }))
    }
}

fn mode(uri: &ConnectionUri<'_>) -> Result<Option<Mode>, TlsError> {
    let is_system = uri.setting("sslrootcert").as_deref() == Some("system");
    let written = uri
        .setting("sslmode")
        .or_else(|| uri.setting("ssl").filter(|word| word == "true").map(|_| "require".to_owned()));
    match written.as_deref() {
        Some("verify-full") => Ok(Some(Mode::VerifyFull)),
        None if is_system => Ok(Some(Mode::VerifyFull)),
        // Anyone can get a certificate that the machine trusts: without the name check it proves nothing.
        Some(weak) if is_system => {
            Err(TlsError::new(format!("`sslmode={weak}` is too weak for `sslrootcert=system`; use `verify-full`")))
        }
        Some("verify-ca") => Ok(Some(Mode::VerifyCa)),
        Some("require") => Ok(Some(Mode::Require)),
        _ => Ok(None),
    }
}

fn roots(uri: &ConnectionUri<'_>, mode: Mode) -> Result<Roots, TlsError> {
    match (uri.setting("sslrootcert").filter(|path| !path.is_empty()), mode) {
        (Some(word), _) if word == "system" => Ok(Roots::System),
        (Some(path), _) => Ok(Roots::File(path)),
        (None, Mode::Require) => Ok(Roots::Any),
        (None, Mode::VerifyFull) => Ok(Roots::System),
        (None, Mode::VerifyCa) => Err(TlsError::new("`sslmode=verify-ca` needs a file in `sslrootcert`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(url: &str) -> Result<Option<TlsSettings>, TlsError> {
        TlsSettings::of(&ConnectionUri::parse(url).unwrap())
    }

    fn network(host: &str, address: Option<&str>, port: u16) -> Place {
        Place::Network(Server { host: host.to_owned(), address: address.map(str::to_owned), port })
    }

    #[test]
    fn only_addresses_that_require_tls_are_forwarded() {
        for url in ["postgres://h/d", "postgres://h/d?sslmode=prefer", "postgres://h/d?sslmode=disable"] {
            assert_eq!(settings(url).unwrap(), None, "{url}");
        }
        for (url, mode, roots) in [
            ("postgres://h/d?sslmode=require", Mode::Require, Roots::Any),
            ("postgres://h/d?ssl=true", Mode::Require, Roots::Any),
            ("postgres://h/d?sslmode=verify-full", Mode::VerifyFull, Roots::System),
            ("postgres://h/d?sslrootcert=system", Mode::VerifyFull, Roots::System),
            (
                "postgres://h/d?sslmode=verify-ca&sslrootcert=%2Fca.pem",
                Mode::VerifyCa,
                Roots::File("/ca.pem".to_owned()),
            ),
            ("postgres://h/d?sslmode=disable&sslmode=require", Mode::Require, Roots::Any),
        ] {
            let found = settings(url).unwrap().unwrap();
            assert_eq!((found.mode, found.roots), (mode, roots), "{url}");
        }
    }

    #[test]
    fn unsupported_settings_are_refused() {
        for (setting, word) in [
            ("sslmode=verify-full&channel_binding=require", "channel_binding"),
            ("sslmode=verify-full&sslcrl=a", "sslcrl"),
            ("sslmode=require&sslnegotiation=direct", "sslnegotiation"),
            ("sslmode=require&sslcert=a", "sslkey"),
            ("sslmode=require&sslrootcert=system", "too weak"),
            ("sslmode=verify-ca", "sslrootcert"),
            ("sslmode=require&ssl_min_protocol_version=TLSv9", "TLSv9"),
            ("sslmode=require&tcp_user_timeout=soon", "tcp_user_timeout"),
        ] {
            let error = settings(&format!("postgres://h/d?{setting}")).unwrap_err().to_string();
            assert!(error.contains(word), "{setting}: {error}");
        }
    }

    #[test]
    fn hosts_are_found_as_libpq_finds_them() {
        let socket = |folder: &str| Place::Socket { folder: folder.to_owned(), port: PORT.to_owned() };
        for (url, expected) in [
            ("postgres://u:p%40@db1:6432,db2/d", vec![network("db1", None, 6432), network("db2", None, 5432)]),
            ("postgres://[::1]:5433,[fe80::2]/d", vec![network("::1", None, 5433), network("fe80::2", None, 5432)]),
            ("postgres://db%2d1/d?port=7", vec![network("db-1", None, 7)]),
            ("postgres://u@/d?host=a,b&port=1,2", vec![network("a", None, 1), network("b", None, 2)]),
            ("postgres://db1/d?hostaddr=10.0.0.1", vec![network("db1", Some("10.0.0.1"), 5432)]),
            ("postgres:///d?hostaddr=10.0.0.1", vec![network("10.0.0.1", Some("10.0.0.1"), 5432)]),
            ("postgres://%2Frun%2Fpg,db2/d", vec![socket("/run/pg"), network("db2", None, 5432)]),
            ("postgres:///d", vec![socket("")]),
        ] {
            assert_eq!(ConnectionUri::parse(url).unwrap().places().unwrap(), expected, "{url}");
        }
        for url in ["postgres://a,b/d?port=1,2,3", "postgres://a:x/d", "postgres://a,b/d?hostaddr=10.0.0.1"] {
            assert!(ConnectionUri::parse(url).unwrap().places().is_err(), "{url}");
        }
    }

    #[test]
    fn the_rest_of_an_address_stays_as_it_is_written() {
        let url = "postgresql://shop:a%2Fb+c@db1:1,%2Frun/kon%20tor?sslmode=require&target_session_attrs=read-write&application_name=a%26b";
        let uri = ConnectionUri::parse(url).unwrap();
        assert_eq!(
            uri.with_sockets("/tmp/x", &uri.places().unwrap()),
            "postgresql://shop:a%2Fb+c@/kon%20tor?host=%2Ftmp%2Fx%2C%2Frun&port=1%2C5432&sslmode=disable\
             &target_session_attrs=read-write&application_name=a%26b"
        );
        let bare = ConnectionUri::parse("postgres://db1?sslmode=require").unwrap();
        assert_eq!(
            bare.with_sockets("/tmp/x", &bare.places().unwrap()),
            "postgres://?host=%2Ftmp%2Fx&port=1&sslmode=disable"
        );
    }
}
