//! The values of the order area.

mod cart;
mod delivery;
mod discount;
mod order;
mod payment;
mod status;

pub use cart::{Cart, CartLine, CartRefused, InvalidPromoCode, LineProblem, LineRefused, PromoCode};
pub use delivery::{Address, Delivery, DeliveryRequest, ParamReference, References, ShopReference, SubtypeReference};
pub use discount::{Discount, DiscountStatus, DiscountTarget, DiscountValue, Promo, PromoProblem};
pub use order::{Customer, DeliveryWay, Named, Order, OrderFilter, OrderLine, PaymentType, Place, ReservationState};
pub use payment::{
    AttemptState, GatewayPayment, GatewayStatus, InvalidProviderPaymentId, PaidEvent, PaymentAttempt, PaymentMethod,
    PaymentMismatch, PaymentRequest, PreparedPayment, ProviderPaymentId, UnknownPaymentMethod,
};
pub use status::{OrderStatus, Standing, StockEffect, Transition, TransitionRefused};
