use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{ProjectId, ShopId, StoreError};
use kontor_organization::model::Shop;
use kontor_organization::ports::ShopRepository;

use crate::database::{Abort, Database};
use crate::decode;
use crate::schema::shops;

#[derive(Queryable, Selectable)]
#[diesel(table_name = shops)]
struct ShopRow {
    id: i64,
    name: String,
    address: String,
    phone: Option<String>,
    photo: Option<String>,
    latitude: Option<String>,
    longitude: Option<String>,
    created_at: NaiveDateTime,
}

impl TryFrom<ShopRow> for Shop {
    type Error = StoreError;

    fn try_from(row: ShopRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            address: row.address,
            phone: row.phone,
            photo: row.photo,
            latitude: row.latitude,
            longitude: row.longitude,
            created_at: decode::moment(row.created_at),
        })
    }
}

#[async_trait]
impl ShopRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<Shop>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<ShopRow> = shops::table
                .filter(shops::project_id.eq(project.get()))
                .filter(shops::is_active.eq(true))
                .order(shops::id)
                .select(ShopRow::as_select())
                .load(connection)?;
            rows.into_iter().map(|row| row.try_into().map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn find(&self, project: ProjectId, id: ShopId) -> Result<Option<Shop>, StoreError> {
        self.read(move |connection| {
            let row: Option<ShopRow> = shops::table
                .find(id.get())
                .filter(shops::project_id.eq(project.get()))
                .filter(shops::is_active.eq(true))
                .select(ShopRow::as_select())
                .first(connection)
                .optional()?;
            Ok(row.map(Shop::try_from).transpose()?)
        })
        .await
    }
}
