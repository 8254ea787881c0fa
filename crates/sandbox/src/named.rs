//! Enums whose values have names on the wire.

/// Declares an enum whose values have names on the wire.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $wire:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            /// All names, in order.
            pub const NAMES: &[&str] = &[$($wire),+];

            /// Returns the value with this name.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($wire => Some(Self::$variant),)+ _ => None }
            }

            /// Returns the name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $wire),+ }
            }
        }
    };
}
pub(crate) use named;
