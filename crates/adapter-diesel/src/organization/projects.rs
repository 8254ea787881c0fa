use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{Language, ProjectId, StoreError, Word as _, Zone};
use kontor_organization::model::{PlannedPaymentType, ProjectPlan, ProjectRecords};
use kontor_organization::ports::ProjectRepository;

use crate::collation::sort_key;
use crate::database::{AnyConnection, Database, Topic, found};
use crate::decode;
use crate::schema::{applications, branches, delivery_subtypes, delivery_types, payment_types, projects, users};

/// Currency of new projects, as required by the acquirer.
const CURRENCY: &str = "RUB";

#[async_trait]
impl ProjectRepository for Database {
    async fn create_project(&self, plan: ProjectPlan, at: DateTime<Utc>) -> Result<ProjectRecords, StoreError> {
        self.write(move |connection| {
            let at = at.naive_utc();
            let project: i64 = diesel::insert_into(projects::table)
                .values((
                    projects::name.eq(plan.name.as_str()),
                    projects::currency.eq(CURRENCY),
                    projects::created_at.eq(at),
                ))
                .returning(projects::id)
                .get_result(connection)?;
            let branch: i64 = diesel::insert_into(branches::table)
                .values((
                    branches::project_id.eq(project),
                    branches::name.eq(plan.name.as_str()),
                    branches::name_key.eq(plan.name.key()),
                    branches::sort_key.eq(sort_key(&plan.name)),
                    branches::created_at.eq(at),
                    branches::updated_at.eq(at),
                ))
                .returning(branches::id)
                .get_result(connection)?;
            let application: i64 = diesel::insert_into(applications::table)
                .values((
                    applications::project_id.eq(project),
                    applications::branch_id.eq(branch),
                    applications::name.eq(plan.name.as_str()),
                    applications::token_fingerprint.eq(&plan.token_fingerprint),
                    applications::is_active.eq(true),
                    applications::wholesale.eq(false),
                    applications::created_at.eq(at),
                    applications::updated_at.eq(at),
                ))
                .returning(applications::id)
                .get_result(connection)?;
            let project_id: ProjectId = decode::id(project)?;
            insert_checkout_options(connection, project_id, &plan)?;
            Ok(ProjectRecords { project_id, branch_id: decode::id(branch)?, application_id: decode::id(application)? })
        })
        .await
    }

    async fn set_time_zone(&self, project: ProjectId, zone: Zone) -> Result<bool, StoreError> {
        self.write(move |connection| {
            connection.invalidate(Topic::Storefront, project.get());
            let own = projects::table.find(project.get());
            let zone = projects::time_zone.eq(zone.name());
            Ok(diesel::update(own).set((zone, projects::version.eq(projects::version + 1))).execute(connection)? == 1)
        })
        .await
    }

    async fn set_language(&self, project: ProjectId, language: Language) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let own = projects::table.find(project.get());
            let word = projects::language.eq(language.word());
            Ok(diesel::update(own).set((word, projects::version.eq(projects::version + 1))).execute(connection)? == 1)
        })
        .await
    }

    async fn require_if_match(&self, project: ProjectId, required: bool) -> Result<bool, StoreError> {
        self.write(move |connection| {
            connection.invalidate(Topic::Access, project.get());
            let own = projects::table.find(project.get());
            let flag = projects::if_match_required.eq(required);
            Ok(diesel::update(own).set((flag, projects::version.eq(projects::version + 1))).execute(connection)? == 1)
        })
        .await
    }

    async fn abandon(&self, project: ProjectId) -> Result<(), StoreError> {
        self.write(move |connection| {
            let project = project.get();
            connection.invalidate(Topic::Access, project);
            connection.invalidate(Topic::Storefront, project);
            let staffed = users::table.filter(users::project_id.eq(project));
            if found!(connection, staffed)? {
                return Ok(());
            }
            diesel::delete(payment_types::table.filter(payment_types::project_id.eq(project))).execute(connection)?;
            let subtypes = delivery_subtypes::table.filter(delivery_subtypes::project_id.eq(project));
            diesel::delete(subtypes).execute(connection)?;
            diesel::delete(delivery_types::table.filter(delivery_types::project_id.eq(project))).execute(connection)?;
            diesel::delete(applications::table.filter(applications::project_id.eq(project))).execute(connection)?;
            diesel::delete(branches::table.filter(branches::project_id.eq(project))).execute(connection)?;
            diesel::delete(projects::table.find(project)).execute(connection)?;
            Ok(())
        })
        .await
    }
}

fn insert_checkout_options(connection: &mut AnyConnection, project: ProjectId, plan: &ProjectPlan) -> QueryResult<()> {
    let project = project.get();
    for (id, name) in &plan.delivery_types {
        insert_delivery_type(connection, project, *id, name)?;
    }
    for (id, delivery_type, name) in &plan.delivery_subtypes {
        insert_delivery_subtype(connection, project, *id, *delivery_type, name)?;
    }
    for planned in &plan.payment_types {
        insert_payment_type(connection, project, planned)?;
    }
    Ok(())
}

/// Inserts an active delivery type without a price.
pub(crate) fn insert_delivery_type(
    connection: &mut AnyConnection,
    project: i64,
    id: i64,
    name: &str,
) -> QueryResult<usize> {
    diesel::insert_into(delivery_types::table)
        .values((
            delivery_types::project_id.eq(project),
            delivery_types::id.eq(id),
            delivery_types::name.eq(name),
            delivery_types::price.eq(0),
            delivery_types::is_active.eq(true),
        ))
        .execute(connection)
}

/// Inserts an active delivery subtype without a price.
pub(crate) fn insert_delivery_subtype(
    connection: &mut AnyConnection,
    project: i64,
    id: i64,
    delivery_type: i64,
    name: &str,
) -> QueryResult<usize> {
    diesel::insert_into(delivery_subtypes::table)
        .values((
            delivery_subtypes::project_id.eq(project),
            delivery_subtypes::id.eq(id),
            delivery_subtypes::delivery_type_id.eq(delivery_type),
            delivery_subtypes::name.eq(name),
            delivery_subtypes::price.eq(0),
            delivery_subtypes::is_active.eq(true),
        ))
        .execute(connection)
}

/// Inserts a payment type.
pub(crate) fn insert_payment_type(
    connection: &mut AnyConnection,
    project: i64,
    planned: &PlannedPaymentType,
) -> QueryResult<usize> {
    diesel::insert_into(payment_types::table)
        .values((
            payment_types::project_id.eq(project),
            payment_types::name.eq(planned.name),
            payment_types::description.eq(planned.description),
            payment_types::is_online.eq(planned.is_online),
        ))
        .execute(connection)
}
