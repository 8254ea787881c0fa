use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::{
    AppScope, Clock, ListedDeletableRepository, Name, Permission, RecordError, Resource, ShopId, Staff, Stamp,
    StoreError,
};

use crate::model::{StaffShop, TimesChange};
use crate::ports::{OpeningTimesStore, ShopRepository};
use crate::{ShopError, ShowcaseError};

/// Shop where customers pick up orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shop {
    /// Identifier.
    pub id: ShopId,
    /// Name.
    pub name: Name,
    /// Address.
    pub address: String,
    /// Phone.
    pub phone: Option<String>,
    /// Picture.
    pub photo: Option<String>,
    /// Latitude in decimal degrees.
    pub latitude: Option<String>,
    /// Longitude in decimal degrees.
    pub longitude: Option<String>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// Shops where an application's customers can pick up orders: those of the whole project.
pub struct ShopService {
    /// Storage of shops.
    pub shops: Arc<dyn ShopRepository>,
}

impl ShopService {
    /// Returns every active shop.
    pub async fn list(&self, app: AppScope) -> Result<Vec<Shop>, StoreError> {
        self.shops.list(app.project_id).await
    }

    /// Returns one active shop.
    pub async fn read(&self, app: AppScope, id: ShopId) -> Result<Shop, ShowcaseError> {
        self.shops.find(app.project_id, id).await?.ok_or(ShowcaseError::NotFound)
    }
}

/// Use cases of the opening times of shops, for staff.
pub struct OpeningTimesService {
    /// Storage of shops.
    pub shops: Arc<dyn ListedDeletableRepository<StaffShop>>,
    /// Storage of opening times.
    pub times: Arc<dyn OpeningTimesStore>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl OpeningTimesService {
    /// Changes the opening times of a shop of the employee's project. Returns the shop, and the number of the
    /// added or changed record.
    pub async fn change(&self, staff: &Staff, id: ShopId, change: TimesChange) -> Result<(StaffShop, i64), ShopError> {
        staff.require(Permission::edit(Resource::Shops))?;
        staff.require_own::<_, crate::ShopRefusal>(self.shops.find(id).await?)?;
        let changed = self.times.change_times(Stamp::of(staff, self.clock.now()), id, change).await;
        // The number in the path belongs to no record of the shop.
        changed.map_err(|error| match error {
            RecordError::Refused(crate::ShopRefusal::Times(crate::model::TimesRefused::Unknown)) => {
                RecordError::NotFound
            }
            error => error,
        })
    }
}
