use std::sync::Arc;

use kontor_kernel::{
    ApplicationId, Clock, Permission, Random, RecordError, Refusal, Resource, SecretCipher, Staff, WebhookId,
};

use crate::model::{IssuedWebhook, OutboundPolicy, Webhook, WebhookChange, WebhookDraft, WebhookSecret};
use crate::ports::{NewWebhook, WebhookRepository};
use crate::{WebhookError, WebhookRefusal};

/// Use cases of webhooks.
pub struct WebhookService {
    /// Storage of webhooks.
    pub webhooks: Arc<dyn WebhookRepository>,
    /// Policy for the addresses that may be called.
    pub policy: OutboundPolicy,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of random numbers.
    pub random: Arc<dyn Random>,
    /// Seals secrets and computes fingerprints.
    pub cipher: Arc<dyn SecretCipher>,
}

impl WebhookService {
    /// Returns every webhook of an application.
    pub async fn list(&self, staff: &Staff, application: ApplicationId) -> Result<Vec<Webhook>, WebhookError> {
        self.authorize(staff, application, Permission::view(Resource::Webhooks)).await?;
        Ok(self.webhooks.list(application).await?)
    }

    /// Returns one webhook of an application.
    pub async fn read(
        &self,
        staff: &Staff,
        application: ApplicationId,
        webhook: WebhookId,
    ) -> Result<Webhook, WebhookError> {
        self.authorize(staff, application, Permission::view(Resource::Webhooks)).await?;
        self.webhooks.find(application, webhook).await?.ok_or(WebhookError::NotFound)
    }

    /// Adds a webhook and issues its secret, which is shown only in this result.
    pub async fn create(
        &self,
        staff: &Staff,
        application: ApplicationId,
        draft: WebhookDraft,
    ) -> Result<IssuedWebhook, WebhookError> {
        self.authorize(staff, application, Permission::create(Resource::Webhooks)).await?;
        self.policy.check(&draft.url).map_err(WebhookRefusal::Url)?;
        let secret = WebhookSecret::generate(&*self.random);
        let new = NewWebhook {
            project_id: staff.project_id,
            application_id: application,
            details: draft,
            sealed_secret: secret.seal(&*self.cipher),
            at: self.clock.now(),
        };
        Ok(IssuedWebhook { webhook: self.webhooks.insert(new).await?, secret })
    }

    /// Changes the fields set in `change`. Deliveries of an inactive webhook wait until it is active again.
    pub async fn update(
        &self,
        staff: &Staff,
        application: ApplicationId,
        webhook: WebhookId,
        change: WebhookChange,
    ) -> Result<Webhook, WebhookError> {
        self.authorize(staff, application, Permission::edit(Resource::Webhooks)).await?;
        if let Some(url) = change.url.as_set() {
            self.policy.check(url).map_err(WebhookRefusal::Url)?;
        }
        let changed = self.webhooks.update(application, webhook, change, self.clock.now()).await?;
        changed.ok_or(WebhookError::NotFound)
    }

    /// Deletes a webhook with its deliveries, including those still waiting.
    pub async fn delete(
        &self,
        staff: &Staff,
        application: ApplicationId,
        webhook: WebhookId,
    ) -> Result<(), WebhookError> {
        self.authorize(staff, application, Permission::edit(Resource::Webhooks)).await?;
        if self.webhooks.delete(application, webhook).await? { Ok(()) } else { Err(WebhookError::NotFound) }
    }

    /// Issues a new secret. Every attempt that begins from now on is signed with it, also for older events.
    pub async fn rotate_secret(
        &self,
        staff: &Staff,
        application: ApplicationId,
        webhook: WebhookId,
    ) -> Result<IssuedWebhook, WebhookError> {
        self.authorize(staff, application, Permission::edit(Resource::Webhooks)).await?;
        let secret = WebhookSecret::generate(&*self.random);
        let sealed = secret.seal(&*self.cipher);
        let changed = self.webhooks.replace_secret(application, webhook, sealed, self.clock.now()).await?;
        Ok(IssuedWebhook { webhook: changed.ok_or(WebhookError::NotFound)?, secret })
    }

    async fn authorize(
        &self,
        staff: &Staff,
        application: ApplicationId,
        permission: Permission,
    ) -> Result<(), WebhookError> {
        authorize(&*self.webhooks, staff, application, permission).await
    }
}

/// Check that starts every use case. The permission comes first, so that storage is not read without it.
pub(crate) async fn authorize<R: Refusal>(
    webhooks: &dyn WebhookRepository,
    staff: &Staff,
    application: ApplicationId,
    permission: Permission,
) -> Result<(), RecordError<R>> {
    staff.require(permission)?;
    staff.require_own(webhooks.owner(application).await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EndpointUrl, UrlRefusal};
    use crate::ports::MockWebhookRepository;
    use chrono::DateTime;
    use kontor_kernel::testing::{CountingRandom, PlainCipher, staff_with};
    use kontor_kernel::{AccessDenied, Edit, FixedClock, ProjectScoped};

    fn id<T: TryFrom<i64>>(value: i64) -> T {
        T::try_from(value).ok().unwrap()
    }

    fn repository(owner: Option<i64>) -> MockWebhookRepository {
        let mut webhooks = MockWebhookRepository::new();
        webhooks.expect_owner().returning(move |_| Ok(owner.map(|owner| ProjectScoped::new(id(owner), ()))));
        webhooks
    }

    fn service(webhooks: MockWebhookRepository) -> WebhookService {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        let (random, cipher) = (Arc::new(CountingRandom::new()), Arc::new(PlainCipher));
        WebhookService { webhooks: Arc::new(webhooks), policy: OutboundPolicy::default(), clock, random, cipher }
    }

    fn editor() -> Staff {
        staff_with([Permission::view(Resource::Webhooks), Permission::edit(Resource::Webhooks)])
    }

    fn draft(url: &str) -> WebhookDraft {
        WebhookDraft { name: None, url: EndpointUrl::parse(url).unwrap(), is_active: true }
    }

    fn stored(new: NewWebhook) -> Webhook {
        Webhook {
            id: id(3),
            application_id: new.application_id,
            details: new.details,
            created_at: new.at,
            updated_at: new.at,
        }
    }

    #[tokio::test]
    async fn the_secret_is_shown_and_only_its_sealed_form_is_stored() {
        let mut webhooks = repository(Some(1));
        webhooks
            .expect_insert()
            .withf(|new| new.project_id == id(1) && new.sealed_secret.starts_with("sealed:whsec_"))
            .returning(|new| Ok(stored(new)));
        let issued = service(webhooks).create(&editor(), id(5), draft("https://shop.example/hook")).await.unwrap();
        assert!(issued.secret.reveal().starts_with("whsec_"));
    }

    #[tokio::test]
    async fn an_address_the_policy_forbids_is_refused_before_anything_is_stored() {
        let cases = [
            ("http://shop.example/hook", UrlRefusal::HttpsOnly),
            ("https://127.0.0.1/hook", UrlRefusal::InternalHost),
            ("https://[::ffff:127.0.0.1]/hook", UrlRefusal::InternalHost),
        ];
        for (url, expected) in cases {
            let refused = service(repository(Some(1))).create(&editor(), id(5), draft(url)).await;
            assert!(
                matches!(refused, Err(WebhookError::Refused(WebhookRefusal::Url(refusal))) if refusal == expected),
                "{url}"
            );
            let change = WebhookChange { url: Edit::Set(EndpointUrl::parse(url).unwrap()), ..WebhookChange::default() };
            let refused = service(repository(Some(1))).update(&editor(), id(5), id(3), change).await;
            assert!(
                matches!(refused, Err(WebhookError::Refused(WebhookRefusal::Url(refusal))) if refusal == expected),
                "{url}"
            );
        }
    }

    #[tokio::test]
    async fn an_application_must_exist_and_be_of_the_project() {
        let foreign = service(repository(Some(99))).list(&editor(), id(5)).await;
        assert!(matches!(foreign, Err(WebhookError::Denied(AccessDenied::ForeignProject))));
        let absent = service(repository(None)).list(&editor(), id(5)).await;
        assert!(matches!(absent, Err(WebhookError::NotFound)));
    }

    #[tokio::test]
    async fn storage_is_not_read_without_the_permission() {
        let viewer = staff_with([Permission::view(Resource::Webhooks)]);
        let untouched = || service(MockWebhookRepository::new());
        let created = untouched().create(&viewer, id(5), draft("https://shop.example")).await;
        let changed = untouched().update(&viewer, id(5), id(3), WebhookChange::default()).await;
        let deleted = untouched().delete(&viewer, id(5), id(3)).await;
        let rotated = untouched().rotate_secret(&viewer, id(5), id(3)).await;
        let missing = |error| matches!(error, WebhookError::Denied(AccessDenied::MissingPermission(_)));
        assert!(missing(created.unwrap_err()) && missing(changed.unwrap_err()));
        assert!(missing(deleted.unwrap_err()) && missing(rotated.unwrap_err()));
        let listed = untouched().list(&staff_with([]), id(5)).await;
        assert!(missing(listed.unwrap_err()));
    }

    #[tokio::test]
    async fn a_rotation_issues_another_secret() {
        let mut webhooks = repository(Some(1));
        webhooks.expect_replace_secret().returning(|application, webhook, sealed, at| {
            assert!(sealed.starts_with("sealed:whsec_"));
            let details = draft("https://shop.example");
            let new = NewWebhook { project_id: id(1), application_id: application, details, sealed_secret: sealed, at };
            Ok((webhook == id(3)).then(|| stored(new)))
        });
        let service = service(webhooks);
        let first = service.rotate_secret(&editor(), id(5), id(3)).await.unwrap();
        let second = service.rotate_secret(&editor(), id(5), id(3)).await.unwrap();
        assert_ne!(first.secret.reveal(), second.secret.reveal());
        let absent = service.rotate_secret(&editor(), id(5), id(4)).await;
        assert!(matches!(absent, Err(WebhookError::NotFound)));
    }
}
