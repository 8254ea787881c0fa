use async_trait::async_trait;
use kontor_kernel::history::Author;
use kontor_kernel::{
    BranchId, DepartmentId, Name, Page, PageRequest, Phone, ProjectId, ProjectScoped, RecordError, Reference,
    StoreError, UserId,
};

use super::{Guard, InMemoryLogins, State};
use crate::model::{
    Employee, EmployeeEditor, EmployeeFilter, EmployeeReference, EmployeeSearchText, EmployeeSummary, EmployeeUpdate,
    NewEmployee, Role, RoleChoice,
};
use crate::ports::{DirectoryRepository, EmployeeRepository};
use crate::{EmployeeError, EmployeeRefusal};

fn searched(employee: &Employee) -> EmployeeSearchText {
    let always = [employee.last_name.as_str(), employee.first_name.as_str()].into_iter();
    let always = always.chain([employee.login.as_str(), employee.email.as_str()]);
    let middle_name = employee.middle_name.as_ref().map(Name::as_str);
    EmployeeSearchText::new(always.chain(middle_name).chain(employee.phone.as_ref().map(Phone::as_str)))
}

impl State {
    /// Returns the record of an employee with the role as it is now.
    fn record(&self, stored: &Employee) -> Employee {
        let mut employee = stored.clone();
        if let Some((role, permissions)) = self.role_of_employee(employee.role.id) {
            (employee.role, employee.permissions) = (role, permissions);
        }
        employee
    }

    /// Returns an employee of any project.
    pub(super) fn employee(&self, id: UserId) -> Option<Employee> {
        let mut stored = self.staff.iter().map(|member| &member.employee);
        stored.find(|employee| employee.id == id).map(|employee| self.record(employee))
    }

    fn employee_of(&self, project: ProjectId, id: UserId) -> Result<Employee, EmployeeError> {
        let found = self.employee(id).filter(|employee| self.owns(employee.project_id, project));
        found.ok_or(RecordError::NotFound)
    }

    fn creator(&self, author: Author) -> Option<Reference<UserId>> {
        let Author::User(id) = author else { return None };
        let creator = self.employee(id)?;
        let name = Name::parse(&format!("{} {}", creator.first_name, creator.last_name)).ok()?;
        Some(Reference { id, name })
    }

    /// Refuses references to records that the project does not have, and a role with permissions that the caller
    /// lacks. Returns the role.
    fn check_references(
        &mut self,
        editor: &EmployeeEditor,
        choice: Option<RoleChoice>,
        branch: Option<BranchId>,
        department: Option<DepartmentId>,
    ) -> Result<Option<Role>, EmployeeError> {
        let chosen = match choice {
            Some(choice) => self.chosen_role(editor.stamp.project_id, choice, editor.stamp.at)?,
            None => None,
        };
        let references = [
            (EmployeeReference::Role, choice.is_none() || chosen.is_some()),
            (EmployeeReference::Branch, branch.is_none()),
            (EmployeeReference::Department, department.is_none()),
        ];
        let unknown: Vec<EmployeeReference> =
            references.into_iter().filter(|(_, is_own)| !is_own).map(|(reference, _)| reference).collect();
        if !unknown.is_empty() {
            return Err(EmployeeRefusal::UnknownReferences(unknown).into());
        }
        let Some((role, permissions)) = chosen.and_then(|id| self.role_of_employee(id)) else { return Ok(None) };
        if self.guards.has(Guard::Held) {
            editor.check_held(&permissions)?;
        }
        Ok(Some(role))
    }

    fn insert_by_staff(&mut self, editor: &EmployeeEditor, new: NewEmployee) -> Result<Employee, EmployeeError> {
        let role = self.check_references(editor, Some(new.role), new.branch_id, new.department_id)?;
        let role = role.ok_or(EmployeeError::NotFound)?;
        let creator = self.creator(editor.stamp.author);
        let (login, at) = (new.login.clone(), new.created_at);
        let id = self.add_member(new, role, creator).ok_or(EmployeeRefusal::LoginTaken)?;
        self.enqueue(login, at);
        self.employee_of(editor.stamp.project_id, id)
    }

    fn update_by_staff(
        &mut self,
        editor: &EmployeeEditor,
        id: UserId,
        change: EmployeeUpdate,
    ) -> Result<Employee, EmployeeError> {
        let project = editor.stamp.project_id;
        let before = self.employee_of(project, id)?;
        if self.guards.has(Guard::Held) {
            editor.check_update(&before, &change)?;
        }
        let choice = change.role_id.as_set().copied().map(RoleChoice::Role);
        let (branch, department) = (change.branch_id.set_value().copied(), change.department_id.set_value().copied());
        let role = self.check_references(editor, choice, branch, department)?;
        let demotes = role.as_ref().is_some_and(|role| !self.is_owner_role(role.id));
        if demotes && self.is_only_owner(before.project_id, id) {
            return Err(EmployeeRefusal::LastOwner.into());
        }
        let moves = change.email.as_set().is_some_and(|email| *email != before.email);
        let invalidates = moves && self.guards.has(Guard::Address);
        let member = self.member(id).map_err(|_| EmployeeError::NotFound)?;
        if invalidates {
            member.temporary = None;
        }
        let employee = &mut member.employee;
        employee.email = change.email.or(before.email);
        employee.first_name = change.first_name.or(before.first_name);
        employee.last_name = change.last_name.or(before.last_name);
        employee.middle_name = change.middle_name.or(before.middle_name);
        employee.phone = change.phone.or(before.phone);
        employee.role = role.unwrap_or(before.role);
        employee.is_sick = change.is_sick.or(before.is_sick);
        self.employee_of(project, id)
    }

    fn ban_by_staff(&mut self, editor: &EmployeeEditor, id: UserId, banned: bool) -> Result<Employee, EmployeeError> {
        let before = self.employee_of(editor.stamp.project_id, id)?;
        if self.guards.has(Guard::Held) {
            editor.check_ban(&before)?;
        }
        if banned && self.is_only_owner(before.project_id, id) {
            return Err(EmployeeRefusal::LastOwner.into());
        }
        self.set_banned(id, banned);
        self.employee_of(editor.stamp.project_id, id)
    }

    /// Returns the employees that a filter finds, oldest first.
    fn directory(&self, project: ProjectId, filter: &EmployeeFilter) -> Vec<Employee> {
        let is_found = |employee: &&Employee| {
            self.owns(employee.project_id, project)
                && !(filter.active && employee.is_banned)
                && filter.query.as_ref().is_none_or(|query| searched(employee).has(query))
        };
        let found = self.staff.iter().map(|member| &member.employee).filter(is_found);
        found.map(|employee| self.record(employee)).collect()
    }
}

#[async_trait]
impl EmployeeRepository for InMemoryLogins {
    async fn find(&self, id: UserId) -> Result<Option<ProjectScoped<Employee>>, StoreError> {
        let found = self.state.with(|state| state.employee(id));
        Ok(found.map(|employee| ProjectScoped::new(employee.project_id, employee)))
    }

    async fn insert(&self, editor: EmployeeEditor, new: NewEmployee) -> Result<Employee, EmployeeError> {
        self.state.with(|state| state.insert_by_staff(&editor, new))
    }

    async fn update(
        &self,
        editor: EmployeeEditor,
        id: UserId,
        change: EmployeeUpdate,
    ) -> Result<Employee, EmployeeError> {
        self.state.with(|state| state.update_by_staff(&editor, id, change))
    }

    async fn set_banned(&self, editor: EmployeeEditor, id: UserId, banned: bool) -> Result<Employee, EmployeeError> {
        self.state.with(|state| state.ban_by_staff(&editor, id, banned))
    }
}

#[async_trait]
impl DirectoryRepository for InMemoryLogins {
    async fn employees(
        &self,
        project: ProjectId,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<Employee>, StoreError> {
        Ok(Page::of(self.state.with(|state| state.directory(project, &filter)), page))
    }

    async fn colleagues(
        &self,
        project: ProjectId,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<EmployeeSummary>, StoreError> {
        let found = self.state.with(|state| state.directory(project, &filter));
        Ok(Page::of(found, page).map(|employee| EmployeeSummary {
            id: employee.id,
            first_name: employee.first_name,
            last_name: employee.last_name,
            middle_name: employee.middle_name,
        }))
    }
}
