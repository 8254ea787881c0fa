//! Request bodies of updates, and conversion of request bodies to drafts and changes of the domain.

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

/// Declares the body of an update. Each field may be absent and then keeps its value.
///
/// ```text
/// change_body! {
///     ChangedDepartment => DepartmentChange {
///         name: wire::Name,
///         description: wire::Line500 | null,
///         /// `null` assigns the department to the whole project.
///         branch_id: wire::BranchId | null | 0,
///     }
/// }
/// ```
///
/// - `T` is a `NonNullPatch<T>`: `null` is rejected. `T | null` is a `Patch<T>`: `null` empties the field. `T | null | 0`
///   is a `Patch<ZeroIsNull<T>>`: `0` does so, too.
/// - With `=> DepartmentChange`, the body converts to the change as by [`into_domain!`](crate::into_domain).
/// - A field in braces, with its attributes, is declared unchanged. Such a body needs its own conversion.
#[macro_export]
macro_rules! change_body {
    (@fields $head:tt {$($done:tt)*} [$($names:ident)*]
        $(#[$meta:meta])* $field:ident: $type:ty, $($rest:tt)*) => {
        $crate::change_body! {
            @fields $head {
                $($done)*
                $(#[$meta])*
                #[deserr(default)]
                #[schema(value_type = Option<$type>, nullable = false)]
                $field: $crate::wire::NonNullPatch<$type>,
            } [$($names)* $field] $($rest)*
        }
    };
    (@fields $head:tt {$($done:tt)*} [$($names:ident)*]
        $(#[$meta:meta])* $field:ident: $type:ty | null, $($rest:tt)*) => {
        $crate::change_body! {
            @fields $head {
                $($done)*
                $(#[$meta])*
                #[deserr(default)]
                #[schema(value_type = Option<$type>)]
                $field: $crate::wire::Patch<$type>,
            } [$($names)* $field] $($rest)*
        }
    };
    (@fields $head:tt {$($done:tt)*} [$($names:ident)*]
        $(#[$meta:meta])* $field:ident: $type:ty | null | 0, $($rest:tt)*) => {
        $crate::change_body! {
            @fields $head {
                $($done)*
                $(#[$meta])*
                #[deserr(default)]
                #[schema(value_type = Option<$type>)]
                $field: $crate::wire::Patch<$crate::wire::ZeroIsNull<$type>>,
            } [$($names)* $field] $($rest)*
        }
    };
    (@fields $head:tt {$($done:tt)*} $names:tt { $($field:tt)+ }, $($rest:tt)*) => {
        $crate::change_body! { @fields $head { $($done)* $($field)+, } $names $($rest)* }
    };
    (@fields [[$($meta:tt)*] [$visibility:vis] $name:ident => $change:ident] $done:tt [$($names:ident)+]) => {
        $crate::change_body! { @fields [[$($meta)*] [$visibility] $name] $done [$($names)+] }
        $crate::into_domain!($name => $change { $($names),+ });
    };
    (@fields [[$($meta:tt)*] [$visibility:vis] $name:ident] {$($done:tt)+} [$($names:ident)+]) => {
        $($meta)*
        #[derive(::deserr::Deserr, ::utoipa::ToSchema)]
        #[deserr(error = $crate::wire::InputErrors)]
        $visibility struct $name {
            $($done)+
        }
    };
    ($(#[$meta:meta])* $visibility:vis $name:ident $(=> $change:ident)? { $($fields:tt)+ }) => {
        $crate::change_body! { @fields [[$(#[$meta])*] [$visibility] $name $(=> $change)?] {} [] $($fields)+ }
    };
}
pub use crate::change_body;
