use async_trait::async_trait;
use kontor_kernel::testing::memory::Sequence;
use kontor_kernel::{
    DeletableRepository, ListedRepository, Listing, Page, ProjectId, ProjectScoped, RecordRepository, ShopExceptionId,
    ShopHoursId, ShopId, Stamp, StoreError,
};

use super::{Guard, InMemoryOrganization, State};
use crate::model::{
    Interval, OpeningTimes, Shop, ShopChange, ShopDetails, ShopException, ShopHoliday, ShopHours, StaffShop,
    TimesChange,
};
use crate::ports::{OpeningTimesStore, ShopRepository};
use crate::{ShopError, ShopRefusal};

/// Converts a shop for customers.
fn shown(shop: StaffShop) -> Shop {
    let details = shop.details;
    Shop {
        id: shop.id,
        name: details.name,
        address: details.address.to_string(),
        phone: details.phone.map(|phone| phone.to_string()),
        photo: details.photo.map(|url| url.to_string()),
        latitude: details.latitude.map(|degrees| degrees.to_string()),
        longitude: details.longitude.map(|degrees| degrees.to_string()),
        created_at: shop.created_at,
    }
}

/// Writes a checked change. Returns the number of the added, changed or removed record.
fn write(ids: &mut Sequence, times: &mut OpeningTimes, change: TimesChange) -> i64 {
    let number = match change {
        TimesChange::AddHours(weekday, interval) => {
            let id: ShopHoursId = ids.id();
            times.hours.push(ShopHours { id, weekday, interval, version: 1 });
            id.get()
        }
        TimesChange::ChangeHours(id, weekday, interval) => {
            for hours in times.hours.iter_mut().filter(|hours| hours.id == id) {
                (hours.weekday, hours.interval, hours.version) = (weekday, interval, hours.version + 1);
            }
            id.get()
        }
        TimesChange::RemoveHours(id) => {
            times.hours.retain(|hours| hours.id != id);
            id.get()
        }
        TimesChange::SetHoliday { day, name, is_yearly } => {
            let replaced = times.holidays.iter().find(|holiday| holiday.day == day).map(|holiday| holiday.id);
            let id = replaced.unwrap_or_else(|| ids.id());
            times.holidays.retain(|holiday| holiday.id != id);
            times.holidays.push(ShopHoliday { id, day, name, is_yearly });
            id.get()
        }
        TimesChange::ChangeHoliday(changed) => {
            let id = changed.id;
            times.holidays.retain(|holiday| holiday.id != id);
            times.holidays.push(changed);
            id.get()
        }
        TimesChange::RemoveHoliday(id) => {
            times.holidays.retain(|holiday| holiday.id != id);
            id.get()
        }
        TimesChange::AddException(terms) => {
            let id: ShopExceptionId = ids.id();
            times.exceptions.push(ShopException { id, terms, version: 1 });
            id.get()
        }
        TimesChange::ChangeException(id, terms) => {
            for exception in times.exceptions.iter_mut().filter(|exception| exception.id == id) {
                exception.terms.clone_from(&terms);
                exception.version += 1;
            }
            id.get()
        }
        TimesChange::RemoveException(id) => {
            times.exceptions.retain(|exception| exception.id != id);
            id.get()
        }
    };
    times.hours.sort_by_key(|hours| (hours.weekday, hours.interval.opens(), hours.id));
    times.holidays.sort_by_key(|holiday| (holiday.day, holiday.id));
    times.exceptions.sort_by_key(|other| (other.terms.day, other.terms.interval.map(Interval::opens), other.id));
    number
}

impl State {
    /// Returns a shop with the current name of its branch and time zone of its project.
    fn shop(&self, project: ProjectId, stored: &StaffShop) -> StaffShop {
        let mut shop = stored.clone();
        if let Some((_, branch)) = self.branches.get(&shop.details.branch_id) {
            shop.branch_name.clone_from(&branch.name);
        }
        let zone = self.projects.get(&project).map(|settings| settings.time_zone).unwrap_or_default();
        shop.times.zone = shop.details.zone.unwrap_or(zone);
        shop
    }

    fn shops(&self, project: ProjectId) -> Vec<StaffShop> {
        let own = self.shops.values().filter(|(owner, _)| *owner == project);
        own.map(|(_, stored)| self.shop(project, stored)).collect()
    }

    fn customer_shops(&self, project: ProjectId) -> Vec<Shop> {
        let any = !self.guards.has(Guard::ActiveShop);
        self.shops(project).into_iter().filter(|shop| shop.details.is_active || any).map(shown).collect()
    }

    fn own_shop(&self, stamp: Stamp, id: ShopId) -> Result<(ProjectId, StaffShop), ShopError> {
        let found = self.shops.get(&id).filter(|(owner, _)| self.owns(*owner, stamp));
        let (owner, shop) = found.ok_or(ShopError::NotFound)?;
        Ok((*owner, self.shop(*owner, shop)))
    }

    fn insert_shop(&mut self, stamp: Stamp, details: ShopDetails) -> Result<StaffShop, ShopError> {
        let branch_name = self.branch_name(stamp, details.branch_id).ok_or(ShopRefusal::UnknownBranch)?;
        let added = StaffShop {
            id: self.ids.id(),
            details,
            branch_name,
            times: OpeningTimes::default(),
            version: 1,
            created_at: stamp.at,
            updated_at: stamp.at,
        };
        let shop = self.shop(stamp.project_id, &added);
        self.shops.insert(added.id, (stamp.project_id, added));
        Ok(shop)
    }

    /// Stores a changed shop.
    fn replace_shop(&mut self, stamp: Stamp, project: ProjectId, mut changed: StaffShop) -> StaffShop {
        (changed.version, changed.updated_at) = (changed.version + 1, stamp.at);
        let shop = self.shop(project, &changed);
        self.shops.insert(changed.id, (project, changed));
        shop
    }

    fn update_shop(&mut self, stamp: Stamp, id: ShopId, change: ShopChange) -> Result<StaffShop, ShopError> {
        let (project, mut shop) = self.own_shop(stamp, id)?;
        if change.branch_id.as_set().is_some_and(|branch| !self.has_branch(stamp, *branch)) {
            return Err(ShopRefusal::UnknownBranch.into());
        }
        let before = shop.details;
        shop.details = ShopDetails {
            branch_id: change.branch_id.or(before.branch_id),
            name: change.name.or(before.name),
            address: change.address.or(before.address),
            phone: change.phone.or(before.phone),
            photo: change.photo.or(before.photo),
            latitude: change.latitude.or(before.latitude),
            longitude: change.longitude.or(before.longitude),
            zone: change.zone.or(before.zone),
            is_active: change.is_active.or(before.is_active),
        };
        Ok(self.replace_shop(stamp, project, shop))
    }

    fn change_times(&mut self, stamp: Stamp, id: ShopId, change: TimesChange) -> Result<(StaffShop, i64), ShopError> {
        let (project, mut shop) = self.own_shop(stamp, id)?;
        if self.guards.has(Guard::Times) {
            shop.times.check(&change, stamp.at).map_err(ShopRefusal::from)?;
        }
        let number = write(&mut self.ids, &mut shop.times, change);
        Ok((self.replace_shop(stamp, project, shop), number))
    }
}

#[async_trait]
impl RecordRepository<StaffShop> for InMemoryOrganization {
    async fn list(&self, project: ProjectId) -> Result<Vec<StaffShop>, StoreError> {
        Ok(self.state.with(|state| state.shops(project)))
    }

    async fn find(&self, id: ShopId) -> Result<Option<ProjectScoped<StaffShop>>, StoreError> {
        Ok(self.state.with(|state| {
            let found = state.shops.get(&id);
            found.map(|(project, stored)| ProjectScoped::new(*project, state.shop(*project, stored)))
        }))
    }

    async fn insert(&self, stamp: Stamp, draft: ShopDetails) -> Result<StaffShop, ShopError> {
        self.state.with(|state| state.insert_shop(stamp, draft))
    }

    async fn update(&self, stamp: Stamp, id: ShopId, change: ShopChange) -> Result<StaffShop, ShopError> {
        self.state.with(|state| state.update_shop(stamp, id, change))
    }
}

#[async_trait]
impl DeletableRepository<StaffShop> for InMemoryOrganization {
    async fn delete(&self, stamp: Stamp, id: ShopId) -> Result<(), ShopError> {
        self.state.with(|state| {
            state.own_shop(stamp, id)?;
            state.shops.remove(&id);
            Ok(())
        })
    }
}

#[async_trait]
impl ListedRepository<StaffShop> for InMemoryOrganization {
    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<StaffShop>, StoreError> {
        listing.page_of(self.state.with(|state| state.shops(project)))
    }
}

#[async_trait]
impl ShopRepository for InMemoryOrganization {
    async fn list(&self, project: ProjectId) -> Result<Vec<Shop>, StoreError> {
        Ok(self.state.with(|state| state.customer_shops(project)))
    }

    async fn find(&self, project: ProjectId, id: ShopId) -> Result<Option<Shop>, StoreError> {
        Ok(self.state.with(|state| state.customer_shops(project)).into_iter().find(|shop| shop.id == id))
    }
}

#[async_trait]
impl OpeningTimesStore for InMemoryOrganization {
    async fn change_times(&self, stamp: Stamp, id: ShopId, change: TimesChange) -> Result<(StaffShop, i64), ShopError> {
        self.state.with(|state| state.change_times(stamp, id, change))
    }
}
