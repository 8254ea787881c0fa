//! What the demo project has besides what staff can enter over HTTP: a shop, a pickup point, a promo code.

use chrono::DateTime;
use diesel::prelude::*;
use kontor_kernel::{ProjectId, StoreError};

use crate::database::invalidation::{Topic, invalidate};
use crate::database::{Abort, Database};
use crate::schema::{branches, delivery_subtype_params, discounts, shops};

/// What is added to the demo project.
#[derive(Debug, Clone)]
pub struct DemoData {
    /// A shop to pick orders up at.
    pub shop: Shop,
    /// A pickup point of delivery subtype 1.
    pub pickup_point: PickupPoint,
    /// A promo code for the whole cart.
    pub promo: PromoCode,
}

/// A shop.
#[derive(Debug, Clone)]
pub struct Shop {
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
    /// Its name.
    pub name: &'static str,
    /// Where it is.
    pub address: &'static str,
}

/// A promo code.
#[derive(Debug, Clone)]
pub struct PromoCode {
    /// What the customer types.
    pub code: &'static str,
    /// What staff call it.
    pub name: &'static str,
    /// Hundredths of a per cent.
    pub basis_points: i64,
    /// How many orders may use it.
    pub usage_limit: i64,
}

impl Database {
    /// Adds it to a project in one transaction.
    pub async fn add_demo_data(&self, project: ProjectId, data: DemoData) -> Result<(), StoreError> {
        self.write(move |connection| {
            invalidate(Topic::Storefront, project.get());
            let at = DateTime::UNIX_EPOCH.naive_utc();
            let branch: i64 = branches::table
                .filter(branches::project_id.eq(project.get()))
                .order(branches::id)
                .select(branches::id)
                .first(connection)?;
            diesel::insert_into(shops::table)
                .values((
                    shops::project_id.eq(project.get()),
                    shops::branch_id.eq(branch),
                    shops::name.eq(data.shop.name),
                    shops::address.eq(data.shop.address),
                    shops::phone.eq(data.shop.phone),
                    shops::is_active.eq(true),
                    shops::created_at.eq(at),
                    shops::updated_at.eq(at),
                ))
                .execute(connection)?;
            diesel::insert_into(delivery_subtype_params::table)
                .values((
                    delivery_subtype_params::project_id.eq(project.get()),
                    delivery_subtype_params::delivery_subtype_id.eq(1),
                    delivery_subtype_params::name.eq(data.pickup_point.name),
                    delivery_subtype_params::address.eq(data.pickup_point.address),
                    delivery_subtype_params::is_active.eq(true),
                ))
                .execute(connection)?;
            diesel::insert_into(discounts::table)
                .values((
                    discounts::project_id.eq(project.get()),
                    discounts::name.eq(data.promo.name),
                    discounts::name_key.eq(data.promo.name.to_lowercase()),
                    discounts::code.eq(data.promo.code),
                    discounts::kind.eq("percent"),
                    discounts::value.eq(data.promo.basis_points),
                    discounts::target.eq("cart"),
                    discounts::minimum_sum.eq(0),
                    discounts::usage_limit.eq(data.promo.usage_limit),
                    discounts::used_count.eq(0),
                    discounts::status.eq("active"),
                    discounts::created_at.eq(at),
                    discounts::updated_at.eq(at),
                ))
                .execute(connection)?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }
}
