//! Use cases shared by all records of a project that staff manage.

use std::convert::Infallible;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::history::{Audited, Histories, HistoryEntry};
use crate::{
    AccessDenied, Clock, Listing, Page, PageRequest, Permission, ProjectId, ProjectScoped, Staff, Stamp, StoreError,
};

/// Record that staff list, read, create and change with the permissions of its resource.
pub trait Record: Audited + Send + Sync + 'static {
    /// Identifier type.
    type Id: Copy + Into<i64> + Send + Sync + 'static;
    /// Fields of a new record.
    type Draft: Send + Sync + 'static;
    /// Change of a record.
    type Change: Send + Sync + 'static;
    /// Refusals specific to this kind of record; [`Infallible`] if there are none.
    type Refusal: Refusal;

    /// Refuses a new record that is not valid at this time.
    fn admit(_draft: &Self::Draft, _now: DateTime<Utc>) -> Result<(), Self::Refusal> {
        Ok(())
    }

    /// Refuses a change that does not fit the record or the time.
    fn admit_change(&self, _change: &Self::Change, _now: DateTime<Utc>) -> Result<(), Self::Refusal> {
        Ok(())
    }
}

/// Error of a use case of a record.
pub type RecordErrorOf<T> = RecordError<<T as Record>::Refusal>;

/// Storage of records. Each change is one commit together with its history entry.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait RecordRepository<T: Record>: Send + Sync {
    /// Returns every record of the project, oldest first.
    async fn list(&self, project: ProjectId) -> Result<Vec<T>, StoreError>;

    /// Returns a record of any project.
    async fn find(&self, id: T::Id) -> Result<Option<ProjectScoped<T>>, StoreError>;

    /// Stores a new record of the project.
    async fn insert(&self, stamp: Stamp, draft: T::Draft) -> Result<T, RecordErrorOf<T>>;

    /// Changes a record of the project.
    async fn update(&self, stamp: Stamp, id: T::Id, change: T::Change) -> Result<T, RecordErrorOf<T>>;
}

/// Storage of records that can also be deleted.
#[async_trait]
pub trait DeletableRepository<T: Record>: RecordRepository<T> {
    /// Deletes a record of the project.
    async fn delete(&self, stamp: Stamp, id: T::Id) -> Result<(), RecordErrorOf<T>>;
}

/// Storage of records that are listed by page.
#[async_trait]
pub trait ListedRepository<T: Record>: RecordRepository<T> {
    /// Returns one page of the records of the project.
    async fn page(&self, project: ProjectId, listing: Listing) -> Result<Page<T>, StoreError>;
}

/// Storage of records that are listed by page and can be deleted.
pub trait ListedDeletableRepository<T: Record>: ListedRepository<T> + DeletableRepository<T> {}

impl<T: Record, S: ListedRepository<T> + DeletableRepository<T> + ?Sized> ListedDeletableRepository<T> for S {}

/// Use cases of records that only permissions and tenant isolation restrict. The storage checks references and unique
/// names in the commit. Records with more rules have their own service.
pub struct RecordService<T: Record, S: RecordRepository<T> + ?Sized = dyn RecordRepository<T>> {
    records: Arc<S>,
    clock: Arc<dyn Clock>,
    kind: std::marker::PhantomData<fn() -> T>,
}

impl<T: Record, S: RecordRepository<T> + ?Sized> RecordService<T, S> {
    /// Creates the service from its ports.
    pub const fn new(records: Arc<S>, clock: Arc<dyn Clock>) -> Self {
        Self { records, clock, kind: std::marker::PhantomData }
    }

    /// Returns every record of the employee's project, oldest first.
    pub async fn list(&self, staff: &Staff) -> Result<Vec<T>, RecordErrorOf<T>> {
        staff.require(Permission::view(T::RESOURCE))?;
        Ok(self.records.list(staff.project_id).await?)
    }

    /// Returns one record of the employee's project.
    pub async fn read(&self, staff: &Staff, id: T::Id) -> Result<T, RecordErrorOf<T>> {
        staff.require(Permission::view(T::RESOURCE))?;
        staff.require_own(self.records.find(id).await?)
    }

    /// Creates a record in the employee's project.
    pub async fn create(&self, staff: &Staff, draft: T::Draft) -> Result<T, RecordErrorOf<T>> {
        staff.require(Permission::create(T::RESOURCE))?;
        let now = self.clock.now();
        T::admit(&draft, now)?;
        self.records.insert(Stamp::of(staff, now), draft).await
    }

    /// Changes a record of the employee's project.
    pub async fn update(&self, staff: &Staff, id: T::Id, change: T::Change) -> Result<T, RecordErrorOf<T>> {
        staff.require(Permission::edit(T::RESOURCE))?;
        let before = staff.require_own(self.records.find(id).await?)?;
        let now = self.clock.now();
        before.admit_change(&change, now)?;
        self.records.update(Stamp::of(staff, now), id, change).await
    }
}

impl<T: Record, S: DeletableRepository<T> + ?Sized> RecordService<T, S> {
    /// Deletes a record of the employee's project.
    pub async fn delete(&self, staff: &Staff, id: T::Id) -> Result<(), RecordErrorOf<T>> {
        staff.require(Permission::edit(T::RESOURCE))?;
        staff.require_own(self.records.find(id).await?)?;
        self.records.delete(Stamp::of(staff, self.clock.now()), id).await
    }
}

impl<T: Record, S: ListedRepository<T> + ?Sized> RecordService<T, S> {
    /// Returns one page of the records of the employee's project.
    pub async fn page(&self, staff: &Staff, listing: Listing) -> Result<Page<T>, RecordErrorOf<T>> {
        staff.require(Permission::view(T::RESOURCE))?;
        Ok(self.records.page(staff.project_id, listing).await?)
    }
}

/// History of records of one kind.
pub struct RecordHistory<T: Record, S: RecordRepository<T> + ?Sized = dyn RecordRepository<T>> {
    records: Arc<S>,
    histories: Arc<dyn Histories>,
    kind: std::marker::PhantomData<fn() -> T>,
}

impl<T: Record, S: RecordRepository<T> + ?Sized> RecordHistory<T, S> {
    /// Creates the service from its ports.
    pub const fn new(records: Arc<S>, histories: Arc<dyn Histories>) -> Self {
        Self { records, histories, kind: std::marker::PhantomData }
    }

    /// Returns one page of the history of a record of the employee's project, newest first.
    pub async fn page(
        &self,
        staff: &Staff,
        id: T::Id,
        page: PageRequest,
    ) -> Result<Page<HistoryEntry>, RecordErrorOf<T>> {
        staff.require(Permission::view(T::RESOURCE))?;
        staff.require_own(self.records.find(id).await?)?;
        Ok(self.histories.page(staff.project_id, T::KIND, id.into(), page).await?)
    }
}

/// Refusal specific to one kind of record, such as a name in use.
pub trait Refusal: std::error::Error + Send + Sync + 'static {}

/// For records without specific refusals.
impl Refusal for Infallible {}

/// Error of a use case of a record; `R` is the refusal specific to its kind.
#[derive(Debug, thiserror::Error)]
pub enum RecordError<R: Refusal = Infallible> {
    /// The employee lacks a permission.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The record does not exist.
    #[error("there is no such record")]
    NotFound,
    /// A rule of this kind of record refuses it.
    #[error(transparent)]
    Refused(R),
    /// Storage failure.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<R: Refusal> From<R> for RecordError<R> {
    fn from(refusal: R) -> Self {
        Self::Refused(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::AuditedField;
    use crate::testing::staff_with;
    use crate::{BrandId, FixedClock, Resource};

    #[derive(Debug, PartialEq, Eq)]
    struct Label(i64);

    impl Audited for Label {
        const RESOURCE: Resource = Resource::Brands;

        fn number(&self) -> i64 {
            self.0
        }

        fn audited_fields(&self) -> Vec<AuditedField> {
            Vec::new()
        }
    }

    impl Record for Label {
        type Id = BrandId;
        type Draft = i64;
        type Change = i64;
        type Refusal = Infallible;
    }

    mockall::mock! {
        Labels {}

        #[async_trait]
        impl RecordRepository<Label> for Labels {
            async fn list(&self, project: ProjectId) -> Result<Vec<Label>, StoreError>;
            async fn find(&self, id: BrandId) -> Result<Option<ProjectScoped<Label>>, StoreError>;
            async fn insert(&self, stamp: Stamp, draft: i64) -> Result<Label, RecordError>;
            async fn update(&self, stamp: Stamp, id: BrandId, change: i64) -> Result<Label, RecordError>;
        }

        #[async_trait]
        impl DeletableRepository<Label> for Labels {
            async fn delete(&self, stamp: Stamp, id: BrandId) -> Result<(), RecordError>;
        }
    }

    fn service(labels: MockLabels) -> RecordService<Label, MockLabels> {
        RecordService::new(Arc::new(labels), Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)))
    }

    fn id() -> BrandId {
        BrandId::new(7).unwrap()
    }

    /// The project of `staff_with`, and another project.
    fn projects() -> [ProjectId; 2] {
        let own = staff_with([]).project_id;
        [own, ProjectId::new(own.get() + 1).unwrap()]
    }

    #[tokio::test]
    async fn each_use_case_needs_its_permission_before_anything_is_asked() {
        let service = service(MockLabels::new());
        let missing = |error: RecordError| match error {
            RecordError::Denied(AccessDenied::MissingPermission(permission)) => permission.to_string(),
            other => panic!("{other}"),
        };
        let nobody = staff_with([]);
        assert_eq!(missing(service.list(&nobody).await.unwrap_err()), "view-brands");
        assert_eq!(missing(service.read(&nobody, id()).await.unwrap_err()), "view-brands");
        assert_eq!(missing(service.create(&nobody, 1).await.unwrap_err()), "create-brands");
        assert_eq!(missing(service.update(&nobody, id(), 1).await.unwrap_err()), "edit-brands");
        assert_eq!(missing(service.delete(&nobody, id()).await.unwrap_err()), "edit-brands");
    }

    #[tokio::test]
    async fn a_record_of_another_project_is_neither_shown_nor_touched() {
        let mut labels = MockLabels::new();
        let [_, other] = projects();
        labels.expect_find().times(3).returning(move |_| Ok(Some(ProjectScoped::new(other, Label(7)))));
        let (service, staff) = (service(labels), staff_with(Permission::all()));
        let foreign = |error| matches!(error, RecordError::Denied(AccessDenied::ForeignProject));
        assert!(foreign(service.read(&staff, id()).await.unwrap_err()));
        assert!(foreign(service.update(&staff, id(), 1).await.unwrap_err()));
        assert!(foreign(service.delete(&staff, id()).await.unwrap_err()));
    }

    #[tokio::test]
    async fn a_change_is_stored_in_the_name_of_who_makes_it() {
        let mut labels = MockLabels::new();
        let [own, _] = projects();
        let staff = staff_with(Permission::all());
        let expected = Stamp::of(&staff, DateTime::UNIX_EPOCH);
        labels.expect_find().returning(move |_| Ok(Some(ProjectScoped::new(own, Label(7)))));
        labels.expect_insert().withf(move |stamp, _| *stamp == expected).returning(|_, draft| Ok(Label(draft)));
        labels.expect_update().withf(move |stamp, _, _| *stamp == expected).returning(|_, _, change| Ok(Label(change)));
        labels.expect_delete().withf(move |stamp, _| *stamp == expected).returning(|_, _| Ok(()));
        let service = service(labels);
        assert_eq!(service.create(&staff, 5).await.unwrap(), Label(5));
        assert_eq!(service.update(&staff, id(), 6).await.unwrap(), Label(6));
        service.delete(&staff, id()).await.unwrap();
    }

    #[tokio::test]
    async fn missing_records_are_not_found() {
        let mut labels = MockLabels::new();
        labels.expect_find().returning(|_| Ok(None));
        let refused = service(labels).update(&staff_with(Permission::all()), id(), 1).await;
        assert!(matches!(refused, Err(RecordError::NotFound)));
    }

    #[tokio::test]
    async fn records_and_histories_are_those_of_the_own_project() {
        let mut labels = MockLabels::new();
        let [own, _] = projects();
        labels.expect_list().withf(move |project| *project == own).returning(|_| Ok(vec![Label(7), Label(8)]));
        labels.expect_find().returning(move |_| Ok(Some(ProjectScoped::new(own, Label(7)))));
        let (labels, staff) = (Arc::new(labels), staff_with(Permission::all()));
        let service = RecordService::new(labels.clone(), Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)));
        assert_eq!(service.list(&staff).await.unwrap(), [Label(7), Label(8)]);
        assert_eq!(service.read(&staff, id()).await.unwrap(), Label(7));

        let request = PageRequest::new(1, 10, 10).unwrap();
        let mut histories = crate::history::MockHistories::new();
        histories
            .expect_page()
            .withf(move |project, kind, number, page| (*project, kind, *number, *page) == (own, "brands", 7, request))
            .returning(|_, _, _, request| Ok(Page { items: vec![], total: 3, request }));
        let history = RecordHistory::new(labels, Arc::new(histories));
        assert_eq!(history.page(&staff, id(), request).await.unwrap().total, 3);
        assert!(history.page(&staff_with([]), id(), request).await.is_err());
    }
}
