//! Subscription plans that an application offers to its customers.

use async_trait::async_trait;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Nullable, Text};
use kontor_catalog::model::BillingPeriod;
use kontor_catalog::storefront::ports::StorefrontPlans;
use kontor_catalog::storefront::{Plan, PlanCard};
use kontor_kernel::{AppScope, Prose, StoreError};
use kontor_subscriptions::Anchor;

use super::plans::slug;
use super::storefront::{photo, reference};
use crate::database::{Database, Extent};
use crate::decode;
use crate::statement::{Statement, by_place};
use crate::unreadable;

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
         FROM nomenclature_photos WHERE nomenclature_id = n.id ORDER BY position) AS p) AS photos, \
         c.id AS category_id, c.name AS category_name",
        " LEFT JOIN categories c ON c.id = n.category_id",
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
    use super::*;
    use crate::database::Abort;
    use crate::testing::{Kind, TestDatabase};
    use kontor_kernel::{ApplicationId, ProjectId};

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
