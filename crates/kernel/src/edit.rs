/// What a change says about one field. A field that may be empty is an `Edit<Option<T>>`: left out and emptied are
/// different things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edit<T> {
    /// The field stays as it is.
    #[default]
    Keep,
    /// The new value.
    Set(T),
}

impl<T> Edit<T> {
    /// The value after the change.
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

    /// The new value, when there is one, in another form.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Edit<U> {
        match self {
            Self::Keep => Edit::Keep,
            Self::Set(value) => Edit::Set(form(value)),
        }
    }
}

impl<T> Edit<Option<T>> {
    /// The new value of a field that may be empty, when there is one and it is not the empty one.
    pub fn as_filled(&self) -> Option<&T> {
        self.as_set().and_then(Option::as_ref)
    }
}

impl<T> From<Option<T>> for Edit<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Keep, Self::Set)
    }
}
