//! Messages from the telephony provider: signed forms, sent until they are answered with `100`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kontor_kernel::hex;
use reqwest::multipart::Form;
use ring::digest;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::callcheck::CheckStatus;
use crate::bounded::keep_newest;
use crate::faults::{FaultKind, Service};
use crate::state::{World, lock};

const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// The provider repeats for days. The sandbox gives up sooner.
const MAX_ATTEMPTS: usize = 10;
const PAUSE: Duration = Duration::from_millis(500);
const MAX_CALLBACKS: usize = 100;

/// One message to one URL.
pub struct Push {
    url: String,
    entry: String,
}

/// URL of the messages, their queue and the latest responses.
pub struct Pushes {
    url: Mutex<Option<String>>,
    outbox: UnboundedSender<Push>,
    answers: Mutex<VecDeque<Value>>,
}

impl Pushes {
    pub fn new(outbox: UnboundedSender<Push>) -> Self {
        Self { url: Mutex::default(), outbox, answers: Mutex::default() }
    }

    pub fn url(&self) -> Option<String> {
        lock(&self.url).clone()
    }

    pub fn set_url(&self, url: Option<String>) {
        *lock(&self.url) = url;
    }

    /// Returns the responses to the latest messages, newest first.
    pub fn answers(&self) -> Vec<Value> {
        lock(&self.answers).iter().rev().cloned().collect()
    }

    /// Sends the status of a check. Without a URL none is sent.
    pub fn announce(&self, world: &World, check: &str, status: CheckStatus) {
        let Some(url) = self.url() else { return };
        let fault = world.faults.take_for_notification(Service::Telephony).map(|fault| fault.kind);
        let entry = format!("callcheck_status\n{check}\n{}\n{}", status.code(), world.now().timestamp());
        for _ in 0..if fault == Some(FaultKind::Duplicate) { 2 } else { 1 } {
            // The receiver is dropped only when the sandbox is stopping.
            let _ = self.outbox.send(Push { url: url.clone(), entry: entry.clone() });
        }
    }

    fn record(&self, push: &Push, status: Option<u16>, answer: &str) {
        let answer = json!({ "entry": push.entry, "status": status, "answer": answer });
        keep_newest(&mut lock(&self.answers), MAX_CALLBACKS, answer);
    }
}

/// Returns the signature of entries: SHA-256 over the account's key and all of them, in lower-case hex.
pub fn signature(api_id: &str, entries: &[&str]) -> String {
    let signed = digest::digest(&digest::SHA256, format!("{api_id}{}", entries.concat()).as_bytes());
    hex(signed.as_ref())
}

/// Sends messages until the sandbox stops.
pub async fn courier(world: Arc<World>, client: reqwest::Client, mut inbox: UnboundedReceiver<Push>) {
    loop {
        tokio::select! {
            () = world.stopping.cancelled() => break,
            Some(push) = inbox.recv() => {
                let (world, client) = (Arc::clone(&world), client.clone());
                tokio::spawn(async move {
                    tokio::select! {
                        () = deliver(&world, &client, &push) => {}
                        () = world.stopping.cancelled() => {}
                    }
                });
            }
        }
    }
}

async fn deliver(world: &World, client: &reqwest::Client, push: &Push) {
    for _ in 0..MAX_ATTEMPTS {
        let hash = signature(&world.telephony_api_id, &[&push.entry]);
        let form = Form::new().text("data[0]", push.entry.clone()).text("hash", hash);
        let taken = match client.post(&push.url).timeout(ANSWER_WITHIN).multipart(form).send().await {
            Err(error) => {
                world.pushes.record(push, None, &error.without_url().to_string());
                false
            }
            Ok(answer) => {
                let status = answer.status().as_u16();
                let text = answer.text().await.unwrap_or_default();
                world.pushes.record(push, Some(status), &text);
                text.trim() == "100"
            }
        };
        if taken {
            return;
        }
        world.pause(PAUSE).await;
    }
}
