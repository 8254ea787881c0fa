use kontor_kernel::{Name, Phone, UserId};

/// Filter of employees.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EmployeeFilter {
    /// Words that must all match, see [`EmployeeSearchText::has`].
    pub query: Option<Name>,
    /// `true` to list only employees who are not banned.
    pub active: bool,
}

/// Employee in a selection list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmployeeSummary {
    /// Identifier.
    pub id: UserId,
    /// Given name.
    pub first_name: Name,
    /// Family name.
    pub last_name: Name,
    /// Patronymic.
    pub middle_name: Option<Name>,
}

impl EmployeeSummary {
    /// Returns given name, patronymic and family name in one line.
    pub fn name(&self) -> String {
        match &self.middle_name {
            Some(middle) => format!("{} {middle} {}", self.first_name, self.last_name),
            None => format!("{} {}", self.first_name, self.last_name),
        }
    }
}

/// Searchable text of an employee: names, login, phone and e-mail address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmployeeSearchText(String);

impl EmployeeSearchText {
    /// Creates the searchable text from the fields of the record.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let lowered: Vec<String> = texts.into_iter().map(str::to_lowercase).collect();
        Self(lowered.join("\n"))
    }

    /// Returns `true` if every word of the query is part of one of the texts, in any case and order. A phone can be
    /// written in any accepted spelling.
    pub fn has(&self, query: &Name) -> bool {
        query.key().split_whitespace().all(|word| self.0.contains(word))
            || Phone::parse(query).is_ok_and(|phone| self.0.contains(phone.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_in_any_case_and_order() {
        let anna = EmployeeSearchText::new(["Анна", "Ёлкина", "Ильинична", "a.elkina", "79001234567", "anna@x.ru"]);
        for found in ["анна", "ЁЛКИНА Анна", "ильин ё", "ELKINA", "anna@X.RU", "001234", "8 (900) 123-45-67"]
        {
            assert!(anna.has(&Name::parse(found).unwrap()), "{found}");
        }
        for missed in ["Анна Иванова", "annax", "%", "_", "8 900 123-45-68", "аннаёлкина"] {
            assert!(!anna.has(&Name::parse(missed).unwrap()), "{missed}");
        }
    }

    #[test]
    fn an_employee_summary_has_the_full_name() {
        let name = |text| Name::parse(text).unwrap();
        let id = UserId::new(1).unwrap();
        let (first_name, last_name) = (name("Anna"), name("Kern"));
        let colleague = EmployeeSummary { id, first_name, last_name, middle_name: None };
        assert_eq!(colleague.name(), "Anna Kern");
        assert_eq!(EmployeeSummary { middle_name: Some(name("P.")), ..colleague }.name(), "Anna P. Kern");
    }
}
