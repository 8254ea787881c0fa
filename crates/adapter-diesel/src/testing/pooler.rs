//! `pgbouncer` in front of the PostgreSQL of the tests, in transaction mode.

use super::script::{Script, free_port};

const CONFIGURATION: &str = "pool_mode = transaction\nlisten_addr = 127.0.0.1\nauth_type = trust\nmax_client_conn = 1000\n\
     default_pool_size = 6\nserver_idle_timeout = 2\nignore_startup_parameters = extra_float_digits\n";

/// Starts a pooler for this server, which ends with this process. Returns its address as `HOST:PORT`.
pub(super) fn start(server: &str) -> Result<String, String> {
    let (host, port) = server.split_once(':').unwrap_or((server, "5432"));
    let own = free_port()?;
    let script = format!(
        "set -e\nPATH=\"$PATH:/usr/sbin\"\ncommand -v pgbouncer >&2\nfolder=$(mktemp -d)\n\
         echo '\"postgres\" \"\"' >\"$folder/users\"\n\
         printf '[databases]\\n* = host={host} port={port}\\n[pgbouncer]\\n{CONFIGURATION}listen_port = {own}\\nauth_file = %s\\nunix_socket_dir = %s\\n' \
         \"$folder/users\" \"$folder\" >\"$folder/pgbouncer.ini\"\n\
         pgbouncer -q \"$folder/pgbouncer.ini\" >\"$folder/log\" 2>&1 &\npooler=$!\n\
         for _ in $(seq 100); do [ -S \"$folder/.s.PGSQL.{own}\" ] && break; sleep 0.1; done\n\
         [ -S \"$folder/.s.PGSQL.{own}\" ] || exit 1\necho ready\ncat >/dev/null || true\nkill $pooler; rm -rf \"$folder\"\n"
    );
    // It keeps running: the end of its input, which is the end of this process, stops it.
    Script::start(&script).map_err(|reason| format!("pgbouncer: {reason}"))?.leave();
    Ok(format!("127.0.0.1:{own}"))
}
