use std::sync::Arc;

use kontor_kernel::{Name, Page, PageRequest, Permission, Phone, RecordError, Resource, Staff, UserId};

use crate::model::Employee;
use crate::ports::DirectoryRepository;

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

/// Employees of a project, without agents.
pub struct StaffDirectory {
    /// Storage of employees.
    pub directory: Arc<dyn DirectoryRepository>,
}

impl StaffDirectory {
    /// Returns one page of the project's employees with all their fields.
    pub async fn employees(
        &self,
        staff: &Staff,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<Employee>, RecordError> {
        staff.require(Permission::view(Resource::Users))?;
        Ok(self.directory.employees(staff.project_id, filter, page).await?)
    }

    /// Returns one page of the employees that can be assigned work: those who are not banned.
    pub async fn colleagues(
        &self,
        staff: &Staff,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<EmployeeSummary>, RecordError> {
        staff.require(Permission::view(Resource::Users))?;
        let filter = EmployeeFilter { active: true, ..filter };
        Ok(self.directory.colleagues(staff.project_id, filter, page).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockDirectoryRepository;
    use kontor_kernel::testing::staff_with;

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

    #[tokio::test]
    async fn banned_employees_are_not_assignable() {
        let mut directory = MockDirectoryRepository::new();
        directory
            .expect_colleagues()
            .withf(|_, filter, _| filter.active)
            .once()
            .returning(|_, _, request| Ok(Page { items: Vec::new(), total: 0, request }));
        let directory = StaffDirectory { directory: Arc::new(directory) };
        let page = PageRequest::new(1, 100, 100).unwrap();
        let viewer = staff_with([Permission::view(Resource::Users)]);
        assert!(directory.colleagues(&viewer, EmployeeFilter::default(), page).await.is_ok());
        let nobody = staff_with([]);
        assert!(matches!(
            directory.colleagues(&nobody, EmployeeFilter::default(), page).await,
            Err(RecordError::Denied(_))
        ));
        assert!(matches!(
            directory.employees(&nobody, EmployeeFilter::default(), page).await,
            Err(RecordError::Denied(_))
        ));
    }
}
