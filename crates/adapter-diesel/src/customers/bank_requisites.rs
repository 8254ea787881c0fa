//! Bank accounts of customers.

use diesel::result::Error as QueryError;
use kontor_kernel::{BankRequisite, BankRequisiteDraft, Stamp};

use super::parts::{PartSelection, Place, StoredPart};
use crate::bank_requisites::{Placed, Requisites};
use crate::database::{Abort, AnyConnection};

const REQUISITES: Requisites = Requisites { table: "counterparty_bank_requisites", owner: "counterparty_id" };

impl StoredPart for BankRequisite {
    const TABLE: &'static str = REQUISITES.table;
    const KIND: &'static str = "bank_requisites";

    fn load<R>(connection: &mut AnyConnection, which: PartSelection) -> Result<Vec<(Place, Self)>, Abort<R>> {
        let found = match which {
            PartSelection::Numbered(id) => REQUISITES.find(connection, id)?.into_iter().collect(),
            PartSelection::OfCustomer(id) => REQUISITES.of_owner(connection, id)?,
        };
        let part = |placed: Placed| (Place { project: placed.project, customer: placed.owner }, placed.requisite);
        Ok(found.into_iter().map(part).collect())
    }

    fn insert(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        customer: i64,
        draft: &BankRequisiteDraft,
    ) -> Result<i64, QueryError> {
        REQUISITES.insert(connection, stamp, customer, draft)
    }

    fn update(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        id: i64,
        draft: &BankRequisiteDraft,
    ) -> Result<(), QueryError> {
        REQUISITES.update(connection, stamp, id, draft)
    }
}
