//! A change of an order, with what it does to its money.

use kontor_kernel::OrderId;
use kontor_orders::OrderError;
use kontor_orders::model::StockEffect;
use kontor_orders::ports::Decision;
use kontor_payments::model::ChargePurpose;

use super::refunds;
use crate::database::{Abort, AnyConnection};
use crate::orders::{self, Giving};
use crate::payments;
use crate::people::{CustomerOf, hold_customer};

/// The customer is held before the charge and the charge before its order, as everywhere. What was prepaid has its second receipt in the commit that hands it
/// over.
pub(super) fn change(connection: &mut AnyConnection, id: OrderId, decide: &Decision) -> Result<(), Abort<OrderError>> {
    hold_customer(connection, CustomerOf::Order(id.get()))?;
    let purpose = ChargePurpose::Order(id);
    let charge = payments::lock_paid(connection, purpose)?;
    let found = orders::locked(connection, id)?;
    let update = decide(found.clone()).map_err(Abort::Refused)?;
    let (project, at) = (update.stamp.project_id, update.stamp.at);
    if let Some(refund) = &update.refund
        && let Some(order) = found.within(project)
    {
        let giving = Giving { project: project.get(), order: id, by: update.stamp.author, at: at.naive_utc() };
        refunds::give_back(connection, &order, giving, refund, charge, at)?;
    }
    if let Some(charge) = charge
        && update.transition.is_some_and(|step| step.stock == StockEffect::Sell)
    {
        payments::hand_over(connection, charge, at).map_err(Abort::in_step)?;
    }
    orders::apply(connection, id, &update)
}
