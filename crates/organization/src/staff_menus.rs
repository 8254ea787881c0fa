use std::collections::BTreeSet;
use std::sync::Arc;

use kontor_kernel::{
    AppScope, Clock, Name, Permission, RecordError, Resource, Staff, StaffMenuId, Stamp, StoreError, UserId,
};

use crate::StaffMenuError;
use crate::model::{StaffMenu, StaffMenuItem, StaffMenuItems, default_items};
use crate::ports::{MenuOwner, StaffMenuStore};
use crate::{ShowcaseError, StaffMenuRefusal};

/// Use cases of the menus of the staff interface.
pub struct StaffMenuService {
    /// Storage of menus.
    pub menus: Arc<dyn StaffMenuStore>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl StaffMenuService {
    /// Returns every menu of the employee's project.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<StaffMenu>, StaffMenuError> {
        staff.require(Permission::view(Resource::Menus))?;
        Ok(self.menus.list(staff.project_id, staff.user_id).await?)
    }

    /// Returns the items that the employee sees without a menu.
    pub async fn default_items(&self, staff: &Staff) -> Result<Vec<StaffMenuItem>, StaffMenuError> {
        staff.require(Permission::view(Resource::Menus))?;
        Ok(default_items(&self.menus.screens().await?, &staff.permissions))
    }

    /// Creates a menu with these items. Without items it copies what an employee of the project sees now: their
    /// own menu, the project's menu, or the screens that their permissions allow.
    pub async fn create(
        &self,
        staff: &Staff,
        user: UserId,
        name: Name,
        items: Option<StaffMenuItems>,
    ) -> Result<StaffMenu, StaffMenuError> {
        staff.require(Permission::create(Resource::Menus))?;
        let permissions = staff.require_own(self.menus.permissions_of(user).await?)?;
        let items = match items {
            Some(items) => items,
            None => self.seen_by(staff, user, &permissions).await?,
        };
        self.menus.insert(Stamp::of(staff, self.clock.now()), name, items).await
    }

    async fn seen_by(
        &self,
        staff: &Staff,
        user: UserId,
        permissions: &BTreeSet<Permission>,
    ) -> Result<StaffMenuItems, StaffMenuError> {
        let menus = self.menus.list(staff.project_id, user).await?;
        let own = menus.iter().find(|menu| menu.is_own).or_else(|| menus.iter().find(|menu| menu.is_project));
        let items = match own {
            Some(menu) => menu.items.clone(),
            None => default_items(&self.menus.screens().await?, permissions),
        };
        StaffMenuItems::new(items).map_err(|_| RecordError::Refused(StaffMenuRefusal::NoVisibleItems))
    }

    /// Sets or removes the menu of an employee of the project.
    pub async fn attach_to_user(
        &self,
        staff: &Staff,
        user: UserId,
        menu: Option<StaffMenuId>,
    ) -> Result<(), StaffMenuError> {
        staff.require(Permission::edit(Resource::Menus))?;
        staff.require_own::<_, StaffMenuRefusal>(self.menus.permissions_of(user).await?)?;
        self.menus.attach(staff.project_id, MenuOwner::User(user), menu).await
    }

    /// Sets or removes the menu of employees without their own.
    pub async fn attach_to_project(&self, staff: &Staff, menu: Option<StaffMenuId>) -> Result<(), StaffMenuError> {
        staff.require(Permission::edit(Resource::Menus))?;
        self.menus.attach(staff.project_id, MenuOwner::Project, menu).await
    }

    /// Returns the menu of the application's project if it has exactly this name.
    pub async fn of_project(&self, app: AppScope, name: &str) -> Result<StaffMenu, ShowcaseError> {
        let found: Result<_, StoreError> = self.menus.of_project(app.project_id).await;
        found?.filter(|menu| menu.name.as_str() == name).ok_or(ShowcaseError::NotFound)
    }
}
