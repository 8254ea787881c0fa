use std::sync::Arc;

use kontor_kernel::{AppScope, ShopId, StoreError};

use crate::ShowcaseError;
use crate::model::Shop;
use crate::ports::ShopRepository;

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
