//! Deletion of integration links together with their owners.

use diesel::prelude::*;
use kontor_kernel::Word;
use kontor_organization::model::IntegrationKind;

use crate::database::AnyConnection;
use crate::statement::Statement;

/// Deletes the integration parameters, which include secrets, and then the integration links of owners of this kind.
/// `numbers` selects the owners.
pub(crate) fn forget(connection: &mut AnyConnection, kind: IntegrationKind, numbers: &Statement) -> QueryResult<()> {
    let of_owners = |statement: &'static str| {
        Statement::new(statement).value(kind.word()).sql(" AND owner_id IN (").then(numbers.clone()).sql(")")
    };
    of_owners("DELETE FROM integration_parameters WHERE link_id IN (SELECT id FROM integration_links WHERE owner = ")
        .sql(")")
        .run(connection)?;
    of_owners("DELETE FROM integration_links WHERE owner = ").run(connection)?;
    Ok(())
}
