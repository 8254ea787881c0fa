use chrono::{DateTime, SecondsFormat, Utc};
use kontor_kernel::{ApplicationId, ProjectId, WebhookId};
use uuid::Uuid;

/// Event that an employee sends to one webhook to test its receiver. It is signed and retried as any other event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestDelivery {
    /// Project of the webhook.
    pub project_id: ProjectId,
    /// Application of the webhook.
    pub application_id: ApplicationId,
    /// Webhook that receives it.
    pub webhook_id: WebhookId,
    /// `X-Webhook-Event-Id`.
    pub event_id: Uuid,
    /// `X-Webhook-Delivery-Id`.
    pub delivery_id: Uuid,
    /// Time of the request.
    pub at: DateTime<Utc>,
}

impl TestDelivery {
    /// `X-Webhook-Event`. No change of a record causes this event.
    pub const EVENT: &str = "ping";

    /// Returns the body that the webhook receives. Its values need no escapes.
    pub fn body(&self) -> String {
        format!(
            r#"{{"id":"{}","event":"{}","created_at":"{}","data":{{"webhook_id":{},"application_id":{},"project_id":{}}}}}"#,
            self.event_id,
            Self::EVENT,
            self.at.to_rfc3339_opts(SecondsFormat::Secs, true),
            self.webhook_id,
            self.application_id,
            self.project_id,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_has_the_form_of_every_event() {
        let test = TestDelivery {
            project_id: ProjectId::new(1).unwrap(),
            application_id: ApplicationId::new(2).unwrap(),
            webhook_id: WebhookId::new(3).unwrap(),
            event_id: Uuid::from_u128(4),
            delivery_id: Uuid::from_u128(5),
            at: DateTime::UNIX_EPOCH,
        };
        assert_eq!(
            test.body(),
            r#"{"id":"00000000-0000-0000-0000-000000000004","event":"ping","created_at":"1970-01-01T00:00:00Z","data":{"webhook_id":3,"application_id":2,"project_id":1}}"#
        );
    }
}
