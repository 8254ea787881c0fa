/// What a partial update says about one field. A field that may be cleared is an `Edit<Option<T>>`: a missing field and
/// an explicit `null` are different states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edit<T> {
    /// The field is not mentioned.
    #[default]
    Keep,
    /// The new value.
    Set(T),
}

impl<T> Edit<T> {
    /// The value after the update.
    pub fn or(self, current: T) -> T {
        match self {
            Self::Keep => current,
            Self::Set(value) => value,
        }
    }

    /// The new value, when there is one.
    pub fn as_set(&self) -> Option<&T> {
        match self {
            Self::Keep => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<T> From<Option<T>> for Edit<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Keep, Self::Set)
    }
}
