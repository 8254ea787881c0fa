//! Strategies of `proptest`, for rules that hold for every charge.
//!
//! ```
//! use kontor_payments::testing::strategies::arb_charge;
//! use proptest::prelude::*;
//!
//! proptest!(|(charge in arb_charge())| {
//!     prop_assert!(charge.refundable() <= charge.captured);
//!     prop_assert!(charge.state.is_open() == charge.settled_at.is_none());
//! });
//! ```

use chrono::DateTime;
use kontor_kernel::Money;
use proptest::prelude::*;
use proptest::sample;
use strum::VariantArray as _;

use super::samples::{charge, paid_charge};
use crate::model::{Charge, ChargePurpose, ChargeState};

/// Purposes of every kind, of records 1 to 9.
pub fn arb_purpose() -> impl Strategy<Value = ChargePurpose> {
    (sample::select(ChargePurpose::KINDS.to_vec()), 1..=9_i64)
        .prop_filter_map("a kind of purpose", |(kind, number)| ChargePurpose::from_parts(kind, number).ok().flatten())
}

/// Charges of up to 1,000.00 for every purpose, in every state. Of a successful one, parts may be refunded and in the
/// process of being refunded.
pub fn arb_charge() -> impl Strategy<Value = Charge> {
    let states = sample::select(ChargeState::VARIANTS);
    (arb_purpose(), states, 1..=100_000_i64, 0..=100_i64, 0..=100_i64).prop_map(
        |(purpose, state, minor, refunded, refunding)| {
            let money = |minor| Money::from_minor(minor).unwrap_or(Money::ZERO);
            if state != ChargeState::Succeeded {
                let settled_at = (!state.is_open()).then_some(DateTime::UNIX_EPOCH);
                return Charge { state, settled_at, ..charge(purpose, money(minor)) };
            }
            let gone = minor * refunded / 100;
            let (refunded, refunding) = (money(gone), money((minor - gone) * refunding / 100));
            Charge { refunded, refunding, ..paid_charge(purpose, money(minor)) }
        },
    )
}
