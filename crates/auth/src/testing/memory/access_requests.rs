use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{Page, PageRequest, ProjectId, StoreError, TokenId};
use uuid::Uuid;

use super::{Guard, InMemoryLogins, State};
use crate::model::{
    AccessRequest, Agent, Approval, Consumption, NewAccessRequest, NewAgentToken, Refusal, RequestStatus, Review,
    Stage, StoredAccessRequest,
};
use crate::ports::AccessRequestRepository;
use crate::{AccessRequestError, AccessRequestRefusal};

impl State {
    /// Returns a request that is about to change. Without a guard it looks as if it may.
    fn access_request(&self, public_id: Uuid) -> Result<AccessRequest, AccessRequestError> {
        let found = self.access_requests.iter().find(|stored| stored.request.public_id == public_id);
        let mut request = found.ok_or(AccessRequestError::NotFound)?.request.clone();
        if !self.guards.has(Guard::Deadline) {
            request.expires_at = DateTime::<Utc>::MAX_UTC;
        }
        if !self.guards.has(Guard::RequestClaim) {
            request.project_id = None;
        }
        Ok(request)
    }

    /// Returns a request that is about to be decided.
    fn undecided(&self, public_id: Uuid) -> Result<AccessRequest, AccessRequestError> {
        let request = self.access_request(public_id)?;
        let stage = if self.guards.has(Guard::RequestDecided) { request.stage.clone() } else { Stage::Pending };
        Ok(AccessRequest { stage, ..request })
    }

    fn store_request(&mut self, request: &AccessRequest) {
        let mut all = self.access_requests.iter_mut();
        if let Some(stored) = all.find(|stored| stored.request.public_id == request.public_id) {
            stored.request = request.clone();
        }
    }

    fn insert_request(&mut self, new: NewAccessRequest) {
        let request = AccessRequest {
            public_id: new.public_id,
            project_id: None,
            name: new.details.name,
            reason: new.details.reason,
            requested: new.details.permissions.clone(),
            permissions: new.details.permissions,
            stage: Stage::Pending,
            created_at: new.created_at,
            expires_at: new.expires_at,
        };
        self.access_requests.push(StoredAccessRequest { request, fingerprint: new.fingerprint });
    }

    fn review(&mut self, review: &Review) -> Result<AccessRequest, AccessRequestError> {
        let request = self.undecided(review.public_id)?;
        request.require_pending(review.project_id, review.at)?;
        let permissions = request.narrowed(review.permissions.as_ref())?;
        let reviewed = AccessRequest { project_id: Some(review.project_id), permissions, ..request };
        self.store_request(&reviewed);
        Ok(reviewed)
    }

    fn approve(&mut self, approval: &Approval) -> Result<(AccessRequest, Agent), AccessRequestError> {
        let request = self.undecided(approval.public_id)?;
        let new = request.approved(approval)?;
        let permissions = new.permissions.clone();
        let agent = self.insert_agent(new)?;
        let (project_id, stage) = (Some(approval.project_id), Stage::Approved(agent.id));
        let approved = AccessRequest { project_id, permissions, stage, ..request };
        self.store_request(&approved);
        Ok((approved, agent))
    }

    fn decline(&mut self, refusal: Refusal) -> Result<AccessRequest, AccessRequestError> {
        let request = self.undecided(refusal.public_id)?;
        request.require_pending(refusal.project_id, refusal.at)?;
        let (project_id, stage) = (Some(refusal.project_id), Stage::Declined(refusal.reason));
        let declined = AccessRequest { project_id, stage, ..request };
        self.store_request(&declined);
        Ok(declined)
    }

    fn consume(&mut self, consumption: Consumption) -> Result<(TokenId, Agent), AccessRequestError> {
        let mut request = self.access_request(consumption.public_id)?;
        if let (Stage::Consumed(agent), false) = (&request.stage, self.guards.has(Guard::RequestConsumed)) {
            request.stage = Stage::Approved(*agent);
        }
        let id = request.consumable(consumption.at)?;
        let found = self.live_agent(id).map(|stored| stored.agent.clone());
        let agent = found.ok_or(AccessRequestRefusal::State(RequestStatus::Declined))?;
        if !self.has_room(id) {
            return Err(AccessRequestRefusal::TooManyTokens.into());
        }
        let token = self.issue_agent_token(&NewAgentToken {
            agent: id,
            held: BTreeSet::new(),
            name: request.name.clone(),
            abilities: None,
            fingerprint: consumption.fingerprint,
            created_at: consumption.at,
            expires_at: consumption.expires_at,
        });
        self.store_request(&AccessRequest { stage: Stage::Consumed(id), ..request });
        Ok((token.id, agent))
    }
}

#[async_trait]
impl AccessRequestRepository for InMemoryLogins {
    async fn insert(&self, new: NewAccessRequest) -> Result<(), StoreError> {
        self.state.with(|state| state.insert_request(new));
        Ok(())
    }

    async fn find(&self, public_id: Uuid) -> Result<Option<StoredAccessRequest>, StoreError> {
        Ok(self.state.with(|state| {
            let mut all = state.access_requests.iter();
            all.find(|stored| stored.request.public_id == public_id).cloned()
        }))
    }

    async fn handled(&self, project: ProjectId, page: PageRequest) -> Result<Page<AccessRequest>, StoreError> {
        let own = self.state.with(|state| {
            let newest = state.access_requests.iter().rev().map(|stored| &stored.request);
            newest.filter(|request| request.project_id == Some(project)).cloned().collect()
        });
        Ok(Page::of(own, page))
    }

    async fn review(&self, review: Review) -> Result<AccessRequest, AccessRequestError> {
        self.state.with(|state| state.review(&review))
    }

    async fn approve(&self, approval: Approval) -> Result<(AccessRequest, Agent), AccessRequestError> {
        self.state.with(|state| state.approve(&approval))
    }

    async fn decline(&self, refusal: Refusal) -> Result<AccessRequest, AccessRequestError> {
        self.state.with(|state| state.decline(refusal))
    }

    async fn consume(&self, consumption: Consumption) -> Result<(TokenId, Agent), AccessRequestError> {
        self.state.with(|state| state.consume(consumption))
    }
}
