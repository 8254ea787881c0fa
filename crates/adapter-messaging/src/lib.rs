//! Messages out: calls with a code, SMS, e-mail and webhook deliveries.
