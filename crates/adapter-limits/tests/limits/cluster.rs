//! Limits in a Redis Cluster.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use kontor_adapter_limits::RedisOptions;
use kontor_kernel::{RateLimiter, RateRule};
use redis::Client;

use crate::bench::{PATIENCE, connected, moment, redis_tests, until};

const RULE: RateRule = RateRule { name: "login", limit: 5, window: Duration::from_mins(10) };

/// One node, killed when it is dropped.
struct Node {
    port: u16,
    server: Child,
    _folder: tempfile::TempDir,
}

impl Drop for Node {
    fn drop(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

/// Returns a port that is free together with the one of the cluster bus, 10,000 above.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() % 8_000).unwrap();
    let mut ports = std::iter::repeat_with(|| 20_000 + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % 8_000);
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    ports.find(|port| is_free(*port) && is_free(port + 10_000)).unwrap()
}

impl Node {
    async fn start() -> Self {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let server = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--cluster-enabled", "yes"])
            .args(["--save", "", "--appendonly", "no"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let node = Self { port, server, _folder: folder };
        let answers = async {
            while Client::open(node.url()).unwrap().get_multiplexed_async_connection().await.is_err() {
                moment().await;
            }
        };
        tokio::time::timeout(PATIENCE, answers).await.unwrap();
        node
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    async fn say<T: redis::FromRedisValue>(&self, words: &str) -> T {
        let mut connection = Client::open(self.url()).unwrap().get_multiplexed_async_connection().await.unwrap();
        let mut words = words.split(' ');
        redis::cmd(words.next().unwrap()).arg(words.collect::<Vec<_>>()).query_async(&mut connection).await.unwrap()
    }

    /// Waits until this node knows a node for every slot.
    async fn is_whole(&self) {
        let whole = async {
            loop {
                let reported: String = self.say("CLUSTER INFO").await;
                if reported.contains("cluster_state:ok") && reported.contains("cluster_known_nodes:2") {
                    return;
                }
                moment().await;
            }
        };
        tokio::time::timeout(PATIENCE, whole).await.unwrap();
    }
}

/// Returns two nodes, each with half of the slots.
async fn cluster() -> [Node; 2] {
    let (first, second) = (Node::start().await, Node::start().await);
    let _: String = first.say("CLUSTER ADDSLOTSRANGE 0 8191").await;
    let _: String = second.say("CLUSTER ADDSLOTSRANGE 8192 16383").await;
    let _: String = first.say(&format!("CLUSTER MEET 127.0.0.1 {}", second.port)).await;
    first.is_whole().await;
    second.is_whole().await;
    [first, second]
}

async fn processes_with_different_nodes_share_a_limit_also_when_the_slot_moves() {
    let nodes = cluster().await;
    let options = || RedisOptions { patience: Duration::from_secs(10), ..RedisOptions::default() };
    let [first, second] = &nodes;
    let (one, other) = (connected(&first.url(), options()).await, connected(&second.url(), options()).await);
    for remaining in [4, 2, 0] {
        assert_eq!(one.hit(RULE, "a").await.remaining, remaining);
        let hit = other.hit(RULE, "a").await;
        assert_eq!((hit.remaining, hit.allowed), (remaining.max(1) - 1, remaining > 0));
    }
    assert_eq!(one.hit(RULE, "b").await.remaining, 4, "every key lies in the same slot");

    // The slot moves to the other node, without its counters.
    let slot: u16 = first.say("CLUSTER KEYSLOT {all}").await;
    let (source, target) = if slot < 8_192 { (first, second) } else { (second, first) };
    let id: String = target.say("CLUSTER MYID").await;
    let _: String = source.say("FLUSHALL").await;
    for node in [target, source] {
        let _: String = node.say(&format!("CLUSTER SETSLOT {slot} NODE {id}")).await;
    }
    assert!(one.hit(RULE, "c").await.allowed && other.hit(RULE, "c").await.allowed, "memory counts for a moment");
    until(|| one.is_connected() && other.is_connected()).await;
    assert_eq!((one.hit(RULE, "d").await.remaining, other.hit(RULE, "d").await.remaining), (4, 3));
    let keys: u32 = target.say(&format!("CLUSTER COUNTKEYSINSLOT {slot}")).await;
    assert!(keys >= 1, "the counters are where the slot is");
}

redis_tests!(processes_with_different_nodes_share_a_limit_also_when_the_slot_moves);
