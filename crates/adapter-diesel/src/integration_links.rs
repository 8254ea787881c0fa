//! What records have of integrations goes with them.

use diesel::prelude::*;
use kontor_kernel::Word;
use kontor_organization::model::IntegrationOwner;

use crate::database::AnyConnection;
use crate::statement::Statement;

/// A record goes, and with it what it used, its secrets first of all.
pub(crate) fn forget(connection: &mut AnyConnection, owner: IntegrationOwner) -> QueryResult<()> {
    let of_owner = |statement: &'static str| {
        Statement::new(statement).value(owner.kind().word()).sql(" AND owner_id = ").value(owner.number())
    };
    of_owner("DELETE FROM integration_parameters WHERE link_id IN (SELECT id FROM integration_links WHERE owner = ")
        .sql(")")
        .run(connection)?;
    of_owner("DELETE FROM integration_links WHERE owner = ").run(connection)?;
    Ok(())
}
