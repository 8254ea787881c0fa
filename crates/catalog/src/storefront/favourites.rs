use std::sync::Arc;

use kontor_kernel::{Clock, CustomerScope, NomenclatureId, Page, PageRequest, StoreError};

use super::ports::{Favourites, Keeping};
use super::{Product, ProductCard, StorefrontError, StorefrontService};

/// Why a use case of favourites is refused.
#[derive(Debug, thiserror::Error)]
pub enum FavouriteError {
    /// The application sells no such product, or the customer does not keep it.
    #[error("there is no such product")]
    NotFound,
    /// The product to keep is none that the application sells.
    #[error("the application sells no such product")]
    UnknownProduct,
    /// The customer has left meanwhile.
    #[error("the customer has left")]
    CustomerLeft,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<StorefrontError> for FavouriteError {
    fn from(error: StorefrontError) -> Self {
        match error {
            StorefrontError::NotFound => Self::NotFound,
            StorefrontError::Store(error) => Self::Store(error),
        }
    }
}

/// How many favourites the record of a customer tells.
const TOLD: u32 = 100;

/// Products that customers keep.
pub struct FavouriteService {
    /// Where they are kept.
    pub favourites: Arc<dyn Favourites>,
    /// What the application shows.
    pub storefront: Arc<StorefrontService>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl FavouriteService {
    /// One page of what the customer keeps and the application shows, kept last first.
    pub async fn list(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Product>, FavouriteError> {
        Ok(self.favourites.page(customer, page, self.clock.now()).await?)
    }

    /// Those that the customer's own record tells: the first of the list, at most 100.
    pub async fn products(&self, customer: CustomerScope) -> Result<Vec<Product>, FavouriteError> {
        Ok(self.favourites.latest(customer, TOLD, self.clock.now()).await?)
    }

    /// A product the application shows or has sold out, whether the customer keeps it or not. It is not counted as looked
    /// at.
    pub async fn read(&self, customer: CustomerScope, id: NomenclatureId) -> Result<ProductCard, FavouriteError> {
        Ok(self.storefront.card(customer.into(), id).await?)
    }

    /// Keeps a product. Gives its card and whether it was added just now.
    pub async fn add(
        &self,
        customer: CustomerScope,
        id: NomenclatureId,
    ) -> Result<(ProductCard, bool), FavouriteError> {
        let added = match self.favourites.add(customer, id, self.clock.now()).await? {
            Keeping::Added => true,
            Keeping::Kept => false,
            Keeping::NotShown => return Err(FavouriteError::UnknownProduct),
            Keeping::CustomerLeft => return Err(FavouriteError::CustomerLeft),
        };
        match self.storefront.card(customer.into(), id).await {
            Ok(card) => Ok((card, added)),
            // It was taken out of the shop between the two steps.
            Err(StorefrontError::NotFound) => Err(FavouriteError::UnknownProduct),
            Err(StorefrontError::Store(error)) => Err(error.into()),
        }
    }

    /// Keeps a product no longer.
    pub async fn remove(&self, customer: CustomerScope, id: NomenclatureId) -> Result<(), FavouriteError> {
        if self.favourites.remove(customer, id).await? { Ok(()) } else { Err(FavouriteError::NotFound) }
    }
}
