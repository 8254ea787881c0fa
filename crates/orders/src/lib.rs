//! Cart pricing, order placement, payment and the order lifecycle.
