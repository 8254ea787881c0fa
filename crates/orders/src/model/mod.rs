//! The values of the order area.

mod cart;
mod delivery;
mod discount;
mod order;
mod payment;
mod reservation;
mod status;

pub use cart::{Cart, CartLine, CartRefused, LineProblem, LineRefused};
pub use delivery::{Address, Delivery, DeliveryRequest, ParamReference, References, ShopReference, SubtypeReference};
pub use discount::{Discount, Promo, PromoProblem};
pub use kontor_kernel::{DiscountStatus, DiscountTarget, DiscountValue, InvalidPromoCode, PromoCode};
pub use kontor_payments::model::PaymentMethod;
pub use order::{Customer, DeliveryWay, Named, Order, OrderLine, PaymentType, Place, ReservationState};
pub use payment::{PaidEvent, PreparedPayment};
pub use reservation::ReservationRecord;
pub use status::{
    AfterCharge, ChargeOutcome, OrderStatus, StockEffect, Transition, TransitionContext, TransitionRefused,
};
