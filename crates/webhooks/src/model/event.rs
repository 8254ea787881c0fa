/// What the service tells webhooks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublicEvent {
    /// `order.paid`: an order of the application was paid.
    OrderPaid,
}

impl PublicEvent {
    /// Every public event.
    pub const ALL: &'static [Self] = &[Self::OrderPaid];

    /// The name in the header `X-Webhook-Event`, also the topic of the outbox row.
    pub fn name(self) -> &'static str {
        match self {
            Self::OrderPaid => "order.paid",
        }
    }

    /// The event of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_public_event_is_order_paid() {
        assert_eq!(PublicEvent::ALL.iter().map(|event| event.name()).collect::<Vec<_>>(), ["order.paid"]);
        assert_eq!(PublicEvent::named("order.paid"), Some(PublicEvent::OrderPaid));
        assert_eq!(PublicEvent::named("order.created"), None);
    }
}
