use std::collections::BTreeSet;

use async_trait::async_trait;
use kontor_kernel::{
    Name, Permission, ProjectId, ProjectScoped, Resource, ScreenId, StaffMenuId, Stamp, StoreError, UserId,
};

use super::{Guard, InMemoryOrganization, State, of_project};
use crate::model::{MenuScreen, StaffMenu, StaffMenuItems};
use crate::ports::{MenuOwner, StaffMenuStore};
use crate::{StaffMenuError, StaffMenuRefusal};

/// Maximum menus per project.
const MAX_MENUS: usize = 100;

/// One screen for each resource, numbered from 1.
fn screens() -> Result<Vec<MenuScreen>, StoreError> {
    let screen = |(number, resource): (i64, &Resource)| {
        let id = ScreenId::new(number).map_err(StoreError::corrupt)?;
        Ok::<_, StoreError>(MenuScreen { id, name: Name::parse(resource.name()).map_err(StoreError::corrupt)? })
    };
    (1..).zip(Resource::ALL).map(screen).collect()
}

impl State {
    fn menus(&self, project: ProjectId, user: Option<UserId>) -> Vec<StaffMenu> {
        let is_used = |owner, id| self.uses.contains(&((project, owner), id));
        let mut menus = of_project(self.menus.values(), project);
        for menu in &mut menus {
            menu.is_project = is_used(MenuOwner::Project, menu.id);
            menu.is_own = user.is_some_and(|user| is_used(MenuOwner::User(user), menu.id));
        }
        menus
    }

    fn insert_menu(&mut self, stamp: Stamp, name: Name, items: &StaffMenuItems) -> Result<StaffMenu, StaffMenuError> {
        let known = screens()?;
        let menus = self.menus(stamp.project_id, None);
        if menus.len() >= MAX_MENUS {
            return Err(StaffMenuRefusal::Full.into());
        }
        let is_unknown = |id: ScreenId| !known.iter().any(|screen| screen.id == id);
        if let Some(place) = items.items().iter().position(|item| item.screen_id.is_some_and(is_unknown)) {
            return Err(StaffMenuRefusal::UnknownScreen(place).into());
        }
        if self.guards.has(Guard::Name) && menus.iter().any(|menu| menu.name == name) {
            return Err(StaffMenuRefusal::NameTaken.into());
        }
        let menu = StaffMenu {
            id: self.ids.id(),
            name,
            items: items.items().to_vec(),
            is_project: false,
            is_own: false,
            created_at: stamp.at,
        };
        self.menus.insert(menu.id, (stamp.project_id, menu.clone()));
        Ok(menu)
    }

    fn attach_menu(
        &mut self,
        project: ProjectId,
        owner: MenuOwner,
        menu: Option<StaffMenuId>,
    ) -> Result<(), StaffMenuError> {
        let any = !self.guards.has(Guard::Menu);
        let is_own = |id: StaffMenuId| self.menus.get(&id).is_some_and(|(known, _)| *known == project || any);
        if menu.is_some_and(|id| !is_own(id)) {
            return Err(StaffMenuRefusal::UnknownMenu.into());
        }
        self.uses.retain(|(user, _)| *user != (project, owner));
        self.uses.extend(menu.map(|menu| ((project, owner), menu)));
        Ok(())
    }
}

#[async_trait]
impl StaffMenuStore for InMemoryOrganization {
    async fn list(&self, project: ProjectId, user: UserId) -> Result<Vec<StaffMenu>, StoreError> {
        Ok(self.state.with(|state| state.menus(project, Some(user))))
    }

    async fn of_project(&self, project: ProjectId) -> Result<Option<StaffMenu>, StoreError> {
        Ok(self.state.with(|state| state.menus(project, None).into_iter().find(|menu| menu.is_project)))
    }

    async fn screens(&self) -> Result<Vec<MenuScreen>, StoreError> {
        screens()
    }

    async fn permissions_of(&self, user: UserId) -> Result<Option<ProjectScoped<BTreeSet<Permission>>>, StoreError> {
        let project = self.state.with(|state| state.employees.get(&user).copied());
        Ok(project.map(|project| ProjectScoped::new(project, Permission::all().collect())))
    }

    async fn insert(&self, stamp: Stamp, name: Name, items: StaffMenuItems) -> Result<StaffMenu, StaffMenuError> {
        self.state.with(|state| state.insert_menu(stamp, name, &items))
    }

    async fn attach(
        &self,
        project: ProjectId,
        owner: MenuOwner,
        menu: Option<StaffMenuId>,
    ) -> Result<(), StaffMenuError> {
        self.state.with(|state| state.attach_menu(project, owner, menu))
    }
}
