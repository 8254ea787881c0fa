use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField, Histories, HistoryEntry};
use kontor_kernel::{
    Clock, Edit, HoldHours, Language, Money, Name, Page, PageRequest, Permission, ProjectId, RecordError, Resource,
    Staff, Stamp, Word as _, Zone,
};

use crate::DeliveryPriceError;
use crate::delivery_prices::{DeliveryPrice, NewDeliveryPrice};
use crate::ports::ProjectSettingsStore;

/// Settings of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectSettings {
    /// Project.
    pub id: ProjectId,
    /// Name.
    pub name: Name,
    /// Currency of every amount, ISO 4217. It cannot be changed.
    pub currency: String,
    /// Time zone, which defines the days of filters and reports.
    pub time_zone: Zone,
    /// Language of messages to customers.
    pub language: Language,
    /// `true` if changes of records require the header `If-Match`.
    pub if_match_required: bool,
    /// `true` if new orders include the price of their delivery.
    pub charges_delivery: bool,
    /// Maximum units that the unconfirmed contact form orders of one phone reserve together.
    pub contact_max_pieces: PieceLimit,
    /// Maximum price of the unconfirmed contact form orders of one phone together.
    pub contact_max_value: Money,
    /// Hours until an unconfirmed contact form order is canceled.
    pub contact_hold_hours: HoldHours,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// Changes of the settings of a project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectChange {
    /// Name.
    pub name: Edit<Name>,
    /// Time zone.
    pub time_zone: Edit<Zone>,
    /// Language of future messages to customers.
    pub language: Edit<Language>,
    /// See [`ProjectSettings::if_match_required`].
    pub if_match_required: Edit<bool>,
    /// See [`ProjectSettings::charges_delivery`].
    pub charges_delivery: Edit<bool>,
    /// See [`ProjectSettings::contact_max_pieces`].
    pub contact_max_pieces: Edit<PieceLimit>,
    /// See [`ProjectSettings::contact_max_value`].
    pub contact_max_value: Edit<Money>,
    /// See [`ProjectSettings::contact_hold_hours`]. Applies to new orders.
    pub contact_hold_hours: Edit<HoldHours>,
}

/// Maximum number of units, from 0 to 4,294,967,295.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceLimit(u32);

/// Error: the number of units is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 0 to {}", PieceLimit::MAX)]
pub struct InvalidPieceLimit;

impl PieceLimit {
    /// Maximum number of units.
    pub const MAX: u32 = u32::MAX;

    /// Checks a number of units.
    pub fn new(pieces: i64) -> Result<Self, InvalidPieceLimit> {
        u32::try_from(pieces).map(Self).map_err(|_| InvalidPieceLimit)
    }

    /// Returns the number of units.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for PieceLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Audited for ProjectSettings {
    const RESOURCE: Resource = Resource::Settings;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        vec![
            ("name", Some(self.name.to_string())),
            ("time_zone", Some(self.time_zone.name().to_owned())),
            ("language", Some(self.language.word().to_owned())),
            ("if_match_required", Some(self.if_match_required.to_string())),
            ("charges_delivery", Some(self.charges_delivery.to_string())),
            ("contact_max_pieces", Some(self.contact_max_pieces.to_string())),
            ("contact_max_value", Some(self.contact_max_value.to_string())),
            ("contact_hold_hours", Some(self.contact_hold_hours.to_string())),
        ]
    }
}

/// Use cases of the settings of a project, for staff.
pub struct ProjectSettingsService {
    /// Storage of the settings.
    pub settings: Arc<dyn ProjectSettingsStore>,
    /// History of the settings.
    pub histories: Arc<dyn Histories>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl ProjectSettingsService {
    /// Returns the settings of the employee's project.
    pub async fn read(&self, staff: &Staff) -> Result<ProjectSettings, RecordError> {
        staff.require(Permission::view(Resource::Settings))?;
        self.settings.project_settings(staff.project_id).await?.ok_or(RecordError::NotFound)
    }

    /// Changes the settings of the employee's project. They apply from the commit on.
    pub async fn update(&self, staff: &Staff, change: ProjectChange) -> Result<ProjectSettings, RecordError> {
        staff.require(Permission::edit(Resource::Settings))?;
        self.settings.change_project_settings(Stamp::of(staff, self.clock.now()), change).await
    }

    /// Returns the delivery prices of the employee's project.
    pub async fn delivery_prices(&self, staff: &Staff) -> Result<Vec<DeliveryPrice>, DeliveryPriceError> {
        staff.require(Permission::view(Resource::Settings))?;
        Ok(self.settings.delivery_prices(staff.project_id).await?)
    }

    /// Sets delivery prices of the employee's project, for future orders. Others keep their values. Returns all.
    pub async fn set_delivery_prices(
        &self,
        staff: &Staff,
        prices: Vec<NewDeliveryPrice>,
    ) -> Result<Vec<DeliveryPrice>, DeliveryPriceError> {
        staff.require(Permission::edit(Resource::Settings))?;
        self.settings.set_delivery_prices(Stamp::of(staff, self.clock.now()), prices).await
    }

    /// Returns one page of the history of the settings, latest first.
    pub async fn history(&self, staff: &Staff, page: PageRequest) -> Result<Page<HistoryEntry>, RecordError> {
        staff.require(Permission::view(Resource::Settings))?;
        Ok(self.histories.page(staff.project_id, Resource::Settings.name(), staff.project_id.get(), page).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockProjectSettingsStore;
    use kontor_kernel::history::MockHistories;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, FixedClock};

    fn service(settings: MockProjectSettingsStore, histories: MockHistories) -> ProjectSettingsService {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        ProjectSettingsService { settings: Arc::new(settings), histories: Arc::new(histories), clock }
    }

    fn stored(id: ProjectId) -> ProjectSettings {
        ProjectSettings {
            id,
            name: Name::parse("Trial").unwrap(),
            currency: "RUB".to_owned(),
            time_zone: Zone::UTC,
            language: Language::En,
            if_match_required: false,
            charges_delivery: false,
            contact_max_pieces: PieceLimit(100),
            contact_max_value: Money::ZERO,
            contact_hold_hours: HoldHours::DEFAULT,
            created_at: DateTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn a_piece_limit_has_a_range() {
        assert_eq!([0, 100, 4_294_967_295].map(|pieces| PieceLimit::new(pieces).unwrap().get()), [0, 100, u32::MAX]);
        for wrong in [-1, 4_294_967_296] {
            let refused = PieceLimit::new(wrong).unwrap_err().to_string();
            assert_eq!(refused, "must be a whole number from 0 to 4294967295", "{wrong}");
        }
    }

    #[tokio::test]
    async fn each_use_case_needs_its_permission_before_anything_is_read() {
        let service = service(MockProjectSettingsStore::new(), MockHistories::new());
        let page = PageRequest::new(1, 10, 10).unwrap();
        let missing = |error: RecordError| match error {
            RecordError::Denied(AccessDenied::MissingPermission(permission)) => permission.to_string(),
            other => panic!("{other}"),
        };
        let viewer = staff_with([Permission::view(Resource::Settings)]);
        let editor = staff_with([Permission::edit(Resource::Settings)]);
        assert_eq!(missing(service.read(&editor).await.unwrap_err()), "view-settings");
        assert_eq!(missing(service.history(&editor, page).await.unwrap_err()), "view-settings");
        let change = ProjectChange::default();
        assert_eq!(missing(service.update(&viewer, change).await.unwrap_err()), "edit-settings");
        let denied =
            |error: DeliveryPriceError| matches!(error, RecordError::Denied(AccessDenied::MissingPermission(_)));
        assert!(denied(service.delivery_prices(&editor).await.unwrap_err()));
        assert!(denied(service.set_delivery_prices(&viewer, Vec::new()).await.unwrap_err()));
    }

    #[tokio::test]
    async fn settings_and_their_history_are_those_of_the_own_project() {
        let staff = staff_with(Permission::all());
        let (project, expected) = (staff.project_id, Stamp::of(&staff, DateTime::UNIX_EPOCH));
        let mut settings = MockProjectSettingsStore::new();
        settings.expect_project_settings().withf(move |id| *id == project).returning(|id| Ok(Some(stored(id))));
        settings
            .expect_change_project_settings()
            .withf(move |stamp, _| *stamp == expected)
            .returning(|stamp, _| Ok(stored(stamp.project_id)));
        let mut histories = MockHistories::new();
        histories
            .expect_page()
            .withf(move |of, kind, number, _| (*of, kind, *number) == (project, "settings", project.get()))
            .returning(|_, _, _, request| Ok(Page { items: vec![], total: 0, request }));
        let service = service(settings, histories);
        assert_eq!(service.read(&staff).await.unwrap(), stored(project));
        assert_eq!(service.update(&staff, ProjectChange::default()).await.unwrap(), stored(project));
        let page = PageRequest::new(1, 10, 10).unwrap();
        assert_eq!(service.history(&staff, page).await.unwrap().total, 0);
    }
}
