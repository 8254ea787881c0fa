//! The demo project: what is there of it, and what it has beside what staff can enter over HTTP.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{ProjectId, StoreError};
use kontor_organization::model::PlannedPaymentType;

use crate::collation::sort_key;
use crate::database::invalidation::{Topic, invalidate};
use crate::database::{Abort, AnyConnection, Database, found};
use crate::organization::projects::{insert_delivery_subtype, insert_delivery_type, insert_payment_type};
use crate::schema::{
    application_brands, application_categories, applications, branches, brands, categories, delivery_subtype_params,
    delivery_subtypes, delivery_types, discounts, inventories, nomenclatures, payment_types, roles, shops,
    subscription_nomenclatures, users, warehouse_applications, warehouses, webhooks,
};

/// How the demo project is known again, whatever else has the same number in another database.
#[derive(Debug, Clone)]
pub struct DemoIdentity {
    /// The login of its employee.
    pub login: String,
    /// The fingerprint of the token of its application.
    pub token_fingerprint: String,
}

/// A record and what it is called.
pub type NamedRow = (i64, String);

/// What is there of the demo project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DemoProject {
    /// Whether the employee of the identity may do everything.
    pub owner_is_in: bool,
    /// The application whose token it is, unless it is shut out.
    pub application: Option<i64>,
    /// The oldest branch.
    pub branch: Option<i64>,
    /// Warehouses by name.
    pub warehouses: Vec<NamedRow>,
    /// Categories: number, parent, name.
    pub categories: Vec<(i64, Option<i64>, String)>,
    /// Brands by name.
    pub brands: Vec<NamedRow>,
    /// Cards that have an article.
    pub cards: Vec<DemoCard>,
    /// Which card has a stock record in which warehouse.
    pub stocked: Vec<(i64, i64)>,
    /// Which warehouse is sold from by which application.
    pub served: Vec<(i64, i64)>,
    /// Discounts by promo code, whatever their state; one without is called nothing.
    pub discounts: Vec<NamedRow>,
    /// What the application shows.
    pub shown_categories: Vec<i64>,
    /// What the application shows.
    pub shown_brands: Vec<i64>,
    /// Plans that the application offers, or once did: card and slug.
    pub plans: Vec<NamedRow>,
    /// Webhooks of the application by address.
    pub webhooks: Vec<NamedRow>,
}

/// A card with an article.
#[derive(Debug, Clone, PartialEq, Eq, Queryable)]
pub struct DemoCard {
    /// Its number.
    pub id: i64,
    /// Its article.
    pub article: String,
    /// Its category.
    pub category: Option<i64>,
    /// Its brand.
    pub brand: Option<i64>,
}

/// What nobody can enter over HTTP.
#[derive(Debug, Clone)]
pub struct DemoData {
    /// A shop to pick orders up at.
    pub shop: Shop,
    /// A pickup point of delivery subtype 1.
    pub pickup_point: PickupPoint,
    /// Delivery types and their subtypes.
    pub delivery_types: Vec<(i64, &'static str)>,
    /// Number, type, name.
    pub delivery_subtypes: Vec<(i64, i64, &'static str)>,
    /// Name and description.
    pub payment_types: Vec<PlannedPaymentType>,
}

/// A shop.
#[derive(Debug, Clone)]
pub struct Shop {
    /// The record that was made for it earlier.
    pub known: Option<i64>,
    /// Its name.
    pub name: &'static str,
    /// Where it is.
    pub address: &'static str,
    /// Its phone, eleven digits.
    pub phone: &'static str,
}

/// A pickup point.
#[derive(Debug, Clone)]
pub struct PickupPoint {
    /// The record that was made for it earlier.
    pub known: Option<i64>,
    /// Its name.
    pub name: &'static str,
    /// Where it is.
    pub address: &'static str,
}

/// The records that were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedDemoData {
    /// The shop.
    pub shop: i64,
    /// The pickup point.
    pub pickup_point: i64,
}

impl Database {
    /// What is there of a project; `None` when there is none of this identity.
    pub async fn demo_project(
        &self,
        project: ProjectId,
        identity: DemoIdentity,
    ) -> Result<Option<DemoProject>, StoreError> {
        self.read(move |connection| {
            let project = project.get();
            let staffed = users::table.filter(users::project_id.eq(project)).filter(users::login.eq(&identity.login));
            let application = applications::table
                .filter(applications::project_id.eq(project))
                .filter(applications::token_fingerprint.eq(&identity.token_fingerprint))
                .select((applications::id, applications::is_active))
                .first::<(i64, bool)>(connection)
                .optional()?;
            if application.is_none() && !found!(connection, staffed)? {
                return Ok(None);
            }
            let application = application.filter(|(_, is_active)| *is_active).map(|(id, _)| id);
            Ok::<_, Abort<StoreError>>(Some(DemoProject {
                owner_is_in: owner_is_in(connection, project, &identity.login)?,
                application,
                ..catalogue(connection, project, application.unwrap_or_default())?
            }))
        })
        .await
    }

    /// Adds what is missing of it, in one step, and leaves alone what is there, whatever became of it.
    pub async fn add_demo_data(
        &self,
        project: ProjectId,
        data: DemoData,
        at: DateTime<Utc>,
    ) -> Result<AddedDemoData, StoreError> {
        self.write_long(move |connection| {
            let (project, at) = (project.get(), at.naive_utc());
            add_checkout_options(connection, project, &data)?;
            let shop = match existing_shop(connection, project, &data.shop)? {
                Some(shop) => shop,
                None => add_shop(connection, project, &data.shop, at)?,
            };
            let pickup_point = match existing_point(connection, project, &data.pickup_point)? {
                Some(point) => point,
                None => add_point(connection, project, &data.pickup_point)?,
            };
            Ok::<_, Abort<StoreError>>(AddedDemoData { shop, pickup_point })
        })
        .await
    }
}

fn owner_is_in(connection: &mut AnyConnection, project: i64, login: &str) -> QueryResult<bool> {
    let owner = users::table
        .inner_join(roles::table.on(roles::id.eq(users::role_id)))
        .filter(users::project_id.eq(project))
        .filter(users::login.eq(login))
        .filter(users::is_banned.eq(false))
        .filter(users::deleted_at.is_null())
        .filter(roles::is_owner.eq(true));
    found!(connection, owner)
}

fn catalogue(connection: &mut AnyConnection, project: i64, application: i64) -> QueryResult<DemoProject> {
    Ok(DemoProject {
        branch: branches::table
            .filter(branches::project_id.eq(project))
            .order(branches::id)
            .select(branches::id)
            .first(connection)
            .optional()?,
        warehouses: warehouses::table
            .filter(warehouses::project_id.eq(project))
            .filter(warehouses::deleted_at.is_null())
            .select((warehouses::id, warehouses::name))
            .load(connection)?,
        categories: categories::table
            .filter(categories::project_id.eq(project))
            .select((categories::id, categories::parent_id, categories::name))
            .load(connection)?,
        brands: brands::table
            .filter(brands::project_id.eq(project))
            .select((brands::id, brands::name))
            .load(connection)?,
        cards: nomenclatures::table
            .filter(nomenclatures::project_id.eq(project))
            .filter(nomenclatures::article.is_not_null())
            .select((
                nomenclatures::id,
                nomenclatures::article.assume_not_null(),
                nomenclatures::category_id,
                nomenclatures::brand_id,
            ))
            .load(connection)?,
        stocked: inventories::table
            .filter(inventories::project_id.eq(project))
            .filter(inventories::deleted_at.is_null())
            .select((inventories::nomenclature_id, inventories::warehouse_id))
            .load(connection)?,
        served: warehouse_applications::table
            .inner_join(warehouses::table.on(warehouses::id.eq(warehouse_applications::warehouse_id)))
            .filter(warehouses::project_id.eq(project))
            .select((warehouse_applications::warehouse_id, warehouse_applications::application_id))
            .load(connection)?,
        discounts: discounts::table
            .filter(discounts::project_id.eq(project))
            .select((discounts::id, discounts::code))
            .load::<(i64, Option<String>)>(connection)?
            .into_iter()
            .map(|(id, code)| (id, code.unwrap_or_default()))
            .collect(),
        shown_categories: application_categories::table
            .filter(application_categories::application_id.eq(application))
            .select(application_categories::category_id)
            .load(connection)?,
        shown_brands: application_brands::table
            .filter(application_brands::application_id.eq(application))
            .select(application_brands::brand_id)
            .load(connection)?,
        plans: subscription_nomenclatures::table
            .filter(subscription_nomenclatures::application_id.eq(application))
            .select((subscription_nomenclatures::nomenclature_id, subscription_nomenclatures::plan_slug))
            .load(connection)?,
        webhooks: webhooks::table
            .filter(webhooks::application_id.eq(application))
            .select((webhooks::id, webhooks::url))
            .load(connection)?,
        ..DemoProject::default()
    })
}

fn add_checkout_options(connection: &mut AnyConnection, project: i64, data: &DemoData) -> QueryResult<()> {
    for (id, name) in &data.delivery_types {
        if !found!(connection, delivery_types::table.find((project, *id)))? {
            insert_delivery_type(connection, project, *id, name)?;
        }
    }
    for (id, delivery_type, name) in &data.delivery_subtypes {
        if !found!(connection, delivery_subtypes::table.find((project, *id)))? {
            insert_delivery_subtype(connection, project, *id, *delivery_type, name)?;
        }
    }
    for planned in &data.payment_types {
        let own = payment_types::table.filter(payment_types::project_id.eq(project));
        let same = own.filter(payment_types::name.eq(planned.name));
        if !found!(connection, same)? {
            insert_payment_type(connection, project, planned)?;
        }
    }
    Ok(())
}

/// The known record if there still is one, else one of the same name.
fn existing_shop(connection: &mut AnyConnection, project: i64, shop: &Shop) -> QueryResult<Option<i64>> {
    let of_project = shops::table.filter(shops::project_id.eq(project)).select(shops::id);
    let known = of_project.filter(shops::id.eq(shop.known.unwrap_or_default())).first(connection).optional()?;
    match known {
        Some(known) => Ok(Some(known)),
        None => of_project.filter(shops::name.eq(shop.name)).order(shops::id).first(connection).optional(),
    }
}

fn add_shop(connection: &mut AnyConnection, project: i64, shop: &Shop, at: NaiveDateTime) -> QueryResult<i64> {
    invalidate(Topic::Storefront, project);
    let branch: i64 = branches::table
        .filter(branches::project_id.eq(project))
        .order(branches::id)
        .select(branches::id)
        .first(connection)?;
    diesel::insert_into(shops::table)
        .values((
            shops::project_id.eq(project),
            shops::branch_id.eq(branch),
            shops::name_key.eq(shop.name.to_lowercase()),
            shops::sort_key.eq(sort_key(shop.name)),
            shops::name.eq(shop.name),
            shops::address.eq(shop.address),
            shops::phone.eq(shop.phone),
            shops::is_active.eq(true),
            shops::created_at.eq(at),
            shops::updated_at.eq(at),
        ))
        .returning(shops::id)
        .get_result(connection)
}

fn existing_point(connection: &mut AnyConnection, project: i64, point: &PickupPoint) -> QueryResult<Option<i64>> {
    let points = delivery_subtype_params::table
        .filter(delivery_subtype_params::project_id.eq(project))
        .select(delivery_subtype_params::id);
    let known = points.filter(delivery_subtype_params::id.eq(point.known.unwrap_or_default()));
    match known.first(connection).optional()? {
        Some(known) => Ok(Some(known)),
        None => points
            .filter(delivery_subtype_params::name.eq(point.name))
            .order(delivery_subtype_params::id)
            .first(connection)
            .optional(),
    }
}

fn add_point(connection: &mut AnyConnection, project: i64, point: &PickupPoint) -> QueryResult<i64> {
    diesel::insert_into(delivery_subtype_params::table)
        .values((
            delivery_subtype_params::project_id.eq(project),
            delivery_subtype_params::delivery_subtype_id.eq(1),
            delivery_subtype_params::name.eq(point.name),
            delivery_subtype_params::address.eq(point.address),
            delivery_subtype_params::is_active.eq(true),
        ))
        .returning(delivery_subtype_params::id)
        .get_result(connection)
}
