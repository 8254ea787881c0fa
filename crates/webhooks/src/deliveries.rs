use std::sync::Arc;

use kontor_kernel::{
    ApplicationId, Clock, DeliveryId, Listing, Page, PageRequest, Permission, Random, Resource, Staff, WebhookId,
};

use crate::endpoints::authorize;
use crate::model::{Delivery, DeliveryState, ProjectDelivery, TestDelivery, Webhook};
use crate::ports::{DeliveryLog, WebhookRepository};
use crate::{DeliveryError, DeliveryRefusal};

/// Use cases for the deliveries of a webhook. Callers are employees.
pub struct DeliveryService {
    /// Storage of webhooks.
    pub webhooks: Arc<dyn WebhookRepository>,
    /// Storage of deliveries.
    pub deliveries: Arc<dyn DeliveryLog>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Source of ids.
    pub random: Arc<dyn Random>,
}

impl DeliveryService {
    /// Returns a page of the deliveries of all webhooks of the employee's project. Fields: `id`, `status`,
    /// `webhook_id`.
    pub async fn of_project(&self, staff: &Staff, listing: Listing) -> Result<Page<ProjectDelivery>, DeliveryError> {
        staff.require(Permission::view(Resource::Webhooks))?;
        Ok(self.deliveries.project_page(staff.project_id, listing).await?)
    }

    /// Returns a page of the deliveries of a webhook, newest first.
    pub async fn list(
        &self,
        staff: &Staff,
        application: ApplicationId,
        webhook: WebhookId,
        page: PageRequest,
    ) -> Result<Page<Delivery>, DeliveryError> {
        let webhook = self.webhook(staff, application, webhook, Permission::view(Resource::Webhooks)).await?;
        Ok(self.deliveries.page(webhook.id, page).await?)
    }

    /// Returns a delivery of a webhook.
    pub async fn read(
        &self,
        staff: &Staff,
        application: ApplicationId,
        webhook: WebhookId,
        delivery: DeliveryId,
    ) -> Result<Delivery, DeliveryError> {
        let webhook = self.webhook(staff, application, webhook, Permission::view(Resource::Webhooks)).await?;
        self.deliveries.find(webhook.id, delivery).await?.ok_or(DeliveryError::NotFound)
    }

    /// Sends a test event to an active webhook.
    pub async fn send_test(
        &self,
        staff: &Staff,
        application: ApplicationId,
        webhook: WebhookId,
    ) -> Result<Delivery, DeliveryError> {
        let webhook = self.webhook(staff, application, webhook, Permission::edit(Resource::Webhooks)).await?;
        let test = TestDelivery {
            project_id: staff.project_id,
            application_id: webhook.application_id,
            webhook_id: webhook.id,
            event_id: self.random.uuid(),
            delivery_id: self.random.uuid(),
            at: self.clock.now(),
        };
        let stored = self.deliveries.insert_test(test).await?;
        stored.ok_or_else(|| DeliveryRefusal::WebhookInactive.into())
    }

    /// Sends a failed or delivered delivery again, with the same ids and a new schedule.
    pub async fn resend(
        &self,
        staff: &Staff,
        application: ApplicationId,
        webhook: WebhookId,
        delivery: DeliveryId,
    ) -> Result<Delivery, DeliveryError> {
        let webhook = self.webhook(staff, application, webhook, Permission::edit(Resource::Webhooks)).await?;
        let delivery = self.deliveries.find(webhook.id, delivery).await?.ok_or(DeliveryError::NotFound)?;
        if !webhook.details.is_active {
            return Err(DeliveryRefusal::WebhookInactive.into());
        }
        let now = self.clock.now();
        let pending = delivery.state.resend(now).ok_or(DeliveryRefusal::AlreadyPending)?;
        if self.deliveries.requeue(delivery.id, delivery.state, pending, now).await? {
            Ok(Delivery { state: DeliveryState::Pending(pending), ..delivery })
        } else {
            Err(DeliveryRefusal::AlreadyPending.into())
        }
    }

    async fn webhook(
        &self,
        staff: &Staff,
        application: ApplicationId,
        webhook: WebhookId,
        permission: Permission,
    ) -> Result<Webhook, DeliveryError> {
        authorize(&*self.webhooks, staff, application, permission).await?;
        self.webhooks.find(application, webhook).await?.ok_or(DeliveryError::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EndpointUrl, Pending, WebhookDraft};
    use crate::ports::{MockDeliveryLog, MockWebhookRepository};
    use chrono::DateTime;
    use kontor_kernel::testing::{CountingRandom, staff_with};
    use kontor_kernel::{AccessDenied, FixedClock, ProjectScoped, RecordError};
    use uuid::Uuid;

    fn id<T: TryFrom<i64>>(value: i64) -> T {
        T::try_from(value).ok().unwrap()
    }

    fn webhook(is_active: bool) -> Webhook {
        let url = EndpointUrl::parse("https://shop.example").unwrap();
        Webhook {
            id: id(3),
            application_id: id(5),
            details: WebhookDraft { name: None, url, is_active },
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    fn delivery(state: DeliveryState) -> Delivery {
        Delivery {
            id: id(7),
            webhook_id: id(3),
            event_id: Uuid::from_u128(1),
            delivery_id: Uuid::from_u128(2),
            event: "order.paid".to_owned(),
            state,
            response_status: Some(500),
            last_error: None,
            created_at: DateTime::UNIX_EPOCH,
        }
    }

    fn service(webhooks: MockWebhookRepository, deliveries: MockDeliveryLog) -> DeliveryService {
        let (clock, random) = (Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)), Arc::new(CountingRandom::new()));
        DeliveryService { webhooks: Arc::new(webhooks), deliveries: Arc::new(deliveries), clock, random }
    }

    async fn resend(state: DeliveryState, is_active: bool, still_there: bool) -> Result<Delivery, DeliveryError> {
        let (mut webhooks, mut deliveries) = (MockWebhookRepository::new(), MockDeliveryLog::new());
        webhooks.expect_owner().returning(|_| Ok(Some(ProjectScoped::new(id(1), ()))));
        webhooks.expect_find().returning(move |_, _| Ok(Some(webhook(is_active))));
        deliveries.expect_find().returning(move |_, wanted| Ok((wanted == id(7)).then(|| delivery(state))));
        deliveries
            .expect_requeue()
            .withf(move |_, from, to, at| *from == state && *to == Pending::due(*at))
            .returning(move |_, _, _, _| Ok(still_there));
        let editor = staff_with([Permission::edit(Resource::Webhooks)]);
        service(webhooks, deliveries).resend(&editor, id(5), id(3), id(7)).await
    }

    #[tokio::test]
    async fn a_failed_delivery_is_sent_again_under_the_same_ids() {
        let failed = DeliveryState::Failed { attempts: 6 };
        let resent = resend(failed, true, true).await.unwrap();
        assert_eq!((resent.state.status(), resent.state.attempts()), ("pending", 0));
        assert_eq!(resent.delivery_id, delivery(failed).delivery_id);
    }

    async fn send_test(staff: &Staff, is_active: bool) -> Result<Delivery, DeliveryError> {
        let (mut webhooks, mut deliveries) = (MockWebhookRepository::new(), MockDeliveryLog::new());
        webhooks.expect_owner().returning(|_| Ok(Some(ProjectScoped::new(id(1), ()))));
        webhooks.expect_find().returning(move |_, wanted| Ok((wanted == id(3)).then(|| webhook(is_active))));
        deliveries
            .expect_insert_test()
            .withf(|test| {
                (test.project_id, test.application_id, test.webhook_id) == (id(1), id(5), id(3))
                    && test.event_id != test.delivery_id
                    && test.at == DateTime::UNIX_EPOCH
            })
            .returning(move |test| Ok(is_active.then(|| delivery(DeliveryState::Pending(Pending::due(test.at))))));
        service(webhooks, deliveries).send_test(staff, id(5), id(3)).await
    }

    #[tokio::test]
    async fn a_test_is_sent_to_an_active_webhook_by_those_who_may_change_it() {
        let editor = staff_with([Permission::edit(Resource::Webhooks)]);
        assert_eq!(send_test(&editor, true).await.unwrap().state.status(), "pending");
        let refused = send_test(&editor, false).await;
        assert!(matches!(refused, Err(RecordError::Refused(DeliveryRefusal::WebhookInactive))));
        let viewer = staff_with([Permission::view(Resource::Webhooks)]);
        let refused = send_test(&viewer, true).await;
        assert!(matches!(refused, Err(RecordError::Denied(AccessDenied::MissingPermission(_)))));
    }

    #[tokio::test]
    async fn pending_and_unsendable_deliveries_are_not_resent() {
        let pending = DeliveryState::Pending(Pending::due(DateTime::UNIX_EPOCH));
        assert!(matches!(
            resend(pending, true, true).await,
            Err(RecordError::Refused(DeliveryRefusal::AlreadyPending))
        ));
        let failed = DeliveryState::Failed { attempts: 6 };
        assert!(matches!(
            resend(failed, true, false).await,
            Err(RecordError::Refused(DeliveryRefusal::AlreadyPending))
        ));
        assert!(matches!(
            resend(failed, false, true).await,
            Err(RecordError::Refused(DeliveryRefusal::WebhookInactive))
        ));
    }
}
