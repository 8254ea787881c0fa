//! Demo project: its stored records, and the records that staff cannot enter over HTTP.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{ProjectId, StoreError};
use kontor_organization::model::PlannedPaymentType;

use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, Topic, found};
use crate::organization::projects::{insert_delivery_subtype, insert_delivery_type, insert_payment_type};
use crate::schema::{
    application_brands, application_categories, applications, branches, brands, categories, delivery_subtype_params,
    delivery_subtypes, delivery_types, discounts, inventories, nomenclatures, payment_types, referred, roles, shops,
    subscription_nomenclatures, users, warehouse_applications, warehouses, webhooks,
};

/// Identity of the demo project. It distinguishes the project from another one with the same number in another
/// database.
#[derive(Debug, Clone)]
pub struct DemoIdentity {
    /// Login of its employee.
    pub login: String,
    /// Fingerprint of the token of its application.
    pub token_fingerprint: String,
}

/// Number and name of a record.
pub type NamedRow = (i64, String);

/// Stored records of the demo project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DemoProject {
    /// `true` if the employee of the identity has all permissions.
    pub owner_is_in: bool,
    /// Application with the token of the identity, if it is active.
    pub application: Option<i64>,
    /// Oldest branch.
    pub branch: Option<i64>,
    /// Warehouses by name.
    pub warehouses: Vec<NamedRow>,
    /// Categories: number, parent, name.
    pub categories: Vec<(i64, Option<i64>, String)>,
    /// Brands by name.
    pub brands: Vec<NamedRow>,
    /// Items that have an article.
    pub cards: Vec<DemoCard>,
    /// Stock levels: item, warehouse.
    pub stocked: Vec<(i64, i64)>,
    /// Warehouses that applications sell from: warehouse, application.
    pub served: Vec<(i64, i64)>,
    /// Discounts in any state, by promo code; the name is empty if there is no code.
    pub discounts: Vec<NamedRow>,
    /// Categories that the application shows.
    pub shown_categories: Vec<i64>,
    /// Brands that the application shows.
    pub shown_brands: Vec<i64>,
    /// Current and former plans of the application: item, slug.
    pub plans: Vec<NamedRow>,
    /// Webhooks of the application, by URL.
    pub webhooks: Vec<NamedRow>,
}

/// Item with an article.
#[derive(Debug, Clone, PartialEq, Eq, Queryable)]
pub struct DemoCard {
    /// Number.
    pub id: i64,
    /// Article.
    pub article: String,
    /// Category.
    pub category: Option<i64>,
    /// Brand.
    pub brand: Option<i64>,
}

/// Records that cannot be entered over HTTP.
#[derive(Debug, Clone)]
pub struct DemoData {
    /// Shop for pickup of orders.
    pub shop: Shop,
    /// Pickup point of delivery subtype 1.
    pub pickup_point: PickupPoint,
    /// Delivery types: number, name.
    pub delivery_types: Vec<(i64, &'static str)>,
    /// Delivery subtypes: number, delivery type, name.
    pub delivery_subtypes: Vec<(i64, i64, &'static str)>,
    /// Payment types.
    pub payment_types: Vec<PlannedPaymentType>,
}

/// Shop.
#[derive(Debug, Clone)]
pub struct Shop {
    /// Record created for it earlier.
    pub known: Option<i64>,
    /// Name.
    pub name: &'static str,
    /// Address.
    pub address: &'static str,
    /// Phone, eleven digits.
    pub phone: &'static str,
}

/// Pickup point.
#[derive(Debug, Clone)]
pub struct PickupPoint {
    /// Record created for it earlier.
    pub known: Option<i64>,
    /// Name.
    pub name: &'static str,
    /// Address.
    pub address: &'static str,
}

/// Added records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedDemoData {
    /// Shop.
    pub shop: i64,
    /// Pickup point.
    pub pickup_point: i64,
}

impl Database {
    /// Returns the stored records of the demo project; `None` if no project has this identity.
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
                owner_is_in: has_owner(connection, project, &identity.login)?,
                application,
                ..catalogue(connection, project, application.unwrap_or_default())?
            }))
        })
        .await
    }

    /// Adds the missing records in one transaction. Existing records stay unchanged in any state.
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

fn has_owner(connection: &mut AnyConnection, project: i64, login: &str) -> QueryResult<bool> {
    let owner = users::table
        .inner_join(referred!(roles, users::role_id))
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
            .inner_join(referred!(warehouses, warehouse_applications::warehouse_id))
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

/// Returns the known record if it still exists, else one with the same name.
fn existing_shop(connection: &mut AnyConnection, project: i64, shop: &Shop) -> QueryResult<Option<i64>> {
    let of_project = shops::table.filter(shops::project_id.eq(project)).select(shops::id);
    let known = of_project.filter(shops::id.eq(shop.known.unwrap_or_default())).first(connection).optional()?;
    match known {
        Some(known) => Ok(Some(known)),
        None => of_project.filter(shops::name.eq(shop.name)).order(shops::id).first(connection).optional(),
    }
}

fn add_shop(connection: &mut AnyConnection, project: i64, shop: &Shop, at: NaiveDateTime) -> QueryResult<i64> {
    connection.invalidate(Topic::Storefront, project);
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
