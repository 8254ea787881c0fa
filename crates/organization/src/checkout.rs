use std::sync::Arc;

use kontor_kernel::{AppScope, DeliverySubtypeId, DeliveryTypeId, StoreError};

use crate::ShowcaseError;
use crate::model::{DeliverySubtype, DeliverySubtypeParam, DeliveryType, PaymentType};
use crate::ports::CheckoutOptionRepository;

/// Delivery and payment options of an application's customers. Inactive options are listed with their state.
pub struct CheckoutOptions {
    /// Storage of delivery and payment types.
    pub options: Arc<dyn CheckoutOptionRepository>,
}

impl CheckoutOptions {
    /// Returns every delivery type.
    pub async fn delivery_types(&self, app: AppScope) -> Result<Vec<DeliveryType>, StoreError> {
        self.options.delivery_types(app.project_id).await
    }

    /// Returns one delivery type.
    pub async fn delivery_type(&self, app: AppScope, id: DeliveryTypeId) -> Result<DeliveryType, ShowcaseError> {
        let types = self.options.delivery_types(app.project_id).await?;
        types.into_iter().find(|kind| kind.id == id).ok_or(ShowcaseError::NotFound)
    }

    /// Returns the subtypes of a delivery type.
    pub async fn subtypes(&self, app: AppScope, id: DeliveryTypeId) -> Result<Vec<DeliverySubtype>, ShowcaseError> {
        self.delivery_type(app, id).await?;
        Ok(self.options.delivery_subtypes(app.project_id, id).await?)
    }

    /// Returns one subtype. The contract does not check it against a type.
    pub async fn subtype(&self, app: AppScope, id: DeliverySubtypeId) -> Result<DeliverySubtype, ShowcaseError> {
        self.options.delivery_subtype(app.project_id, id).await?.ok_or(ShowcaseError::NotFound)
    }

    /// Returns the parameters of a subtype.
    pub async fn params(
        &self,
        app: AppScope,
        id: DeliverySubtypeId,
    ) -> Result<Vec<DeliverySubtypeParam>, ShowcaseError> {
        self.subtype(app, id).await?;
        Ok(self.options.delivery_subtype_params(app.project_id, id).await?)
    }

    /// Returns the payment types that the application accepts.
    pub async fn payment_types(&self, app: AppScope) -> Result<Vec<PaymentType>, StoreError> {
        self.options.payment_types(app).await
    }
}
