//! Validation errors of an input, collected for all fields at once.

use std::collections::BTreeMap;

/// Messages by field; nested fields use dotted paths such as `products.0.quantity`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Violations(BTreeMap<String, Vec<String>>);

impl Violations {
    /// Creates a list with one message.
    pub fn single(path: impl Into<String>, message: impl ToString) -> Self {
        let mut all = Self::default();
        all.add(path, message);
        all
    }

    /// Adds a message for a field.
    pub fn add(&mut self, path: impl Into<String>, message: impl ToString) {
        self.0.entry(path.into()).or_default().push(message.to_string());
    }

    /// Returns the value of a result, or adds its error to a field.
    pub fn check<T, E: ToString>(&mut self, path: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.add(path, error.to_string())).ok()
    }

    /// Adds all entries of another list.
    pub fn merge(&mut self, other: Self) {
        for (path, messages) in other.0 {
            self.0.entry(path).or_default().extend(messages);
        }
    }

    /// Returns `true` if there are no messages.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `Ok` if there are no messages.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }

    /// Returns fields with their messages, in the order of the paths.
    pub fn fields(&self) -> &BTreeMap<String, Vec<String>> {
        &self.0
    }

    /// Returns the first message.
    pub fn first(&self) -> Option<&str> {
        self.0.values().flatten().next().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_errors_are_reported_by_field() {
        let mut wrong = Violations::default();
        assert!(wrong.is_empty());
        assert_eq!(wrong.first(), None);
        assert_eq!(wrong.clone().into_result(), Ok(()));
        assert_eq!(wrong.check("size", "5".parse::<i32>()), Some(5));
        assert!(wrong.is_empty(), "what is right is not wrong");
        assert_eq!(wrong.check::<i32, _>("size", Err("must be a number")), None);
        wrong.merge(Violations::single("name", "must not be empty"));
        wrong.merge(Violations::single("size", "must be even"));
        assert!(!wrong.is_empty());
        assert_eq!(wrong.first(), Some("must not be empty"));
        let reported = wrong.into_result().unwrap_err();
        let fields: Vec<_> = reported.fields().iter().map(|(path, texts)| (path.as_str(), texts.join(", "))).collect();
        assert_eq!(
            fields,
            [("name", "must not be empty".to_owned()), ("size", "must be a number, must be even".to_owned())]
        );
    }
}
