use chrono::{DateTime, Utc};
use kontor_kernel::{Link, Name, Permission, Resource, ScreenId, StaffMenuId};
use std::collections::BTreeSet;

/// An item of a staff menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffMenuItem {
    /// The screen it opens, where it opens one of the service.
    pub screen_id: Option<ScreenId>,
    /// Its name.
    pub name: Name,
    /// Where it leads.
    pub url: Link,
}

/// More items than a menu may have, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to {} items", StaffMenuItems::MAX)]
pub struct WrongItemCount;

/// The items of a menu in their order, 1 to 100.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffMenuItems(Vec<StaffMenuItem>);

impl StaffMenuItems {
    /// The most items of a menu.
    pub const MAX: usize = 100;

    /// Checks the count.
    pub fn new(items: Vec<StaffMenuItem>) -> Result<Self, WrongItemCount> {
        if (1..=Self::MAX).contains(&items.len()) { Ok(Self(items)) } else { Err(WrongItemCount) }
    }

    /// The items.
    pub fn items(&self) -> &[StaffMenuItem] {
        &self.0
    }
}

/// A menu of the staff interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaffMenu {
    /// Its number.
    pub id: StaffMenuId,
    /// Its name, unique in the project.
    pub name: Name,
    /// Its items.
    pub items: Vec<StaffMenuItem>,
    /// Whether employees without a menu of their own see it.
    pub is_project: bool,
    /// Whether it is the menu of whoever asks.
    pub is_own: bool,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

/// A screen of the staff interface, named as the resource that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuScreen {
    /// Its number.
    pub id: ScreenId,
    /// The name of the resource.
    pub name: Name,
}

/// What somebody with these permissions sees without any menu: each screen whose records they may see.
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
    fn who_may_see_nothing_has_no_items() {
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
