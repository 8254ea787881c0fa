use std::sync::Arc;

use kontor_kernel::{
    AppScope, Clock, Permission, RecordError, Resource, ShopId, Staff, Stamp, StoreError, TabledRepository,
};

use crate::model::{Shop, StaffShop, TimesChange};
use crate::ports::{OpeningTimesStore, ShopRepository};
use crate::{ShopError, ShowcaseError};

/// The shops that an application's customers can pick up at: those of the whole project.
pub struct ShopService {
    /// Where they are kept.
    pub shops: Arc<dyn ShopRepository>,
}

impl ShopService {
    /// Every open shop.
    pub async fn list(&self, app: AppScope) -> Result<Vec<Shop>, StoreError> {
        self.shops.list(app.project_id).await
    }

    /// One open shop.
    pub async fn read(&self, app: AppScope, id: ShopId) -> Result<Shop, ShowcaseError> {
        self.shops.find(app.project_id, id).await?.ok_or(ShowcaseError::NotFound)
    }
}

/// What staff do with the opening times of shops.
pub struct OpeningTimesService {
    /// Where shops are kept.
    pub shops: Arc<dyn TabledRepository<StaffShop>>,
    /// Where their times are kept.
    pub times: Arc<dyn OpeningTimesStore>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl OpeningTimesService {
    /// Changes the opening times of a shop of the employee's project. Answers the shop, and the number of what was added or
    /// changed.
    pub async fn change(&self, staff: &Staff, id: ShopId, change: TimesChange) -> Result<(StaffShop, i64), ShopError> {
        staff.require(Permission::edit(Resource::Shops))?;
        staff.own::<_, crate::ShopRefusal>(self.shops.find(id).await?)?;
        let changed = self.times.change_times(Stamp::of(staff, self.clock.now()), id, change).await;
        // A number in a path that names none of the shop's.
        changed.map_err(|error| match error {
            RecordError::Refused(crate::ShopRefusal::Times(crate::model::TimesRefused::Unknown)) => {
                RecordError::NotFound
            }
            error => error,
        })
    }
}
