use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{
    AppScope, ApplicationId, DeliverySubtypeId, DeliveryTypeId, PaymentTypeId, ProjectId, ProjectScoped, StoreError,
};
use kontor_organization::ApplicationError;
use kontor_organization::model::{DeliverySubtype, DeliverySubtypeParam, DeliveryType, PaymentChoice, PaymentType};
use kontor_organization::ports::CheckoutOptionRepository;

use super::payment_types as taken;
use crate::database::{Abort, Database};
use crate::decode;
use crate::schema::{delivery_subtype_params, delivery_subtypes, delivery_types};

type OptionRow = (i64, String, i64, bool);

fn delivery_type((id, name, price, is_active): OptionRow) -> Result<DeliveryType, StoreError> {
    Ok(DeliveryType { id: decode::id(id)?, name: decode::text(&name)?, price: decode::money(price)?, is_active })
}

fn subtype((id, name, price, is_active): OptionRow) -> Result<DeliverySubtype, StoreError> {
    Ok(DeliverySubtype { id: decode::id(id)?, name: decode::text(&name)?, price: decode::money(price)?, is_active })
}

const SUBTYPE: (
    delivery_subtypes::id,
    delivery_subtypes::name,
    delivery_subtypes::price,
    delivery_subtypes::is_active,
) = (delivery_subtypes::id, delivery_subtypes::name, delivery_subtypes::price, delivery_subtypes::is_active);

#[async_trait]
impl CheckoutOptionRepository for Database {
    async fn delivery_types(&self, project: ProjectId) -> Result<Vec<DeliveryType>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<OptionRow> = delivery_types::table
                .filter(delivery_types::project_id.eq(project.get()))
                .order(delivery_types::id)
                .select((delivery_types::id, delivery_types::name, delivery_types::price, delivery_types::is_active))
                .load(connection)?;
            rows.into_iter().map(|row| delivery_type(row).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn delivery_subtypes(
        &self,
        project: ProjectId,
        delivery_type: DeliveryTypeId,
    ) -> Result<Vec<DeliverySubtype>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<OptionRow> = delivery_subtypes::table
                .filter(delivery_subtypes::project_id.eq(project.get()))
                .filter(delivery_subtypes::delivery_type_id.eq(delivery_type.get()))
                .order(delivery_subtypes::id)
                .select(SUBTYPE)
                .load(connection)?;
            rows.into_iter().map(|row| subtype(row).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn delivery_subtype(
        &self,
        project: ProjectId,
        id: DeliverySubtypeId,
    ) -> Result<Option<DeliverySubtype>, StoreError> {
        self.read(move |connection| {
            let row: Option<OptionRow> = delivery_subtypes::table
                .find((project.get(), id.get()))
                .select(SUBTYPE)
                .first(connection)
                .optional()?;
            Ok(row.map(subtype).transpose()?)
        })
        .await
    }

    async fn delivery_subtype_params(
        &self,
        project: ProjectId,
        subtype: DeliverySubtypeId,
    ) -> Result<Vec<DeliverySubtypeParam>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<(i64, String, Option<String>, bool)> = delivery_subtype_params::table
                .filter(delivery_subtype_params::project_id.eq(project.get()))
                .filter(delivery_subtype_params::delivery_subtype_id.eq(subtype.get()))
                .order(delivery_subtype_params::id)
                .select((
                    delivery_subtype_params::id,
                    delivery_subtype_params::name,
                    delivery_subtype_params::address,
                    delivery_subtype_params::is_active,
                ))
                .load(connection)?;
            rows.into_iter()
                .map(|(id, name, address, is_active)| {
                    Ok(DeliverySubtypeParam { id: decode::id(id)?, name: decode::text(&name)?, address, is_active })
                })
                .collect()
        })
        .await
    }

    async fn payment_types(&self, app: AppScope) -> Result<Vec<PaymentType>, StoreError> {
        self.read(move |connection| taken::of_application(connection, app)).await
    }

    async fn payment_choices(&self, id: ApplicationId) -> Result<Option<Vec<PaymentChoice>>, StoreError> {
        self.read(move |connection| Ok(taken::choices(connection, id.get())?.map(|(_, choices)| choices))).await
    }

    async fn scoped_payment_choices(
        &self,
        id: ApplicationId,
    ) -> Result<Option<ProjectScoped<Vec<PaymentChoice>>>, StoreError> {
        self.read(move |connection| {
            let found = taken::choices(connection, id.get())?;
            Ok::<_, Abort<StoreError>>(found.map(|(project, choices)| ProjectScoped::new(project, choices)))
        })
        .await
    }

    async fn choose_payment_types(
        &self,
        id: ApplicationId,
        chosen: BTreeSet<PaymentTypeId>,
        at: DateTime<Utc>,
    ) -> Result<(), ApplicationError> {
        self.write(move |connection| taken::choose(connection, id.get(), &chosen, at.naive_utc())).await
    }
}
