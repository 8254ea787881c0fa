//! Queue of the delivery workers.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{DeliveryId, Random, StoreError, WebhookId};

use super::{Endpoint, Entry, Event, Guard, InMemoryWebhooks, State};
use crate::model::{CircuitBreaker, DeliveryState, Message, WaitingEndpoint, allocate_slots};
use crate::ports::{AttemptRecord, Backlog, DeliveryQueue, FanOut, Lease, LeasedDelivery};

impl Entry {
    fn is_leased(&self, now: DateTime<Utc>) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.until > now)
    }
}

impl State {
    fn may_receive(&self, endpoint: &Endpoint) -> bool {
        endpoint.webhook.details.is_active || !self.guards.has(Guard::Active)
    }

    fn fan_out(&mut self, most: u32, random: &dyn Random, at: DateTime<Utc>) -> FanOut {
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(self.events.len());
        let events: Vec<Event> = self.events.iter().take(most).cloned().collect();
        if self.guards.has(Guard::FanOut) {
            self.events.drain(..most);
        }
        let mut deliveries = 0;
        for event in &events {
            let is_recipient = |endpoint: &&Endpoint| {
                endpoint.webhook.application_id == event.application_id && self.may_receive(endpoint)
            };
            let receivers: Vec<WebhookId> =
                self.endpoints.values().filter(is_recipient).map(|endpoint| endpoint.webhook.id).collect();
            deliveries += receivers.len();
            for webhook in receivers {
                self.deliver(webhook, event, random.uuid(), at);
            }
        }
        FanOut { events: events.len(), deliveries }
    }

    /// Due deliveries of a webhook without a running lease, longest due first.
    fn free(&self, webhook: WebhookId, now: DateTime<Utc>) -> Vec<(DateTime<Utc>, DeliveryId)> {
        let exclusive = self.guards.has(Guard::Lease);
        let free = self
            .deliveries
            .values()
            .filter(|entry| entry.delivery.webhook_id == webhook && !(exclusive && entry.is_leased(now)));
        let due = free.filter_map(|entry| Some((entry.delivery.state.next_attempt_at()?, entry.delivery.id)));
        let mut due: Vec<_> = due.filter(|(at, _)| *at <= now).collect();
        due.sort_unstable();
        due
    }

    /// Number of attempts at an endpoint that are in progress.
    fn running(&self, webhook: WebhookId, now: DateTime<Utc>) -> usize {
        self.deliveries.values().filter(|entry| entry.delivery.webhook_id == webhook && entry.is_leased(now)).count()
    }

    /// Endpoints that may receive something now, and have something due.
    fn waiting(&self, now: DateTime<Utc>) -> Vec<WaitingEndpoint> {
        let waiting = self.endpoints.values().filter_map(|endpoint| {
            let id = endpoint.webhook.id;
            let paused = endpoint.circuit.paused_until().is_some_and(|until| until > now);
            if !self.may_receive(endpoint) || (paused && self.guards.has(Guard::Slots)) {
                return None;
            }
            let (since, _) = *self.free(id, now).first()?;
            Some(WaitingEndpoint {
                webhook: id.get(),
                project: endpoint.project_id.get(),
                since,
                circuit: CircuitBreaker::restore(endpoint.circuit.timeouts(), None),
                running: self.running(id, now),
            })
        });
        waiting.collect()
    }

    fn lease(&mut self, lease: &Lease, most: u32, now: DateTime<Utc>) -> Vec<LeasedDelivery> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut by_project = BTreeMap::new();
        for endpoint in self.endpoints.values() {
            *by_project.entry(endpoint.project_id.get()).or_insert(0) += self.running(endpoint.webhook.id, now);
        }
        let waiting = self.waiting(now);
        let shares = if self.guards.has(Guard::Slots) {
            allocate_slots(&waiting, by_project, most)
        } else {
            waiting.iter().map(|endpoint| (endpoint.webhook, most)).collect()
        };
        let shares = shares.into_iter().filter_map(|(webhook, share)| Some((WebhookId::new(webhook).ok()?, share)));
        let mut due: Vec<_> =
            shares.flat_map(|(webhook, share)| self.free(webhook, now).into_iter().take(share)).collect();
        due.sort_unstable();
        due.into_iter().filter_map(|(_, id)| self.leased(id, lease)).collect()
    }

    /// Leases a delivery.
    fn leased(&mut self, id: DeliveryId, lease: &Lease) -> Option<LeasedDelivery> {
        let entry = self.deliveries.get_mut(&id)?;
        let endpoint = self.endpoints.get(&entry.delivery.webhook_id)?;
        let DeliveryState::Pending(pending) = entry.delivery.state else { return None };
        entry.lease = Some(lease.clone());
        Some(LeasedDelivery {
            id,
            pending,
            webhook_id: endpoint.webhook.id,
            circuit: endpoint.circuit,
            url: endpoint.webhook.details.url.to_string(),
            sealed_secret: endpoint.sealed_secret.clone(),
            message: Message {
                event: entry.delivery.event.clone(),
                event_id: entry.delivery.event_id,
                delivery_id: entry.delivery.delivery_id,
                body: entry.body.clone(),
            },
        })
    }

    fn record(&mut self, attempt: &AttemptRecord) -> bool {
        let (first, any) = (self.guards.has(Guard::Circuit), !self.guards.has(Guard::Holder));
        if let Some(endpoint) = self.endpoints.get_mut(&attempt.webhook_id) {
            let unchanged = endpoint.circuit.timeouts() == attempt.circuit.timeouts();
            if attempt.circuit != attempt.circuit_after && (unchanged || !first) {
                endpoint.circuit = attempt.circuit_after;
            }
        }
        let holds = |entry: &&mut Entry| {
            let owns = entry.lease.as_ref().is_some_and(|lease| lease.owner == attempt.owner);
            any || (owns && entry.delivery.state == DeliveryState::Pending(attempt.from))
        };
        let Some(entry) = self.deliveries.get_mut(&attempt.id).filter(holds) else { return false };
        entry.delivery.state = attempt.to;
        entry.delivery.response_status = attempt.outcome.response_status();
        entry.delivery.last_error = attempt.outcome.error();
        entry.lease = None;
        true
    }

    fn release(&mut self, owner: &str) -> u64 {
        let mut released = 0;
        for entry in self.deliveries.values_mut() {
            if entry.lease.take_if(|lease| lease.owner == owner).is_some() {
                released += 1;
            }
        }
        released
    }
}

#[async_trait]
impl DeliveryQueue for InMemoryWebhooks {
    async fn fan_out(&self, events: u32, random: Arc<dyn Random>, at: DateTime<Utc>) -> Result<FanOut, StoreError> {
        Ok(self.state.with(|state| state.fan_out(events, &*random, at)))
    }

    async fn lease(&self, lease: Lease, most: u32, now: DateTime<Utc>) -> Result<Vec<LeasedDelivery>, StoreError> {
        Ok(self.state.with(|state| state.lease(&lease, most, now)))
    }

    async fn record_attempt(&self, attempt: AttemptRecord) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.record(&attempt)))
    }

    async fn release(&self, owner: &str) -> Result<u64, StoreError> {
        Ok(self.state.with(|state| state.release(owner)))
    }

    async fn backlog(&self, now: DateTime<Utc>) -> Result<Backlog, StoreError> {
        Ok(self.state.with(|state| Backlog {
            oldest_event: state.events.front().map(|event| event.at),
            oldest_due: state.waiting(now).into_iter().map(|endpoint| endpoint.since).min(),
        }))
    }
}
