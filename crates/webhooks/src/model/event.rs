use strum::{EnumString, IntoStaticStr, VariantArray};

/// Events sent to webhooks. The string form is the header `X-Webhook-Event` and the topic of the outbox row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
pub enum PublicEvent {
    /// `order.paid`: an order of the application was paid.
    #[strum(serialize = "order.paid")]
    OrderPaid,
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::Word;

    #[test]
    fn the_one_public_event_is_order_paid() {
        assert_eq!(PublicEvent::all().iter().map(|event| event.word()).collect::<Vec<_>>(), ["order.paid"]);
        assert_eq!(PublicEvent::from_word("order.paid"), Some(PublicEvent::OrderPaid));
        assert_eq!(PublicEvent::from_word("order.created"), None);
    }
}
