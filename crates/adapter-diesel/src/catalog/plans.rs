//! Subscription plans of a project and their assignment to applications, for staff; plans that an application offers.

use std::collections::HashMap;

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::QueryableByName;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use kontor_catalog::model::{
    AssignOutcome, BillingPeriod, CatalogPlan, PlanAssignment, PlanChange, PlanDraft, PlanPosition, PlanSlug,
};
use kontor_catalog::ports::PlanRepository;
use kontor_catalog::storefront::ports::StorefrontPlans;
use kontor_catalog::storefront::{Plan, PlanCard};
use kontor_catalog::{PlanError, PlanRefusal};
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    AppScope, ApplicationId, Line, Listing, Page, PageRequest, PlanAssignmentId, ProjectId, Prose, StoreError,
};
use kontor_subscriptions::Anchor;

use super::cards;
use super::storefront::{photo, reference};
use crate::database::{Abort, AnyConnection, Database, Extent, Topic, found, on_duplicate};
use crate::listing::{Source, unsearched};
use crate::locks::lock_rows;
use crate::read_models::search::{MAX_FOUND, Search};
use crate::schema::{nomenclatures, projects, referred, subscription_nomenclatures};
use crate::statement::{Statement, by_place};
use crate::{decode, records, unreadable};

/// Source of the plan list; texts are searched as in all items.
const PLANS: Source = Source { from: "nomenclatures n", id: "n.id", fields: &[("id", "n.id")], search: unsearched };

#[derive(Queryable, Selectable)]
#[diesel(table_name = subscription_nomenclatures)]
struct AssignmentRow {
    id: i64,
    application_id: i64,
    nomenclature_id: i64,
    plan_slug: String,
    position: i64,
    is_active: bool,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<AssignmentRow> for PlanAssignment {
    type Error = StoreError;

    fn try_from(row: AssignmentRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            application_id: decode::id(row.application_id)?,
            nomenclature_id: decode::id(row.nomenclature_id)?,
            slug: slug(&row.plan_slug)?,
            position: PlanPosition::new(row.position).map_err(StoreError::corrupt)?,
            is_active: row.is_active,
            created_at: decode::moment(row.created_at),
            updated_at: decode::moment(row.updated_at),
        })
    }
}

/// Decodes a stored slug.
fn slug(text: &str) -> Result<PlanSlug, StoreError> {
    PlanSlug::parse(text).map_err(StoreError::corrupt)
}

/// Returns an assignment of the application.
fn assignment<R>(
    connection: &mut AnyConnection,
    application: ApplicationId,
    id: PlanAssignmentId,
) -> Result<Option<PlanAssignment>, Abort<R>> {
    let row: Option<AssignmentRow> = subscription_nomenclatures::table
        .find(id.get())
        .filter(subscription_nomenclatures::application_id.eq(application.get()))
        .select(AssignmentRow::as_select())
        .first(connection)
        .optional()?;
    Ok(row.map(PlanAssignment::try_from).transpose()?)
}

fn of_project(project: ProjectId) -> Statement {
    // Repeats the condition of the index `nomenclatures_plans` literally.
    Statement::new("n.is_subscription = TRUE AND n.project_id = ").value(project.get())
}

/// Returns the plans of a page.
fn page_of(
    connection: &mut AnyConnection,
    project: ProjectId,
    text: Option<&Line<255>>,
    page: PageRequest,
) -> Result<Page<i64>, Abort<StoreError>> {
    let Some(text) = text else {
        return PLANS.page(connection, of_project(project), &Listing::unfiltered(Sort::ascending("id"), page));
    };
    let search = Search::new(project, text, (PLANS.from, PLANS.id, "n.name_key"), of_project(project), MAX_FOUND);
    let found = search.ranked_page(connection, page)?;
    Ok(Page { items: found.ids, total: decode::count(found.total)?, request: page })
}

/// Returns how the application offers these items, by item.
fn assignments(
    connection: &mut AnyConnection,
    application: ApplicationId,
    items: &[i64],
) -> Result<HashMap<i64, PlanAssignment>, Abort<StoreError>> {
    let rows: Vec<AssignmentRow> = subscription_nomenclatures::table
        .filter(subscription_nomenclatures::application_id.eq(application.get()))
        .filter(subscription_nomenclatures::nomenclature_id.eq_any(items.to_vec()))
        .select(AssignmentRow::as_select())
        .load(connection)?;
    let by_item = |row: AssignmentRow| Ok((row.nomenclature_id, PlanAssignment::try_from(row)?));
    Ok(rows.into_iter().map(by_item).collect::<Result<_, StoreError>>()?)
}

/// Returns the position for a new plan. Refuses if the application has the maximum number of plans. Only items that are
/// still plans are counted.
fn free_position(connection: &mut AnyConnection, application: ApplicationId) -> Result<PlanPosition, Abort<PlanError>> {
    let count: i64 = subscription_nomenclatures::table
        .inner_join(referred!(nomenclatures, subscription_nomenclatures::nomenclature_id))
        .filter(subscription_nomenclatures::application_id.eq(application.get()))
        .filter(nomenclatures::is_subscription.eq(true))
        .count()
        .get_result(connection)?;
    if count >= PlanAssignment::MAX_PER_APPLICATION {
        return Err(Abort::refused(PlanRefusal::TooMany));
    }
    let last: Option<i64> = subscription_nomenclatures::table
        .filter(subscription_nomenclatures::application_id.eq(application.get()))
        .select(diesel::dsl::max(subscription_nomenclatures::position))
        .first(connection)?;
    let last = last.map(PlanPosition::new).transpose().map_err(StoreError::corrupt)?;
    Ok(PlanPosition::after(last))
}

#[async_trait]
impl PlanRepository for Database {
    async fn catalog(
        &self,
        project: ProjectId,
        application: ApplicationId,
        text: Option<Line<255>>,
        page: PageRequest,
    ) -> Result<Page<CatalogPlan>, StoreError> {
        self.snapshot(move |connection| {
            let found = page_of(connection, project, text.as_ref(), page)?;
            let currency: String = projects::table.find(project.get()).select(projects::currency).first(connection)?;
            let mut offered = assignments(connection, application, &found.items)?;
            let items = unreadable::records(connection, "nomenclatures", &found.items, cards::load)?;
            let items = records::within(items, project);
            Ok(found.with_items(items).map(|item| CatalogPlan {
                currency: currency.clone(),
                assignment: offered.remove(&item.id.get()),
                item,
            }))
        })
        .await
    }

    async fn assign(
        &self,
        project: ProjectId,
        application: ApplicationId,
        draft: PlanDraft,
        at: DateTime<Utc>,
    ) -> Result<AssignOutcome, PlanError> {
        self.write(move |connection| {
            let item = draft.nomenclature_id.get();
            let plan = nomenclatures::table
                .find(item)
                .filter(nomenclatures::project_id.eq(project.get()))
                .filter(nomenclatures::is_subscription.eq(true));
            if !found!(connection, plan)? {
                return Err(Abort::refused(PlanRefusal::UnknownPlan));
            }
            // Concurrent additions to the application wait here, so that the count below stays valid.
            lock_rows(connection, "applications", &[application.get()])?;
            let known: Option<AssignmentRow> = subscription_nomenclatures::table
                .filter(subscription_nomenclatures::application_id.eq(application.get()))
                .filter(subscription_nomenclatures::nomenclature_id.eq(item))
                .select(AssignmentRow::as_select())
                .first(connection)
                .optional()?;
            if let Some(known) = known {
                return Ok(AssignOutcome::Existing(known.try_into()?));
            }
            let free = free_position(connection, application)?;
            connection.invalidate(Topic::Storefront, project.get());
            let id: i64 = diesel::insert_into(subscription_nomenclatures::table)
                .values((
                    subscription_nomenclatures::project_id.eq(project.get()),
                    subscription_nomenclatures::application_id.eq(application.get()),
                    subscription_nomenclatures::nomenclature_id.eq(item),
                    subscription_nomenclatures::plan_slug.eq(draft.slug().as_str()),
                    subscription_nomenclatures::position.eq(draft.position.unwrap_or(free).get()),
                    subscription_nomenclatures::is_active.eq(draft.is_active),
                    subscription_nomenclatures::created_at.eq(at.naive_utc()),
                    subscription_nomenclatures::updated_at.eq(at.naive_utc()),
                ))
                .returning(subscription_nomenclatures::id)
                .get_result(connection)
                .map_err(on_duplicate(PlanRefusal::SlugTaken))?;
            connection.note_created("subscription-nomenclatures", id);
            let new: AssignmentRow =
                subscription_nomenclatures::table.find(id).select(AssignmentRow::as_select()).first(connection)?;
            Ok(AssignOutcome::Created(new.try_into()?))
        })
        .await
    }

    async fn find(
        &self,
        application: ApplicationId,
        id: PlanAssignmentId,
    ) -> Result<Option<PlanAssignment>, StoreError> {
        self.read(move |connection| assignment(connection, application, id)).await
    }

    async fn update(
        &self,
        project: ProjectId,
        application: ApplicationId,
        id: PlanAssignmentId,
        change: PlanChange,
        at: DateTime<Utc>,
    ) -> Result<PlanAssignment, PlanError> {
        self.write(move |connection| {
            connection.invalidate(Topic::Storefront, project.get());
            let own = subscription_nomenclatures::table
                .find(id.get())
                .filter(subscription_nomenclatures::project_id.eq(project.get()))
                .filter(subscription_nomenclatures::application_id.eq(application.get()));
            let written = diesel::update(own)
                .set((
                    change.slug.as_set().map(|slug| subscription_nomenclatures::plan_slug.eq(slug.as_str())),
                    change.position.as_set().map(|place| subscription_nomenclatures::position.eq(place.get())),
                    change.is_active.as_set().map(|active| subscription_nomenclatures::is_active.eq(*active)),
                    subscription_nomenclatures::version.eq(subscription_nomenclatures::version + 1),
                    subscription_nomenclatures::updated_at.eq(at.naive_utc()),
                ))
                .execute(connection)
                .map_err(on_duplicate(PlanRefusal::SlugTaken))?;
            let changed = if written == 0 { None } else { assignment(connection, application, id)? };
            changed.ok_or(Abort::Refused(PlanError::NotFound))
        })
        .await
    }

    async fn withdraw(
        &self,
        project: ProjectId,
        application: ApplicationId,
        id: PlanAssignmentId,
    ) -> Result<(), PlanError> {
        self.write(move |connection| {
            connection.invalidate(Topic::Storefront, project.get());
            let own = subscription_nomenclatures::table
                .find(id.get())
                .filter(subscription_nomenclatures::project_id.eq(project.get()))
                .filter(subscription_nomenclatures::application_id.eq(application.get()));
            let gone = diesel::delete(own).execute(connection)?;
            if gone == 0 { Err(Abort::Refused(PlanError::NotFound)) } else { Ok(()) }
        })
        .await
    }
}

by_place! {
    /// First columns of [`offered`].
    struct PlanRow {
        id: i64,
        slug: String,
        nomenclature_id: i64,
        name: String,
        price: i64,
        months: Option<i32>,
        currency: String,
    }
}

impl TryFrom<PlanRow> for Plan {
    type Error = StoreError;

    fn try_from(row: PlanRow) -> Result<Self, StoreError> {
        let months = row.months.ok_or_else(|| StoreError::corrupt("a plan has no billing period"))?;
        Ok(Self {
            id: decode::id(row.id)?,
            slug: slug(&row.slug)?,
            nomenclature_id: decode::id(row.nomenclature_id)?,
            name: decode::owned(row.name)?,
            amount: decode::money(row.price)?,
            currency: row.currency,
            period: BillingPeriod::months(months.into()).map_err(StoreError::corrupt)?,
        })
    }
}

#[derive(QueryableByName)]
struct CardRow {
    #[diesel(embed)]
    plan: PlanRow,
    #[diesel(sql_type = Nullable<Text>)]
    article: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    description: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    characteristics: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    photos: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    category_id: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    category_name: Option<String>,
}

impl TryFrom<CardRow> for PlanCard<Prose> {
    type Error = StoreError;

    fn try_from(row: CardRow) -> Result<Self, StoreError> {
        Ok(Self {
            plan: row.plan.try_into()?,
            article: row.article.map(decode::owned).transpose()?,
            description: decode::optional_text(row.description.as_deref())?,
            characteristics: decode::optional_text(row.characteristics.as_deref())?,
            photos: row.photos.iter().flat_map(|urls| urls.split('\n')).map(photo).collect::<Result<_, _>>()?,
            category: reference(row.category_id, row.category_name)?,
        })
    }
}

/// Selects the plans that customers of the application can buy, with these additional columns.
fn offered(app: AppScope, columns: &'static str, joins: &'static str) -> Statement {
    Statement::new("SELECT s.id, s.plan_slug, n.id, n.name, n.price, n.billing_period_months, r.currency")
        .sql(columns)
        .sql(
            " FROM subscription_nomenclatures s JOIN nomenclatures n ON n.id = s.nomenclature_id \
             AND n.project_id = s.project_id \
             JOIN projects r ON r.id = n.project_id",
        )
        .sql(joins)
        .sql(" WHERE s.application_id = ")
        .value(app.application_id.get())
        .sql(" AND n.project_id = ")
        .value(app.project_id.get())
        .sql(" AND s.is_active = TRUE AND n.is_subscription = TRUE AND n.price > 0 AND n.billing_period_months <= ")
        .value(i64::from(Anchor::MAX_MONTHS))
        .sql(" ORDER BY s.position, s.id")
}

fn price_list(app: AppScope) -> Statement {
    offered(app, "", "")
}

fn cards(app: AppScope) -> Statement {
    offered(
        app,
        ", n.article, n.description, n.characteristics, (SELECT string_agg(p.url, '\n') FROM (SELECT url \
         FROM nomenclature_photos WHERE project_id = n.project_id AND nomenclature_id = n.id ORDER BY position) AS p) \
         AS photos, \
         c.id AS category_id, c.name AS category_name",
        " LEFT JOIN categories c ON c.id = n.category_id AND c.project_id = n.project_id",
    )
}

#[async_trait]
impl StorefrontPlans for Database {
    async fn plans(&self, app: AppScope) -> Result<Vec<Plan>, StoreError> {
        self.expecting(Extent::Page)
            .read(move |connection| {
                let rows: Vec<PlanRow> = price_list(app).rows(connection)?;
                Ok(unreadable::rows("subscription_nomenclatures", rows, |row| row.id, Plan::try_from)?)
            })
            .await
    }

    async fn plan_cards(&self, app: AppScope) -> Result<Vec<PlanCard<Prose>>, StoreError> {
        self.expecting(Extent::Page)
            .read(move |connection| {
                let rows: Vec<CardRow> = cards(app).rows(connection)?;
                Ok(unreadable::rows("subscription_nomenclatures", rows, |row| row.plan.id, PlanCard::try_from)?)
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::{ApplicationId, ProjectId};

    use super::*;
    use crate::database::Abort;
    use crate::testing::{Kind, TestDatabase};

    #[tokio::test]
    async fn both_lists_walk_the_index_by_position() {
        let db = TestDatabase::fresh(Kind::Sqlite);
        let (project_id, application_id) = (ProjectId::new(1).unwrap(), ApplicationId::new(1).unwrap());
        let app = AppScope { project_id, application_id, wholesale: false };
        for statement in [price_list(app), cards(app)] {
            let explained = db
                .database
                .read(move |connection| statement.clone().plan(connection).map_err(Abort::<StoreError>::Query));
            let plan = explained.await.unwrap();
            assert!(plan.contains("SEARCH s USING INDEX subscription_nomenclatures_by_position"), "{plan}");
            assert!(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN n"), "{plan}");
        }
    }
}
