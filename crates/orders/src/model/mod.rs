//! Values of the order area.

mod cart;
mod delivery;
mod discount;
mod notice_text;
mod order;
mod payment;
mod transitions;

#[cfg(test)]
pub(crate) use crate::testing::samples as testing;
pub use cart::{Cart, CartLine, CartRefused, LineProblem, LineRefused};
pub(crate) use delivery::needs_address;
pub use delivery::{
    Address, BY_DELIVERY, Delivery, DeliveryCharge, DeliveryChoice, DeliveryRequest, ParamReference, References,
    ShopReference, SubtypeReference, TypeReference,
};
pub use discount::{Discount, Promo, PromoProblem};
pub use kontor_kernel::{DiscountStatus, DiscountTarget, DiscountValue, InvalidPromoCode, Named, PromoCode};
pub use kontor_payments::model::PaymentMethod;
pub use notice_text::{NoticeSubject, NoticeText};
pub use order::{
    Customer, DeliveryOptionRef, Order, OrderEntry, OrderEvent, OrderLine, OrderRefund, OrderRefundState, OrderStatus,
    PaymentState, PaymentType, Place, ReservationRecord, ReservationState,
};
pub use payment::{PaidEvent, PreparedPayment};
pub use transitions::{
    ChargeEffect, ChargeOutcome, MOVES, MoneyCondition, MoveCause, Notice, StockEffect, Transition, TransitionContext,
    TransitionRefused,
};
