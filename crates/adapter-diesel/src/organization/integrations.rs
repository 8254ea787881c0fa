//! Integrations, and the parameters that records set for them.

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::result::{OptionalExtension as _, QueryResult};
use kontor_kernel::history::FieldChange;
use kontor_kernel::{IntegrationId, IntegrationParameterId, ProjectScoped, Stamp, StoreError, Word};
use kontor_organization::model::{
    Integration, IntegrationOwner, IntegrationParameter, ParameterKey, StoredValue, UsedIntegration,
};
use kontor_organization::ports::IntegrationRepository;
use kontor_organization::{IntegrationError, IntegrationRefusal};

use crate::database::{Abort, AnyConnection, Database};
use crate::statement::{Statement, by_place};
use crate::unreadable;
use crate::{decode, histories, records};

/// Maximum parameters of one integration per record.
const MAX_PARAMETERS: i64 = 50;

by_place! {
    struct IntegrationRow {
        id: i64,
        name: String,
        type_id: i64,
        type_name: String,
        owner: String,
        is_active: Option<bool>,
        updated_at: Option<NaiveDateTime>,
    }
}

impl TryFrom<IntegrationRow> for UsedIntegration {
    type Error = StoreError;

    fn try_from(row: IntegrationRow) -> Result<Self, StoreError> {
        let integration = Integration {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            kind: (row.type_id, decode::text(&row.type_name)?),
            owner: decode::word("integrations", row.id, "owner", &row.owner)?,
        };
        let is_active = row.is_active.unwrap_or_default();
        Ok(Self { integration, is_active, updated_at: row.updated_at.map(decode::moment) })
    }
}

/// Selects the integrations, with the parameters of this record.
fn integrations(owner: Option<IntegrationOwner>) -> Statement {
    let (kind, number) = owner.map_or(("", 0), |owner| (owner.kind().word(), owner.number()));
    Statement::new(
        "SELECT g.id, g.name, g.type_id, t.name, g.owner, l.is_active, l.updated_at FROM integrations g \
         JOIN dictionary_items t ON t.dictionary = 'integration_types' AND t.id = g.type_id \
         LEFT JOIN integration_links l ON l.integration_id = g.id AND l.owner = ",
    )
    .value(kind)
    .sql(" AND l.owner_id = ")
    .value(number)
}

fn used(connection: &mut AnyConnection, found: Statement) -> Result<Vec<UsedIntegration>, Abort<StoreError>> {
    let rows: Vec<IntegrationRow> = found.rows(connection)?;
    Ok(unreadable::rows("integrations", rows, |row| row.id, UsedIntegration::try_from)?)
}

fn number(connection: &mut AnyConnection, query: Statement) -> QueryResult<Option<i64>> {
    query.scalar(connection).optional()
}

fn of_owner(owner: IntegrationOwner) -> Statement {
    match owner {
        IntegrationOwner::Warehouse(id) => {
            Statement::new("SELECT project_id FROM warehouses WHERE deleted_at IS NULL AND id = ").value(id.get())
        }
        IntegrationOwner::BankRequisite(branch, id) => Statement::new(
            "SELECT b.project_id FROM branches b JOIN branch_bank_requisites r ON r.branch_id = b.id \
             AND r.project_id = b.project_id WHERE b.id = ",
        )
        .value(branch.get())
        .sql(" AND r.id = ")
        .value(id.get()),
    }
}

/// Returns the project of a record and locks the record until the transaction ends. The branch of an account is locked
/// first, as in every transaction that locks both.
fn held(connection: &mut AnyConnection, owner: IntegrationOwner) -> QueryResult<Option<i64>> {
    let project = match owner {
        IntegrationOwner::Warehouse(_) => of_owner(owner),
        IntegrationOwner::BankRequisite(branch, id) => {
            let account =
                Statement::new("SELECT id FROM branch_bank_requisites WHERE branch_id = ").value(branch.get());
            let account = account.sql(" AND id = ").value(id.get());
            let branch = Statement::new("SELECT project_id FROM branches WHERE id = ").value(branch.get());
            let project = number(connection, branch.locked(connection, " FOR SHARE"))?;
            return Ok(number(connection, account.locked(connection, " FOR SHARE"))?.and(project));
        }
    };
    number(connection, project.locked(connection, " FOR SHARE"))
}

/// Links a record of the project to a matching integration, and returns the id of the link. The link and the record
/// stay locked.
fn link(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    owner: IntegrationOwner,
    id: IntegrationId,
) -> Result<i64, Abort<IntegrationError>> {
    let own = held(connection, owner)? == Some(stamp.project_id.get());
    let fits = Statement::new("SELECT id FROM integrations WHERE owner = ").value(owner.kind().word());
    let fits = number(connection, fits.sql(" AND id = ").value(id.get()))?.is_some();
    if !(own && fits) {
        return Err(Abort::Refused(IntegrationError::NotFound));
    }
    let at = stamp.at.naive_utc();
    let linked = Statement::new(
        "INSERT INTO integration_links (project_id, owner, owner_id, integration_id, is_active, created_at, updated_at) \
         VALUES ",
    )
    .tuple([
        stamp.project_id.get().into(),
        owner.kind().word().into(),
        owner.number().into(),
        id.get().into(),
        false.into(),
        at.into(),
        at.into(),
    ])
    .sql(
        " ON CONFLICT (owner, owner_id, integration_id, project_id) \
         DO UPDATE SET is_active = integration_links.is_active RETURNING id",
    );
    number(connection, linked)?.ok_or(Abort::Refused(IntegrationError::NotFound))
}

/// Enters a change of the record's integration in the history of the record.
fn record_change<R>(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    owner: IntegrationOwner,
    (id, what): (IntegrationId, &str),
    (old, new): (Option<String>, Option<String>),
) -> Result<(), Abort<R>> {
    let (record, part) = owner.history_target();
    let change = FieldChange { field: format!("{part}integrations.{id}.{what}"), old, new };
    histories::changed_many(connection, stamp, owner.kind().resource(), &[(record, vec![change])])
}

by_place! {
    struct ParameterRow {
        id: i64,
        key: String,
        value: String,
        is_secret: bool,
        created_at: NaiveDateTime,
    }
}

impl TryFrom<ParameterRow> for IntegrationParameter {
    type Error = StoreError;

    fn try_from(row: ParameterRow) -> Result<Self, StoreError> {
        let value = (!row.is_secret).then(|| decode::text(&row.value)).transpose()?;
        let (id, key) = (decode::id(row.id)?, decode::text(&row.key)?);
        Ok(Self { id, key, value, created_at: decode::moment(row.created_at) })
    }
}

#[async_trait]
impl IntegrationRepository for Database {
    async fn all(&self) -> Result<Vec<Integration>, StoreError> {
        self.read(move |connection| {
            let all = used(connection, integrations(None).sql(" ORDER BY g.id"))?;
            Ok(all.into_iter().map(|one| one.integration).collect())
        })
        .await
    }

    async fn find(&self, id: IntegrationId) -> Result<Option<Integration>, StoreError> {
        self.read(move |connection| {
            let one = used(connection, integrations(None).sql(" WHERE g.id = ").value(id.get()))?;
            Ok(one.into_iter().next().map(|one| one.integration))
        })
        .await
    }

    async fn owner(&self, owner: IntegrationOwner) -> Result<Option<ProjectScoped<()>>, StoreError> {
        self.read(move |connection| {
            let project = number(connection, of_owner(owner))?;
            Ok(project.map(|project| records::of_project(project, Ok(()))).transpose()?)
        })
        .await
    }

    async fn used(&self, owner: IntegrationOwner) -> Result<Vec<UsedIntegration>, StoreError> {
        self.read(move |connection| {
            let found = integrations(Some(owner)).sql(" WHERE g.owner = ").value(owner.kind().word());
            used(connection, found.sql(" ORDER BY g.id"))
        })
        .await
    }

    async fn switch(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        is_active: bool,
    ) -> Result<UsedIntegration, IntegrationError> {
        self.write(move |connection| {
            let link = link(connection, &stamp, owner, id)?;
            let was: bool =
                Statement::new("SELECT is_active FROM integration_links WHERE id = ").value(link).scalar(connection)?;
            Statement::new("UPDATE integration_links SET version = version + 1, is_active = ")
                .value(is_active)
                .sql(", updated_at = ")
                .value(stamp.at.naive_utc())
                .sql(" WHERE project_id = ")
                .value(stamp.project_id.get())
                .sql(" AND id = ")
                .value(link)
                .run(connection)?;
            if was != is_active {
                let change = (Some(was.to_string()), Some(is_active.to_string()));
                record_change(connection, &stamp, owner, (id, "is_active"), change)?;
            }
            let found = integrations(Some(owner)).sql(" WHERE g.id = ").value(id.get());
            let rows: Vec<IntegrationRow> = found.rows(connection)?;
            let row = rows.into_iter().next().ok_or(Abort::Refused(IntegrationError::NotFound))?;
            Ok(row.try_into()?)
        })
        .await
    }

    async fn parameters(
        &self,
        owner: IntegrationOwner,
        id: IntegrationId,
    ) -> Result<Vec<IntegrationParameter>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<ParameterRow> = Statement::new(
                "SELECT p.id, p.name, p.value, p.is_secret, p.created_at FROM integration_links l \
                 JOIN integration_parameters p ON p.link_id = l.id AND p.project_id = l.project_id WHERE l.owner = ",
            )
            .value(owner.kind().word())
            .sql(" AND l.owner_id = ")
            .value(owner.number())
            .sql(" AND l.integration_id = ")
            .value(id.get())
            .sql(" ORDER BY p.id")
            .rows(connection)?;
            Ok(unreadable::rows("integration_parameters", rows, |row| row.id, IntegrationParameter::try_from)?)
        })
        .await
    }

    async fn add_parameter(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        key: ParameterKey,
        value: StoredValue,
    ) -> Result<IntegrationParameter, IntegrationError> {
        self.write(move |connection| {
            let link = link(connection, &stamp, owner, id)?;
            let there = Statement::new("SELECT count(*) FROM integration_parameters WHERE link_id = ").value(link);
            if number(connection, there)? >= Some(MAX_PARAMETERS) {
                return Err(Abort::refused(IntegrationRefusal::TooMany));
            }
            let (text, is_secret) = match &value {
                StoredValue::Plain(text) => (text.as_str(), false),
                StoredValue::Sealed(text) => (text.as_str(), true),
            };
            let rows: Vec<ParameterRow> = Statement::new(
                "INSERT INTO integration_parameters (project_id, link_id, name, value, is_secret, created_at) VALUES ",
            )
            .tuple([
                stamp.project_id.get().into(),
                link.into(),
                key.as_str().into(),
                text.into(),
                is_secret.into(),
                stamp.at.naive_utc().into(),
            ])
            .sql(" ON CONFLICT (link_id, name, project_id) DO NOTHING RETURNING id, name, value, is_secret, created_at")
            .rows(connection)?;
            let row = rows.into_iter().next().ok_or(Abort::refused(IntegrationRefusal::KeyTaken))?;
            let added: IntegrationParameter = row.try_into()?;
            let change = (None, Some(added.shown().to_owned()));
            record_change(connection, &stamp, owner, (id, &format!("parameters.{}", added.key)), change)?;
            Ok(added)
        })
        .await
    }

    async fn remove_parameter(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        parameter: IntegrationParameterId,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let removed: Vec<ParameterRow> = Statement::new("DELETE FROM integration_parameters WHERE id = ")
                .value(parameter.get())
                .sql(" AND project_id = ")
                .value(stamp.project_id.get())
                .sql(" AND link_id IN (SELECT l.id FROM integration_links l WHERE l.owner = ")
                .value(owner.kind().word())
                .sql(" AND l.owner_id = ")
                .value(owner.number())
                .sql(" AND l.integration_id = ")
                .value(id.get())
                .sql(") RETURNING id, name, value, is_secret, created_at")
                .rows(connection)?;
            let Some(row) = removed.into_iter().next() else { return Ok(false) };
            let gone: IntegrationParameter = row.try_into()?;
            let change = (Some(gone.shown().to_owned()), None);
            record_change::<StoreError>(connection, &stamp, owner, (id, &format!("parameters.{}", gone.key)), change)?;
            Ok::<_, Abort<StoreError>>(true)
        })
        .await
    }
}
