use chrono::{DateTime, Utc};
use kontor_kernel::{Link, Name, Permission, Resource, ScreenId, StaffMenuId};
use std::collections::BTreeSet;

/// Item of a staff menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffMenuItem {
    /// Screen that it opens, if it is a screen of the service.
    pub screen_id: Option<ScreenId>,
    /// Name.
    pub name: Name,
    /// Link target.
    pub url: Link,
}

/// Error for an empty menu, or one with too many items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to {} items", StaffMenuItems::MAX)]
pub struct WrongItemCount;

/// Ordered items of a menu, 1 to 100.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffMenuItems(Vec<StaffMenuItem>);

impl StaffMenuItems {
    /// Maximum items of a menu.
    pub const MAX: usize = 100;

    /// Checks the number of items.
    pub fn new(items: Vec<StaffMenuItem>) -> Result<Self, WrongItemCount> {
        if (1..=Self::MAX).contains(&items.len()) { Ok(Self(items)) } else { Err(WrongItemCount) }
    }

    /// Items.
    pub fn items(&self) -> &[StaffMenuItem] {
        &self.0
    }
}

/// Menu of the staff interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffMenu {
    /// Identifier.
    pub id: StaffMenuId,
    /// Name, unique in the project.
    pub name: Name,
    /// Items.
    pub items: Vec<StaffMenuItem>,
    /// `true` if employees without their own menu see it.
    pub is_project: bool,
    /// `true` if it is the caller's own menu.
    pub is_own: bool,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// Screen of the staff interface, named after its resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuScreen {
    /// Identifier.
    pub id: ScreenId,
    /// Name of the resource.
    pub name: Name,
}

/// Returns the items shown without a menu: each screen whose records these permissions allow to see.
pub fn default_items(screens: &[MenuScreen], permissions: &BTreeSet<Permission>) -> Vec<StaffMenuItem> {
    let shown = |screen: &&MenuScreen| {
        let resource = Resource::ALL.iter().find(|resource| resource.name() == screen.name.as_str());
        resource.is_some_and(|resource| Permission::view(*resource).is_covered_by(permissions))
    };
    let item = |screen: &MenuScreen| {
        let mut letters = screen.name.chars();
        let title: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        let name = Name::parse(&title).ok()?;
        let url = Link::parse(&format!("/{}", screen.name)).ok()?;
        Some(StaffMenuItem { screen_id: Some(screen.id), name, url })
    };
    screens.iter().filter(shown).filter_map(item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_employee_without_permissions_has_no_menu_items() {
        let screen =
            |id: i64, name: &str| MenuScreen { id: ScreenId::new(id).unwrap(), name: Name::parse(name).unwrap() };
        let screens = [screen(15, "orders"), screen(16, "pages"), screen(99, "reports")];
        assert!(default_items(&screens, &BTreeSet::new()).is_empty());
        let all = default_items(&screens, &Permission::all().collect());
        assert_eq!(all.iter().map(|item| item.url.as_str()).collect::<Vec<_>>(), ["/orders", "/pages"]);
        let one = default_items(&screens, &[Permission::view(Resource::Pages)].into());
        assert_eq!(one.iter().map(|item| item.name.as_str()).collect::<Vec<_>>(), ["Pages"]);
        assert!(default_items(&screens, &[Permission::edit(Resource::Pages)].into()).is_empty());
    }

    #[test]
    fn a_menu_has_items_and_not_too_many() {
        let item = StaffMenuItem { screen_id: None, name: Name::parse("A").unwrap(), url: Link::parse("/a").unwrap() };
        assert_eq!(StaffMenuItems::new(Vec::new()), Err(WrongItemCount));
        assert_eq!(StaffMenuItems::new(vec![item.clone(); 101]), Err(WrongItemCount));
        assert!(StaffMenuItems::new(vec![item; 100]).is_ok());
    }
}
