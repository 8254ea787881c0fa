//! Implementations of the organization ports.

pub(crate) mod applications;
mod branches;
mod checkout;
mod departments;
mod dictionaries;
pub(crate) mod integrations;
pub(crate) mod projects;
mod shops;
mod staff_menus;
mod tasks;

pub(crate) use tasks::TASK_MAILS;

use diesel::prelude::*;
use kontor_kernel::{BranchId, RecordError, Refusal, Stamp};
use kontor_organization::model::{Branch, Department, PaymentType, StaffShop, Task};

use crate::database::{Abort, AnyConnection, found};
use crate::records::{Read, readable};
use crate::schema;

/// Tables that `kontor doctor` reads.
pub(crate) const READABLE: &[(&str, Read)] = &[
    readable::<Branch>(),
    readable::<Department>(),
    readable::<PaymentType>(),
    readable::<StaffShop>(),
    readable::<Task>(),
];

/// Refuses a branch that does not belong to the project of the stamp.
fn require_branch<R: Refusal>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    branch: Option<BranchId>,
    refusal: R,
) -> Result<(), Abort<RecordError<R>>> {
    let Some(branch) = branch else { return Ok(()) };
    let own =
        schema::branches::table.find(branch.get()).filter(schema::branches::project_id.eq(stamp.project_id.get()));
    if found!(connection, own)? { Ok(()) } else { Err(Abort::refused(refusal)) }
}
