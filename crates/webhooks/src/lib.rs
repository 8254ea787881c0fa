//! Webhook endpoints, signing and the delivery state machine.
