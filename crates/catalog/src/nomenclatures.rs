use std::sync::Arc;

use kontor_kernel::history::{Histories, HistoryEntry};
use kontor_kernel::{Clock, Listing, NomenclatureId, Page, PageRequest, Permission, Resource, Staff, Stamp};

use crate::model::{Card, CardChange, Nomenclature};
use crate::ports::NomenclatureRepository;
use crate::{NomenclatureError, NomenclatureRefusal};

/// Use cases of catalog items.
pub struct NomenclatureService {
    /// Storage.
    pub nomenclatures: Arc<dyn NomenclatureRepository>,
    /// History entries.
    pub histories: Arc<dyn Histories>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

/// Maximum attempts to apply a change when other changes interfere.
const ATTEMPTS: u32 = 5;

impl NomenclatureService {
    /// Returns one page of the items of the employee's project. Fields: `id`, `category_id`, `brand_id`, `kind_id`,
    /// `type_id`, `name`, `price`, `created_at`, `updated_at`. The text is searched in names and articles.
    pub async fn list(&self, staff: &Staff, listing: Listing) -> Result<Page<Nomenclature>, NomenclatureError> {
        staff.require(Permission::view(Resource::Nomenclatures))?;
        Ok(self.nomenclatures.list(staff.project_id, listing).await?)
    }

    /// Returns one item of the employee's project.
    pub async fn read(&self, staff: &Staff, id: NomenclatureId) -> Result<Nomenclature, NomenclatureError> {
        staff.require(Permission::view(Resource::Nomenclatures))?;
        staff.require_own(self.nomenclatures.find(id).await?)
    }

    /// Creates an item in the employee's project.
    pub async fn create(&self, staff: &Staff, card: Card) -> Result<Nomenclature, NomenclatureError> {
        staff.require(Permission::create(Resource::Nomenclatures))?;
        card.require_price().map_err(|error| NomenclatureRefusal::Card(error.into()))?;
        self.nomenclatures.insert(Stamp::of(staff, self.clock.now()), card).await
    }

    /// Changes an item of the employee's project. After a concurrent change it is decided again on the new version, so
    /// that neither is lost.
    pub async fn update(
        &self,
        staff: &Staff,
        id: NomenclatureId,
        change: CardChange,
    ) -> Result<Nomenclature, NomenclatureError> {
        staff.require(Permission::edit(Resource::Nomenclatures))?;
        for _ in 0..ATTEMPTS {
            let current: Nomenclature = staff.require_own(self.nomenclatures.find(id).await?)?;
            let card = change.clone().apply(current.card.clone()).map_err(NomenclatureRefusal::from)?;
            match self.nomenclatures.replace(Stamp::of(staff, self.clock.now()), current, card).await {
                Err(NomenclatureError::Refused(NomenclatureRefusal::Stale)) => {}
                outcome => return outcome,
            }
        }
        Err(NomenclatureRefusal::Stale.into())
    }

    /// Returns one page of the history of an item of the employee's project, newest first.
    pub async fn history(
        &self,
        staff: &Staff,
        id: NomenclatureId,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, NomenclatureError> {
        staff.require(Permission::view(Resource::Nomenclatures))?;
        staff.require_own(self.nomenclatures.find(id).await?)?;
        Ok(self.histories.page(staff.project_id, Resource::Nomenclatures.name(), id.get(), page).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CardLabels, CardRefusal, Edit, NomenclatureKind};
    use crate::ports::MockNomenclatureRepository;
    use chrono::DateTime;
    use kontor_kernel::history::MockHistories;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, FixedClock, Money, Name, ProjectId, ProjectScoped};

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn stored(version: u64, card: Card) -> Nomenclature {
        Nomenclature {
            id: NomenclatureId::new(7).unwrap(),
            card,
            labels: CardLabels {
                kind: name("Goods"),
                nomenclature_type: None,
                category: None,
                brand: None,
                country: None,
                storage_unit: None,
                vat: None,
                tags: Vec::new(),
            },
            version,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    fn of(project: i64, item: Nomenclature) -> ProjectScoped<Nomenclature> {
        ProjectScoped::new(ProjectId::new(project).unwrap(), item)
    }

    fn service(nomenclatures: MockNomenclatureRepository) -> NomenclatureService {
        let (nomenclatures, histories) = (Arc::new(nomenclatures), Arc::new(MockHistories::new()));
        NomenclatureService { nomenclatures, histories, clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)) }
    }

    async fn rename(nomenclatures: MockNomenclatureRepository) -> Result<Nomenclature, NomenclatureError> {
        let staff = staff_with([Permission::edit(Resource::Nomenclatures)]);
        let change = CardChange { name: Edit::Set(name("New")), ..CardChange::default() };
        service(nomenclatures).update(&staff, NomenclatureId::new(7).unwrap(), change).await
    }

    #[tokio::test]
    async fn a_lost_update_keeps_the_concurrent_change() {
        let mut nomenclatures = MockNomenclatureRepository::new();
        let old = Card::new(name("Old"), NomenclatureKind::Goods);
        let repriced = Card { price: Some(Money::MAX), ..old.clone() };
        let mut reads = vec![of(1, stored(2, repriced)), of(1, stored(1, old))];
        nomenclatures.expect_find().times(2).returning(move |_| Ok(reads.pop()));
        nomenclatures.expect_replace().times(2).returning(|_, seen, card| {
            if seen.version == 1 { Err(NomenclatureRefusal::Stale.into()) } else { Ok(stored(3, card)) }
        });
        let card = rename(nomenclatures).await.unwrap().card;
        assert_eq!((card.name.as_str(), card.price), ("New", Some(Money::MAX)));
    }

    #[tokio::test]
    async fn an_update_gives_up_after_repeated_conflicts() {
        let mut nomenclatures = MockNomenclatureRepository::new();
        nomenclatures
            .expect_find()
            .returning(|_| Ok(Some(of(1, stored(1, Card::new(name("Old"), NomenclatureKind::Goods))))));
        nomenclatures.expect_replace().times(5).returning(|_, _, _| Err(NomenclatureRefusal::Stale.into()));
        assert!(matches!(rename(nomenclatures).await, Err(NomenclatureError::Refused(NomenclatureRefusal::Stale))));
    }

    #[tokio::test]
    async fn an_item_of_another_project_is_refused() {
        let mut nomenclatures = MockNomenclatureRepository::new();
        nomenclatures
            .expect_find()
            .returning(|_| Ok(Some(of(2, stored(1, Card::new(name("Old"), NomenclatureKind::Goods))))));
        let refused = rename(nomenclatures).await;
        assert!(matches!(refused, Err(NomenclatureError::Denied(AccessDenied::ForeignProject))));
    }

    #[tokio::test]
    async fn a_service_without_a_price_is_not_made() {
        let staff = staff_with([Permission::create(Resource::Nomenclatures)]);
        let card = Card::new(name("Engraving"), NomenclatureKind::Service);
        let refused = service(MockNomenclatureRepository::new()).create(&staff, card).await;
        assert!(matches!(refused, Err(NomenclatureError::Refused(NomenclatureRefusal::Card(CardRefusal::Price(_))))));
    }

    #[tokio::test]
    async fn storage_is_not_read_without_the_permission() {
        let card = Card::new(name("New"), NomenclatureKind::Service);
        let viewer = staff_with([Permission::view(Resource::Nomenclatures)]);
        let refused = service(MockNomenclatureRepository::new()).create(&viewer, card).await;
        assert!(matches!(refused, Err(NomenclatureError::Denied(AccessDenied::MissingPermission(_)))));
    }
}
