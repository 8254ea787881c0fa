use std::sync::Arc;

use kontor_kernel::{Clock, CustomerScope, NomenclatureId, Page, PageRequest, StoreError};

use super::ports::{FavouriteOutcome, Favourites};
use super::{Product, ProductCard, StorefrontError, StorefrontService};

/// Error of a use case of favourites.
#[derive(Debug, thiserror::Error)]
pub enum FavouriteError {
    /// The application sells no such product, or it is not a favourite.
    #[error("there is no such product")]
    NotFound,
    /// The application does not sell the product to add.
    #[error("the application does not sell this product")]
    UnknownProduct,
    /// The customer was deleted in the meantime.
    #[error("the customer account is deleted")]
    CustomerDeleted,
    /// Storage failure.
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

/// Maximum number of favourites in the record of a customer.
const MAX_LISTED: u32 = 100;

/// Use cases of favourites.
pub struct FavouriteService {
    /// Storage of favourites.
    pub favourites: Arc<dyn Favourites>,
    /// Products of the application.
    pub storefront: Arc<StorefrontService>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl FavouriteService {
    /// Returns one page of the customer's favourites that the application shows, last added first.
    pub async fn list(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Product>, FavouriteError> {
        Ok(self.favourites.page(customer, page, self.clock.now()).await?)
    }

    /// Returns the favourites for the customer's own record: the first of the list, at most 100.
    pub async fn products(&self, customer: CustomerScope) -> Result<Vec<Product>, FavouriteError> {
        Ok(self.favourites.latest(customer, MAX_LISTED, self.clock.now()).await?)
    }

    /// Returns a product that the application shows or has sold out, a favourite or not. The view is not counted.
    pub async fn read(&self, customer: CustomerScope, id: NomenclatureId) -> Result<ProductCard, FavouriteError> {
        Ok(self.storefront.card(customer.into(), id).await?)
    }

    /// Adds a product to the favourites. Returns the product and `true` if it was added just now.
    pub async fn add(
        &self,
        customer: CustomerScope,
        id: NomenclatureId,
    ) -> Result<(ProductCard, bool), FavouriteError> {
        let added = match self.favourites.add(customer, id, self.clock.now()).await? {
            FavouriteOutcome::Added => true,
            FavouriteOutcome::AlreadyPresent => false,
            FavouriteOutcome::ProductNotShown => return Err(FavouriteError::UnknownProduct),
            FavouriteOutcome::CustomerDeleted => return Err(FavouriteError::CustomerDeleted),
        };
        match self.storefront.card(customer.into(), id).await {
            Ok(card) => Ok((card, added)),
            // The application stopped showing it between the two calls.
            Err(StorefrontError::NotFound) => Err(FavouriteError::UnknownProduct),
            Err(StorefrontError::Store(error)) => Err(error.into()),
        }
    }

    /// Removes a product from the favourites.
    pub async fn remove(&self, customer: CustomerScope, id: NomenclatureId) -> Result<(), FavouriteError> {
        if self.favourites.remove(customer, id).await? { Ok(()) } else { Err(FavouriteError::NotFound) }
    }
}
