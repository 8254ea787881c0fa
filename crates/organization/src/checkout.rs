use std::sync::Arc;

use kontor_kernel::{
    AppScope, DeliverySubtypeId, DeliverySubtypeParamId, DeliveryTypeId, Money, Name, PaymentTypeId, StoreError,
};

use crate::ShowcaseError;
use crate::ports::CheckoutOptionRepository;

/// Delivery type: `1` pickup from a shop, `2` delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryType {
    /// Identifier, the same in every project.
    pub id: DeliveryTypeId,
    /// Name.
    pub name: Name,
    /// Price. Orders include it if the project charges delivery.
    pub price: Money,
    /// `true` if orders may choose it.
    pub is_active: bool,
}

/// Delivery subtype: `1` to a pickup point, `2` by courier to an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverySubtype {
    /// Identifier, the same in every project.
    pub id: DeliverySubtypeId,
    /// Name.
    pub name: Name,
    /// Price.
    pub price: Money,
    /// `true` if orders may choose it.
    pub is_active: bool,
}

/// Parameter of a subtype, such as a pickup point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliverySubtypeParam {
    /// Identifier.
    pub id: DeliverySubtypeParamId,
    /// Name.
    pub name: Name,
    /// Address.
    pub address: Option<String>,
    /// `true` if orders may choose it.
    pub is_active: bool,
}

/// Payment type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentType {
    /// Identifier.
    pub id: PaymentTypeId,
    /// Name.
    pub name: Name,
    /// Description for the customer.
    pub description: Option<String>,
    /// Picture.
    pub photo: Option<String>,
    /// `true` if it is paid on the acquirer's page. An order with it names a payment method.
    pub is_online: bool,
}

/// Payment type of a project, with its state in an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentChoice {
    /// Payment type.
    pub payment_type: PaymentType,
    /// `true` if the application accepts it.
    pub is_taken: bool,
}

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
