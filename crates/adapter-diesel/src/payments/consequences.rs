//! Consequences of charges for other domains.

use chrono::{DateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{ChargeId, StoreError};
use kontor_payments::change::{Change, ChargeChange};

use crate::database::Abort;

/// Steps that hand charges on to all domains. `charge_outcomes` implements them for connections: the modules of orders
/// and subscriptions call them and do not use each other.
pub(crate) trait ChargeConsequences {
    /// Commits the new state of a charge, with the effects on its purpose.
    fn record_charge(
        &mut self,
        id: ChargeId,
        change: &ChargeChange,
        at: DateTime<Utc>,
    ) -> Result<Change, Abort<StoreError>>;

    /// Applies a refund to the subscription periods that the charge paid. `ends` states that the paid period ends with
    /// it. Returns `false` if the refund must be refused, since no such period is current.
    fn refund_periods(
        &mut self,
        charge: Option<ChargeId>,
        ends: bool,
        author: Author,
        at: DateTime<Utc>,
    ) -> Result<bool, Abort<StoreError>>;
}
