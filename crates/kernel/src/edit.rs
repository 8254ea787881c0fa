/// Change of one field. A field that may be empty is an `Edit<Option<T>>`: an omitted field differs from an emptied
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edit<T> {
    /// The field keeps its value.
    #[default]
    Keep,
    /// New value.
    Set(T),
}

impl<T> Edit<T> {
    /// Returns the value after the change.
    pub fn or(self, current: T) -> T {
        match self {
            Self::Keep => current,
            Self::Set(value) => value,
        }
    }

    /// Returns the new value, if any.
    pub fn as_set(&self) -> Option<&T> {
        match self {
            Self::Keep => None,
            Self::Set(value) => Some(value),
        }
    }

    /// Maps the new value, if any.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Edit<U> {
        match self {
            Self::Keep => Edit::Keep,
            Self::Set(value) => Edit::Set(form(value)),
        }
    }
}

impl<T> Edit<Option<T>> {
    /// Returns the new value of an optional field; `None` if it is kept or emptied.
    pub fn set_value(&self) -> Option<&T> {
        self.as_set().and_then(Option::as_ref)
    }
}

impl<T> From<Option<T>> for Edit<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Keep, Self::Set)
    }
}

/// Declares the draft and the change of a record with the same fields: `name: Name` is a `Name` in the draft and an
/// [`Edit<Name>`](Edit) in the change. `brands.rs` of the catalog shows it. If a field differs, write two structs.
#[macro_export]
macro_rules! draft_and_change {
    ($(#[$draft_doc:meta])+ $draft:ident, $(#[$change_doc:meta])+ $change:ident {
        $($(#[$field_doc:meta])+ $field:ident: $type:ty,)+
    }) => {
        $(#[$draft_doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $draft {
            $($(#[$field_doc])+ pub $field: $type,)+
        }

        $(#[$change_doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Default)]
        pub struct $change {
            $($(#[$field_doc])+ pub $field: $crate::Edit<$type>,)+
        }
    };
}

/// Direction in which a record moves among its siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveDirection {
    /// One place towards the first.
    Up,
    /// One place towards the last.
    Down,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_left_out_stays_and_one_that_is_set_changes() {
        assert_eq!((Edit::Keep.or(1), Edit::Set(2).or(1)), (1, 2));
        assert_eq!((Edit::<i32>::Keep.as_set(), Edit::Set(2).as_set()), (None, Some(&2)));
        assert_eq!((Edit::from(None::<i32>), Edit::from(Some(2))), (Edit::Keep, Edit::Set(2)));
        assert_eq!(
            (Edit::<i32>::Keep.map(|value| value + 1), Edit::Set(2).map(|value| value + 1)),
            (Edit::Keep, Edit::Set(3))
        );
    }

    #[test]
    fn an_emptied_field_is_set_and_not_filled() {
        let emptied = Edit::Set(None::<i32>);
        assert_eq!((emptied.as_set(), emptied.set_value(), emptied.or(Some(1))), (Some(&None), None, None));
        assert_eq!((Edit::<Option<i32>>::Keep.set_value(), Edit::Set(Some(2)).set_value()), (None, Some(&2)));
    }
}
