//! Webhooks and their deliveries in memory, for examples and for tests of use cases.

mod queue;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::testing::memory::{Guards, Sequence, Shared};
use kontor_kernel::{
    ApplicationId, DeliveryId, Listing, Page, PageRequest, ProjectId, ProjectScoped, StoreError, WebhookId, Word as _,
};
use uuid::Uuid;

use crate::model::{
    CircuitBreaker, Delivery, DeliveryState, Pending, ProjectDelivery, PublicEvent, TestDelivery, Webhook,
    WebhookChange,
};
use crate::ports::{DeliveryLog, Lease, NewWebhook, WebhookRepository};
use crate::{WebhookError, WebhookRefusal};

/// Storage of webhooks, events and deliveries of any number of applications, in memory.
///
/// It implements [`WebhookRepository`], [`DeliveryLog`] and [`DeliveryQueue`](crate::ports::DeliveryQueue), and
/// fulfills their [contract](crate::testing::contract). Clones share their data.
///
/// Limits: lists have no filters and are ordered by identifier.
#[derive(Clone, Default)]
pub struct InMemoryWebhooks {
    state: Shared<State>,
}

/// Guard of the storage. A test removes one, to prove that the contract notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// An event is fanned out once.
    FanOut,
    /// Inactive webhooks get nothing.
    Active,
    /// A delivery has one lease at a time.
    Lease,
    /// Endpoints and projects have limited slots, and paused endpoints none.
    Slots,
    /// Only the worker with the lease records an attempt.
    Holder,
    /// Attempts that time out together count once.
    Circuit,
    /// A delivery is resent from the state that was read.
    Resend,
    /// An application has limited webhooks.
    Limit,
    /// A webhook belongs to one application.
    Application,
    /// Lists show the deliveries of one project.
    Project,
}

#[derive(Default)]
struct State {
    ids: Sequence,
    applications: BTreeMap<ApplicationId, ProjectId>,
    endpoints: BTreeMap<WebhookId, Endpoint>,
    /// Events that are not fanned out, oldest first.
    events: VecDeque<Event>,
    deliveries: BTreeMap<DeliveryId, Entry>,
    guards: Guards<Guard>,
}

/// Webhook with the fields that only the storage reads.
struct Endpoint {
    project_id: ProjectId,
    webhook: Webhook,
    sealed_secret: String,
    circuit: CircuitBreaker,
}

#[derive(Clone)]
struct Event {
    application_id: ApplicationId,
    id: Uuid,
    topic: &'static str,
    body: String,
    at: DateTime<Utc>,
}

/// Delivery with the fields that only the storage reads.
struct Entry {
    delivery: Delivery,
    body: String,
    lease: Option<Lease>,
}

impl InMemoryWebhooks {
    /// Adds an application to a project. A project needs no other record.
    pub fn add_application(&self, project: ProjectId) -> ApplicationId {
        self.state.with(|state| {
            let id = state.ids.id();
            state.applications.insert(id, project);
            id
        })
    }

    /// Adds an event of an application to the outbox, with its JSON body. Returns its identifier.
    pub fn add_event(&self, application_id: ApplicationId, event: PublicEvent, body: &str, at: DateTime<Utc>) -> Uuid {
        self.state.with(|state| {
            let id = Uuid::from_u64_pair(0, state.ids.number().unsigned_abs());
            state.events.push_back(Event { application_id, id, topic: event.word(), body: body.to_owned(), at });
            id
        })
    }

    /// Returns an empty storage without one guard.
    #[cfg(test)]
    fn without(guard: Guard) -> Self {
        let store = Self::default();
        store.state.with(|state| state.guards = Guards::without(guard));
        store
    }
}

impl State {
    /// Returns a webhook of the application.
    fn own(&mut self, application: ApplicationId, id: WebhookId) -> Option<&mut Endpoint> {
        let any = !self.guards.has(Guard::Application);
        self.endpoints.get_mut(&id).filter(|endpoint| endpoint.webhook.application_id == application || any)
    }

    fn insert(&mut self, new: NewWebhook) -> Result<Webhook, WebhookError> {
        if self.applications.get(&new.application_id) != Some(&new.project_id) {
            return Err(WebhookError::NotFound);
        }
        let same = |endpoint: &&Endpoint| endpoint.webhook.application_id == new.application_id;
        let count = i64::try_from(self.endpoints.values().filter(same).count()).unwrap_or(i64::MAX);
        if self.guards.has(Guard::Limit) && count >= Webhook::MAX_PER_APPLICATION {
            return Err(WebhookRefusal::TooMany.into());
        }
        let webhook = Webhook {
            id: self.ids.id(),
            application_id: new.application_id,
            details: new.details,
            created_at: new.at,
            updated_at: new.at,
        };
        let (project_id, sealed_secret, circuit) = (new.project_id, new.sealed_secret, CircuitBreaker::default());
        let endpoint = Endpoint { project_id, webhook: webhook.clone(), sealed_secret, circuit };
        self.endpoints.insert(webhook.id, endpoint);
        Ok(webhook)
    }

    /// Adds a delivery that is due at once.
    fn deliver(&mut self, webhook_id: WebhookId, event: &Event, delivery_id: Uuid, at: DateTime<Utc>) -> Delivery {
        let delivery = Delivery {
            id: self.ids.id(),
            webhook_id,
            event_id: event.id,
            delivery_id,
            event: event.topic.to_owned(),
            state: DeliveryState::Pending(Pending::due(at)),
            response_status: None,
            last_error: None,
            created_at: at,
        };
        let entry = Entry { delivery: delivery.clone(), body: event.body.clone(), lease: None };
        self.deliveries.insert(delivery.id, entry);
        delivery
    }

    fn insert_test(&mut self, test: &TestDelivery) -> Option<Delivery> {
        let inactive_too = !self.guards.has(Guard::Active);
        let endpoint = self.own(test.application_id, test.webhook_id)?;
        if endpoint.project_id != test.project_id || !(endpoint.webhook.details.is_active || inactive_too) {
            return None;
        }
        endpoint.end_pause();
        let (id, topic, body) = (test.event_id, TestDelivery::EVENT, test.body());
        let event = Event { application_id: test.application_id, id, topic, body, at: test.at };
        Some(self.deliver(test.webhook_id, &event, test.delivery_id, test.at))
    }

    fn requeue(&mut self, id: DeliveryId, from: DeliveryState, to: Pending) -> bool {
        let any = !self.guards.has(Guard::Resend);
        let Some(entry) = self.deliveries.get_mut(&id).filter(|entry| any || entry.delivery.state == from) else {
            return false;
        };
        entry.delivery.state = DeliveryState::Pending(to);
        entry.lease = None;
        if let Some(endpoint) = self.endpoints.get_mut(&entry.delivery.webhook_id) {
            endpoint.end_pause();
        }
        true
    }

    /// Deliveries of the project, oldest first.
    fn of_project(&self, project: ProjectId) -> Vec<ProjectDelivery> {
        let shown = self.deliveries.values().filter_map(|entry| {
            let endpoint = self.endpoints.get(&entry.delivery.webhook_id)?;
            let own = endpoint.project_id == project || !self.guards.has(Guard::Project);
            own.then(|| ProjectDelivery {
                delivery: entry.delivery.clone(),
                application_id: endpoint.webhook.application_id,
                webhook_name: endpoint.webhook.details.name.clone(),
            })
        });
        shown.collect()
    }
}

impl Endpoint {
    fn change(&mut self, change: WebhookChange, at: DateTime<Utc>) {
        if change.resets_circuit() {
            self.circuit = CircuitBreaker::default();
        }
        let details = &mut self.webhook.details;
        details.name = change.name.or(details.name.take());
        details.url = change.url.or(details.url.clone());
        details.is_active = change.is_active.or(details.is_active);
        self.webhook.updated_at = at;
    }

    fn end_pause(&mut self) {
        self.circuit = CircuitBreaker::restore(self.circuit.timeouts(), None);
    }
}

#[async_trait]
impl WebhookRepository for InMemoryWebhooks {
    async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectScoped<()>>, StoreError> {
        Ok(self
            .state
            .with(|state| state.applications.get(&application).map(|project| ProjectScoped::new(*project, ()))))
    }

    async fn list(&self, application: ApplicationId) -> Result<Vec<Webhook>, StoreError> {
        Ok(self.state.with(|state| {
            let any = !state.guards.has(Guard::Application);
            let all = state.endpoints.values().map(|endpoint| &endpoint.webhook);
            all.filter(|webhook| any || webhook.application_id == application).cloned().collect()
        }))
    }

    async fn find(&self, application: ApplicationId, webhook: WebhookId) -> Result<Option<Webhook>, StoreError> {
        Ok(self.state.with(|state| state.own(application, webhook).map(|endpoint| endpoint.webhook.clone())))
    }

    async fn insert(&self, webhook: NewWebhook) -> Result<Webhook, WebhookError> {
        self.state.with(|state| state.insert(webhook))
    }

    async fn update(
        &self,
        application: ApplicationId,
        webhook: WebhookId,
        change: WebhookChange,
        at: DateTime<Utc>,
    ) -> Result<Option<Webhook>, StoreError> {
        Ok(self.state.with(|state| {
            let endpoint = state.own(application, webhook)?;
            endpoint.change(change, at);
            Some(endpoint.webhook.clone())
        }))
    }

    async fn replace_secret(
        &self,
        application: ApplicationId,
        webhook: WebhookId,
        sealed_secret: String,
        at: DateTime<Utc>,
    ) -> Result<Option<Webhook>, StoreError> {
        Ok(self.state.with(|state| {
            let endpoint = state.own(application, webhook)?;
            endpoint.sealed_secret = sealed_secret;
            endpoint.webhook.updated_at = at;
            Some(endpoint.webhook.clone())
        }))
    }

    async fn delete(&self, application: ApplicationId, webhook: WebhookId) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            if state.own(application, webhook).is_none() {
                return false;
            }
            state.deliveries.retain(|_, entry| entry.delivery.webhook_id != webhook);
            state.endpoints.remove(&webhook).is_some()
        }))
    }
}

#[async_trait]
impl DeliveryLog for InMemoryWebhooks {
    async fn page(&self, webhook: WebhookId, page: PageRequest) -> Result<Page<Delivery>, StoreError> {
        let newest = self.state.with(|state| {
            let all = state.deliveries.values().rev().map(|entry| &entry.delivery);
            all.filter(|delivery| delivery.webhook_id == webhook).cloned().collect()
        });
        Ok(Page::of(newest, page))
    }

    async fn project_page(&self, project: ProjectId, listing: Listing) -> Result<Page<ProjectDelivery>, StoreError> {
        let mut all = self.state.with(|state| state.of_project(project));
        if listing.sort.descending {
            all.reverse();
        }
        listing.page_of(all)
    }

    async fn insert_test(&self, test: TestDelivery) -> Result<Option<Delivery>, StoreError> {
        Ok(self.state.with(|state| state.insert_test(&test)))
    }

    async fn find(&self, webhook: WebhookId, delivery: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.deliveries.get(&delivery).map(|entry| &entry.delivery);
            found.filter(|delivery| delivery.webhook_id == webhook).cloned()
        }))
    }

    async fn requeue(
        &self,
        delivery: DeliveryId,
        from: DeliveryState,
        to: Pending,
        _: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.requeue(delivery, from, to)))
    }
}
