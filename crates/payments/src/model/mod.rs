//! The values of payments.

mod charge;
mod gateway;
mod method;
mod purpose;
mod refund;
mod request;
mod saved_method;

pub use charge::{Charge, ChargeFailure, ChargeState, NewCharge};
pub use gateway::{
    GatewayMethod, GatewayPayment, GatewayRefund, GatewayStatus, InvalidProviderId, PaymentMismatch, ProviderId,
};
pub use method::{PaymentMethod, UnknownPaymentMethod};
pub use purpose::ChargePurpose;
pub use refund::{NewRefund, NothingToRefund, Refund, RefundIntent, RefundRequest, RefundState};
pub use request::ChargeRequest;
pub use saved_method::{MethodReference, SavedMethod};
