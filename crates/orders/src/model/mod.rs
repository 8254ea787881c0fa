//! The values of the order area.

mod cart;
mod delivery;
mod discount;
mod order;
mod payment;
mod refund;
mod reservation;
mod status;
mod verification;

pub use cart::{Cart, CartLine, CartRefused, LineProblem, LineRefused};
pub use delivery::{Address, Delivery, DeliveryRequest, ParamReference, References, ShopReference, SubtypeReference};
pub use discount::{Discount, Promo, PromoProblem};
pub use kontor_kernel::{DiscountStatus, DiscountTarget, DiscountValue, InvalidPromoCode, PromoCode};
pub use order::{Customer, DeliveryWay, Named, Order, OrderLine, PaymentType, Place, ReservationState};
pub use payment::{
    AttemptState, GatewayPayment, GatewayStatus, InvalidProviderPaymentId, PaidEvent, PaymentAttempt, PaymentMethod,
    PaymentMismatch, PaymentRequest, PreparedPayment, ProviderPaymentId, Purpose, UnknownPaymentMethod,
};
pub use refund::{GatewayRefund, RefundRequest, RefundStatus};
pub use reservation::ReservationRecord;
pub use status::{OrderStatus, Standing, StockEffect, Transition, TransitionRefused};
pub use verification::{
    NewVerification, RefundState, RefundStep, VERIFICATION_WINDOW, Verification, VerificationChange,
    VerificationRefund, VerificationState, VerificationTerms,
};
