//! Conversion of request bodies to drafts and changes of the domain.

use kontor_kernel::Edit;

use super::{In, NonNullPatch, Patch, ZeroIsNull};

/// Field of a request that converts to a domain value. It is implemented for every kind of field, such as
/// `Option<wire::Name>` and `Patch<wire::Name>`.
pub trait IntoDomain<T> {
    /// Returns the domain value.
    fn into_domain(self) -> T;
}

impl<T> IntoDomain<T> for In<T> {
    fn into_domain(self) -> T {
        self.0
    }
}

impl<T, W: IntoDomain<T>> IntoDomain<Option<T>> for Option<W> {
    fn into_domain(self) -> Option<T> {
        self.map(W::into_domain)
    }
}

impl<T, W: IntoDomain<T>> IntoDomain<Vec<T>> for Vec<W> {
    fn into_domain(self) -> Vec<T> {
        self.into_iter().map(W::into_domain).collect()
    }
}

impl<T> IntoDomain<Option<T>> for ZeroIsNull<In<T>> {
    fn into_domain(self) -> Option<T> {
        self.0.into_domain()
    }
}

impl<T> IntoDomain<Edit<Option<T>>> for Patch<In<T>> {
    fn into_domain(self) -> Edit<Option<T>> {
        self.into()
    }
}

impl<T> IntoDomain<Edit<Option<T>>> for Patch<ZeroIsNull<In<T>>> {
    fn into_domain(self) -> Edit<Option<T>> {
        self.into()
    }
}

impl<T> IntoDomain<Edit<T>> for NonNullPatch<In<T>> {
    fn into_domain(self) -> Edit<T> {
        self.into()
    }
}

impl<T> IntoDomain<Edit<Vec<T>>> for NonNullPatch<Vec<In<T>>> {
    fn into_domain(self) -> Edit<Vec<T>> {
        self.into()
    }
}

/// Converts a request body to a draft or a change with the same field names:
/// `into_domain!(NewBrand => BrandDraft { name, photo });`. If a field differs in name or meaning, write `From`.
#[macro_export]
macro_rules! into_domain {
    ($body:ident => $target:ident { $($field:ident),+ $(,)? }) => {
        impl From<$body> for $target {
            fn from(body: $body) -> Self {
                Self { $($field: $crate::wire::IntoDomain::into_domain(body.$field)),+ }
            }
        }
    };
}
pub use crate::into_domain;
