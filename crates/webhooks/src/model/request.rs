//! Events, and the requests that deliver them.

use chrono::{DateTime, Utc};
use kontor_kernel::hex;
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use crate::model::{EndpointUrl, WebhookSecret};
use crate::ports::Signer;

/// Content of a delivery, without address and time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// `X-Webhook-Event`
    pub event: String,
    /// `X-Webhook-Event-Id`
    pub event_id: Uuid,
    /// `X-Webhook-Delivery-Id`
    pub delivery_id: Uuid,
    /// JSON that is sent, byte for byte.
    pub body: String,
}

/// One complete, signed HTTP `POST`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRequest {
    /// Target address.
    pub url: EndpointUrl,
    /// Headers of the contract, including `Content-Type`.
    pub headers: Vec<(&'static str, String)>,
    /// Body that was signed.
    pub body: String,
}

impl DeliveryRequest {
    /// Signs a message for an attempt at `at`. `X-Signature` is `sha256=` and the lower-case hex of the
    /// HMAC-SHA256, keyed with the secret, over the Unix timestamp, a full stop and the body.
    pub fn sign(
        message: Message,
        url: EndpointUrl,
        secret: &WebhookSecret,
        at: DateTime<Utc>,
        signer: &dyn Signer,
    ) -> Self {
        let timestamp = at.timestamp().to_string();
        let text = format!("{timestamp}.{}", message.body);
        let mac = signer.hmac_sha256(secret.reveal().as_bytes(), text.as_bytes());
        let headers = vec![
            ("Content-Type", "application/json".to_owned()),
            ("X-Webhook-Event", message.event),
            ("X-Webhook-Event-Id", message.event_id.to_string()),
            ("X-Webhook-Delivery-Id", message.delivery_id.to_string()),
            ("X-Webhook-Timestamp", timestamp),
            ("X-Signature", format!("sha256={}", hex(&mac))),
        ];
        Self { url, headers, body: message.body }
    }

    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Events sent to webhooks. The string form is the header `X-Webhook-Event` and the topic of the outbox row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
pub enum PublicEvent {
    /// `order.paid`: an order of the application was paid.
    #[strum(serialize = "order.paid")]
    OrderPaid,
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kontor_kernel::Word;
    use kontor_kernel::testing::{CountingRandom, PlainCipher};

    use super::*;
    use crate::ports::MockSigner;

    #[test]
    fn the_signature_covers_the_time_of_the_attempt_and_the_exact_body() {
        let mut signer = MockSigner::new();
        signer
            .expect_hmac_sha256()
            .withf(|key, message| key == b"whsec_key" && message == "90.{\"сумма\": 1}".as_bytes())
            .returning(|_, _| [0xab; 32]);
        let message = Message {
            event: "order.paid".to_owned(),
            event_id: Uuid::from_u128(1),
            delivery_id: Uuid::from_u128(2),
            body: "{\"сумма\": 1}".to_owned(),
        };
        let url = EndpointUrl::parse("https://shop.example/hook").unwrap();
        let secret = WebhookSecret::open("sealed:whsec_key", &PlainCipher).unwrap();
        let at = DateTime::UNIX_EPOCH + TimeDelta::milliseconds(90_750);
        let request = DeliveryRequest::sign(message.clone(), url, &secret, at, &signer);
        assert_eq!(request.body, message.body);
        assert_eq!(request.header("x-signature"), Some(format!("sha256={}", "ab".repeat(32)).as_str()));
        assert_eq!(request.header("X-Webhook-Timestamp"), Some("90"));
        assert_eq!(request.header("X-Webhook-Event"), Some("order.paid"));
        assert_eq!(request.header("X-Webhook-Event-Id"), Some("00000000-0000-0000-0000-000000000001"));
        assert_eq!(request.header("X-Webhook-Delivery-Id"), Some("00000000-0000-0000-0000-000000000002"));
        assert_eq!(request.header("Content-Type"), Some("application/json"));
    }

    #[test]
    fn a_request_does_not_show_the_secret() {
        let mut signer = MockSigner::new();
        signer.expect_hmac_sha256().returning(|_, _| [0; 32]);
        let secret = WebhookSecret::generate(&CountingRandom::new());
        let message =
            Message { event: String::new(), event_id: Uuid::nil(), delivery_id: Uuid::nil(), body: String::new() };
        let url = EndpointUrl::parse("https://shop.example/hook").unwrap();
        let request = DeliveryRequest::sign(message, url, &secret, DateTime::UNIX_EPOCH, &signer);
        assert!(!format!("{request:?}").contains(secret.reveal()));
    }

    #[test]
    fn the_one_public_event_is_order_paid() {
        assert_eq!(PublicEvent::all().iter().map(|event| event.word()).collect::<Vec<_>>(), ["order.paid"]);
        assert_eq!(PublicEvent::from_word("order.paid"), Some(PublicEvent::OrderPaid));
        assert_eq!(PublicEvent::from_word("order.created"), None);
    }
}
