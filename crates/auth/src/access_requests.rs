use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{
    Clock, ExposeSecret, Name, Page, PageRequest, Permission, Random, Resource, SecretCipher, SecretString, Staff,
    StoreError,
};
use uuid::Uuid;

use crate::AccessRequestError;
use crate::agents::unusable_account;
use crate::model::{
    ACCESS_REQUEST_LIFETIME, AGENT_TOKEN_LIFETIME, AccessRequest, AccessRequestDraft, AccessToken, Agent, Approval,
    Consumption, NewAccessRequest, Reason, Refusal, RequestStatus, Review, TokenSecret,
};
use crate::ports::AccessRequestRepository;

/// Access request that was just created.
#[derive(Debug)]
pub struct OpenedAccessRequest {
    /// Public identifier.
    pub public_id: Uuid,
    /// Secret that authenticates the requester. It is returned only once.
    pub secret: SecretString,
    /// Expiry time.
    pub expires_at: DateTime<Utc>,
}

/// Access requests of programs without credentials. An employee decides, and the program fetches its token. The
/// requester authenticates with the secret of the request, the employee with their token.
pub struct AccessRequestService {
    /// Storage of the requests.
    pub requests: Arc<dyn AccessRequestRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random secrets, identifiers and logins.
    pub random: Arc<dyn Random>,
    /// Computes fingerprints of secrets.
    pub cipher: Arc<dyn SecretCipher>,
}

impl AccessRequestService {
    /// Creates an access request. It grants nothing and sends no notification; the requester gives the address of the
    /// request to an employee.
    pub async fn open(&self, details: AccessRequestDraft) -> Result<OpenedAccessRequest, StoreError> {
        let secret = self.random.alphanumeric(48);
        let (public_id, created_at) = (self.random.uuid(), self.clock.now());
        let expires_at = created_at + ACCESS_REQUEST_LIFETIME;
        let fingerprint = self.cipher.fingerprint(&secret);
        self.requests.insert(NewAccessRequest { public_id, fingerprint, details, created_at, expires_at }).await?;
        Ok(OpenedAccessRequest { public_id, secret: secret.into(), expires_at })
    }

    /// Returns the status of a request to the requester. A wrong secret is reported like an unknown request.
    pub async fn status(
        &self,
        public_id: Uuid,
        secret: &SecretString,
    ) -> Result<(AccessRequest, RequestStatus), AccessRequestError> {
        let stored = self.requests.find(public_id).await?.ok_or(AccessRequestError::NotFound)?;
        if !self.cipher.same(&self.cipher.fingerprint(secret.expose_secret()), &stored.fingerprint) {
            return Err(AccessRequestError::NotFound);
        }
        let status = stored.request.status(self.clock.now());
        Ok((stored.request, status))
    }

    /// Issues the token of an approved request, once.
    pub async fn consume(
        &self,
        public_id: Uuid,
        secret: &SecretString,
    ) -> Result<(AccessToken, Agent), AccessRequestError> {
        self.status(public_id, secret).await?;
        let (token, at) = (TokenSecret::generate(&*self.random), self.clock.now());
        let expires_at = at + AGENT_TOKEN_LIFETIME;
        let fingerprint = token.fingerprint(&*self.cipher);
        let (id, agent) = self.requests.consume(Consumption { public_id, fingerprint, at, expires_at }).await?;
        Ok((token.into_token(id, expires_at), agent))
    }

    /// Returns a request to an employee, unless an employee of another project has already handled it.
    pub async fn show(
        &self,
        staff: &Staff,
        public_id: Uuid,
    ) -> Result<(AccessRequest, RequestStatus), AccessRequestError> {
        staff.require(Permission::view(Resource::Agents))?;
        let stored = self.requests.find(public_id).await?;
        let request = stored.map(|stored| stored.request).filter(|request| request.is_open_to(staff.project_id));
        Ok(self.dated(request.ok_or(AccessRequestError::NotFound)?))
    }

    /// Returns one page of the requests that the employee's project has handled, newest first. A request that no
    /// project has handled is in no list: only employees who know its identifier see it.
    pub async fn list(
        &self,
        staff: &Staff,
        page: PageRequest,
    ) -> Result<Page<(AccessRequest, RequestStatus)>, AccessRequestError> {
        staff.require(Permission::view(Resource::Agents))?;
        let handled = self.requests.handled(staff.project_id, page).await?;
        Ok(handled.map(|request| self.dated(request)))
    }

    /// Assigns a request to the employee's project and optionally narrows its permissions.
    pub async fn review(
        &self,
        staff: &Staff,
        public_id: Uuid,
        permissions: Option<BTreeSet<Permission>>,
    ) -> Result<(AccessRequest, RequestStatus), AccessRequestError> {
        staff.require(Permission::create(Resource::Agents))?;
        let (project_id, reviewer, at) = (staff.project_id, staff.user_id, self.clock.now());
        let review = Review { public_id, project_id, reviewer, permissions, at };
        Ok(self.dated(self.requests.review(review).await?))
    }

    /// Approves a request: creates an agent with the remaining permissions of the request, or with a part of them.
    pub async fn approve(
        &self,
        staff: &Staff,
        public_id: Uuid,
        permissions: Option<BTreeSet<Permission>>,
        name: Option<Name>,
    ) -> Result<(AccessRequest, RequestStatus, Agent), AccessRequestError> {
        staff.require(Permission::create(Resource::Agents))?;
        let (login, email) = unusable_account(&*self.random)?;
        let approval = Approval {
            public_id,
            project_id: staff.project_id,
            reviewer: staff.user_id,
            held: staff.permissions.clone(),
            permissions,
            name,
            login,
            email,
            at: self.clock.now(),
        };
        let (request, agent) = self.requests.approve(approval).await?;
        let (request, status) = self.dated(request);
        Ok((request, status, agent))
    }

    /// Declines a request.
    pub async fn decline(
        &self,
        staff: &Staff,
        public_id: Uuid,
        reason: Option<Reason>,
    ) -> Result<(AccessRequest, RequestStatus), AccessRequestError> {
        staff.require(Permission::create(Resource::Agents))?;
        let (project_id, reviewer, at) = (staff.project_id, staff.user_id, self.clock.now());
        let declined = self.requests.decline(Refusal { public_id, project_id, reviewer, reason, at }).await?;
        Ok(self.dated(declined))
    }

    fn dated(&self, request: AccessRequest) -> (AccessRequest, RequestStatus) {
        let status = request.status(self.clock.now());
        (request, status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AccessRequestRefusal;
    use crate::model::{Stage, StoredAccessRequest};
    use crate::ports::MockAccessRequestRepository;
    use kontor_kernel::testing::{CountingRandom, PlainCipher, staff_with};
    use kontor_kernel::{FixedClock, ProjectId};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn asked() -> AccessRequestDraft {
        AccessRequestDraft {
            name: Name::parse("Bot").unwrap(),
            reason: Reason::parse("to help").unwrap(),
            permissions: [Permission::view(Resource::Orders)].into(),
        }
    }

    fn stored(project: Option<i64>) -> StoredAccessRequest {
        let AccessRequestDraft { name, reason, permissions } = asked();
        let request = AccessRequest {
            public_id: Uuid::nil(),
            project_id: project.map(|id| ProjectId::new(id).unwrap()),
            name,
            reason,
            requested: permissions.clone(),
            permissions,
            stage: Stage::Pending,
            created_at: NOW,
            expires_at: NOW + ACCESS_REQUEST_LIFETIME,
        };
        StoredAccessRequest { request, fingerprint: "plain:s3cret".to_owned() }
    }

    fn service(requests: MockAccessRequestRepository) -> AccessRequestService {
        AccessRequestService {
            requests: Arc::new(requests),
            clock: Arc::new(FixedClock::at(NOW)),
            random: Arc::new(CountingRandom::new()),
            cipher: Arc::new(PlainCipher),
        }
    }

    fn knowing(project: Option<i64>) -> MockAccessRequestRepository {
        let mut requests = MockAccessRequestRepository::new();
        requests.expect_find().returning(move |_| Ok(Some(stored(project))));
        requests
    }

    #[tokio::test]
    async fn of_the_secret_only_the_fingerprint_is_stored() {
        let mut requests = MockAccessRequestRepository::new();
        requests
            .expect_insert()
            .withf(|new| {
                new.fingerprint.len() == "plain:".len() + 48 && new.expires_at == NOW + ACCESS_REQUEST_LIFETIME
            })
            .returning(|_| Ok(()));
        let opened = service(requests).open(asked()).await.unwrap();
        assert_eq!((opened.secret.expose_secret().len(), opened.public_id.get_version_num()), (48, 4));
        assert!(!format!("{opened:?}").contains(opened.secret.expose_secret()));
    }

    #[tokio::test]
    async fn a_wrong_secret_is_an_unknown_request() {
        let service = service(knowing(None));
        assert_eq!(service.status(Uuid::nil(), &"s3cret".into()).await.unwrap().1, RequestStatus::Pending);
        for wrong in ["", "s3cre", "S3cret"] {
            let refused = service.status(Uuid::nil(), &wrong.into()).await;
            assert!(matches!(refused, Err(AccessRequestError::NotFound)), "{wrong}");
            let refused = service.consume(Uuid::nil(), &wrong.into()).await;
            assert!(matches!(refused, Err(AccessRequestError::NotFound)), "{wrong}");
        }
    }

    #[tokio::test]
    async fn the_token_lives_thirty_days() {
        let mut requests = knowing(None);
        requests
            .expect_consume()
            .withf(|step| step.at == NOW && step.expires_at == NOW + AGENT_TOKEN_LIFETIME)
            .returning(|_| Err(AccessRequestRefusal::State(RequestStatus::Consumed).into()));
        let refused = service(requests).consume(Uuid::nil(), &"s3cret".into()).await;
        let consumed = AccessRequestRefusal::State(RequestStatus::Consumed);
        assert!(matches!(refused, Err(AccessRequestError::Refused(refusal)) if refusal == consumed));
    }

    #[tokio::test]
    async fn employees_need_the_permission_and_see_no_request_of_another_project() {
        let viewer = staff_with([Permission::view(Resource::Agents)]);
        assert!(service(knowing(None)).show(&viewer, Uuid::nil()).await.is_ok());
        assert!(service(knowing(Some(1))).show(&viewer, Uuid::nil()).await.is_ok());
        let hidden = service(knowing(Some(2))).show(&viewer, Uuid::nil()).await;
        assert!(matches!(hidden, Err(AccessRequestError::NotFound)));
        let service = service(MockAccessRequestRepository::new());
        assert!(matches!(service.review(&viewer, Uuid::nil(), None).await, Err(AccessRequestError::Denied(_))));
        assert!(matches!(service.approve(&viewer, Uuid::nil(), None, None).await, Err(AccessRequestError::Denied(_))));
        assert!(matches!(service.decline(&viewer, Uuid::nil(), None).await, Err(AccessRequestError::Denied(_))));
        let creator = staff_with([Permission::create(Resource::Agents)]);
        assert!(matches!(service.show(&creator, Uuid::nil()).await, Err(AccessRequestError::Denied(_))));
    }

    #[tokio::test]
    async fn requests_of_the_project_are_listed_with_their_status() {
        let page = PageRequest::new(1, 15, 100).unwrap();
        let expired = AccessRequest { expires_at: NOW, ..stored(Some(1)).request };
        let mut requests = MockAccessRequestRepository::new();
        requests.expect_handled().withf(move |project, asked| project.get() == 1 && *asked == page).returning(
            move |_, request| Ok(Page { items: vec![stored(Some(1)).request, expired.clone()], total: 2, request }),
        );
        let service = service(requests);
        let listed = service.list(&staff_with([Permission::view(Resource::Agents)]), page).await.unwrap();
        let statuses: Vec<_> = listed.items.iter().map(|(_, status)| *status).collect();
        assert_eq!((statuses, listed.total), (vec![RequestStatus::Pending, RequestStatus::Expired], 2));
        let denied = service.list(&staff_with([Permission::create(Resource::Agents)]), page).await;
        assert!(matches!(denied, Err(AccessRequestError::Denied(_))));
    }

    #[tokio::test]
    async fn an_approval_carries_what_the_employee_holds() {
        let mut requests = MockAccessRequestRepository::new();
        requests
            .expect_approve()
            .withf(|approval| approval.held == BTreeSet::from([Permission::edit(Resource::Agents)]))
            .returning(|_| Err(AccessRequestError::NotFound));
        let creator = staff_with([Permission::edit(Resource::Agents)]);
        let refused = service(requests).approve(&creator, Uuid::nil(), None, None).await;
        assert!(matches!(refused, Err(AccessRequestError::NotFound)));
    }
}
