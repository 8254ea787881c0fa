use std::sync::Arc;

use kontor_kernel::{Clock, IntegrationId, IntegrationParameterId, Permission, Resource, SecretCipher, Staff, Stamp};

use crate::IntegrationError;
use crate::model::{Integration, IntegrationOwner, IntegrationParameter, ParameterDraft, UsedIntegration};
use crate::ports::IntegrationRepository;

/// Use cases of integrations: the available ones, and those that a record uses.
pub struct IntegrationService {
    /// Storage of integrations.
    pub integrations: Arc<dyn IntegrationRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Seals secrets and computes fingerprints.
    pub cipher: Arc<dyn SecretCipher>,
}

impl IntegrationService {
    /// Returns every integration.
    pub async fn all(&self, staff: &Staff) -> Result<Vec<Integration>, IntegrationError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        Ok(self.integrations.all().await?)
    }

    /// Returns one integration.
    pub async fn one(&self, staff: &Staff, id: IntegrationId) -> Result<Integration, IntegrationError> {
        staff.require(Permission::view(Resource::Dictionaries))?;
        self.integrations.find(id).await?.ok_or(IntegrationError::NotFound)
    }

    /// Returns the integrations available for a record of the employee's project, with their state.
    pub async fn list(&self, staff: &Staff, owner: IntegrationOwner) -> Result<Vec<UsedIntegration>, IntegrationError> {
        self.authorize(staff, owner, owner.kind().view()).await?;
        Ok(self.integrations.used(owner).await?)
    }

    /// Returns an integration available for a record of the employee's project, with its state.
    pub async fn read(
        &self,
        staff: &Staff,
        owner: IntegrationOwner,
        id: IntegrationId,
    ) -> Result<UsedIntegration, IntegrationError> {
        let used = self.list(staff, owner).await?;
        used.into_iter().find(|used| used.integration.id == id).ok_or(IntegrationError::NotFound)
    }

    /// Turns an integration of a record of the employee's project on or off.
    pub async fn switch(
        &self,
        staff: &Staff,
        owner: IntegrationOwner,
        id: IntegrationId,
        is_active: bool,
    ) -> Result<UsedIntegration, IntegrationError> {
        self.authorize(staff, owner, owner.kind().edit()).await?;
        self.integrations.switch(Stamp::of(staff, self.clock.now()), owner, id, is_active).await
    }

    /// Returns the parameters of an integration of a record of the employee's project, secrets masked.
    pub async fn parameters(
        &self,
        staff: &Staff,
        owner: IntegrationOwner,
        id: IntegrationId,
    ) -> Result<Vec<IntegrationParameter>, IntegrationError> {
        self.authorize(staff, owner, owner.kind().view()).await?;
        self.require(owner, id).await?;
        Ok(self.integrations.parameters(owner, id).await?)
    }

    /// Adds a parameter; a secret value is stored sealed.
    pub async fn add_parameter(
        &self,
        staff: &Staff,
        owner: IntegrationOwner,
        id: IntegrationId,
        draft: ParameterDraft,
    ) -> Result<IntegrationParameter, IntegrationError> {
        self.authorize(staff, owner, owner.kind().edit()).await?;
        let value = draft.stored(&*self.cipher);
        self.integrations.add_parameter(Stamp::of(staff, self.clock.now()), owner, id, draft.key, value).await
    }

    /// Removes a parameter.
    pub async fn remove_parameter(
        &self,
        staff: &Staff,
        owner: IntegrationOwner,
        id: IntegrationId,
        parameter: IntegrationParameterId,
    ) -> Result<(), IntegrationError> {
        self.authorize(staff, owner, owner.kind().edit()).await?;
        let stamp = Stamp::of(staff, self.clock.now());
        let removed = self.integrations.remove_parameter(stamp, owner, id, parameter).await?;
        if removed { Ok(()) } else { Err(IntegrationError::NotFound) }
    }

    async fn require(&self, owner: IntegrationOwner, id: IntegrationId) -> Result<(), IntegrationError> {
        let known = self.integrations.find(id).await?.filter(|known| known.owner == owner.kind());
        known.map(|_| ()).ok_or(IntegrationError::NotFound)
    }

    async fn authorize(
        &self,
        staff: &Staff,
        owner: IntegrationOwner,
        permission: Permission,
    ) -> Result<(), IntegrationError> {
        staff.require(permission)?;
        staff.require_own(self.integrations.owner(owner).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{IntegrationKind, StoredValue};
    use crate::ports::MockIntegrationRepository;
    use chrono::DateTime;
    use kontor_kernel::testing::{PlainCipher, staff_with};
    use kontor_kernel::{AccessDenied, FixedClock, Line, Name, ProjectId, ProjectScoped, WarehouseId};

    fn service(integrations: MockIntegrationRepository) -> IntegrationService {
        let clock = Arc::new(FixedClock::at(DateTime::UNIX_EPOCH));
        IntegrationService { integrations: Arc::new(integrations), clock, cipher: Arc::new(PlainCipher) }
    }

    fn owner() -> IntegrationOwner {
        IntegrationOwner::Warehouse(WarehouseId::new(5).unwrap())
    }

    fn of_project(project: i64) -> MockIntegrationRepository {
        let mut integrations = MockIntegrationRepository::new();
        integrations
            .expect_owner()
            .returning(move |_| Ok(Some(ProjectScoped::new(ProjectId::new(project).unwrap(), ()))));
        integrations
    }

    #[tokio::test]
    async fn a_secret_is_sealed_before_it_is_stored() {
        let mut integrations = of_project(1);
        integrations.expect_add_parameter().times(1).returning(|_, _, _, key, value| {
            assert!(matches!(value, StoredValue::Sealed(text) if text == "sealed:s3cret"));
            let id = IntegrationParameterId::new(1).unwrap();
            Ok(IntegrationParameter { id, key, value: None, created_at: DateTime::UNIX_EPOCH })
        });
        let draft = ParameterDraft {
            key: Line::parse("token").unwrap(),
            value: Line::parse("s3cret").unwrap(),
            is_secret: true,
        };
        let staff = staff_with(Permission::all());
        let id = IntegrationId::new(4).unwrap();
        assert_eq!(service(integrations).add_parameter(&staff, owner(), id, draft).await.unwrap().value, None);
    }

    #[tokio::test]
    async fn another_projects_warehouse_is_neither_shown_nor_touched() {
        let service = service(of_project(2));
        let (staff, id) = (staff_with(Permission::all()), IntegrationId::new(4).unwrap());
        let foreign = |error| matches!(error, IntegrationError::Denied(AccessDenied::ForeignProject));
        assert!(foreign(service.list(&staff, owner()).await.unwrap_err()));
        assert!(foreign(service.read(&staff, owner(), id).await.unwrap_err()));
        assert!(foreign(service.switch(&staff, owner(), id, true).await.unwrap_err()));
        assert!(foreign(service.parameters(&staff, owner(), id).await.unwrap_err()));
        let parameter = IntegrationParameterId::new(1).unwrap();
        assert!(foreign(service.remove_parameter(&staff, owner(), id, parameter).await.unwrap_err()));
    }

    #[tokio::test]
    async fn an_integration_of_other_records_is_not_found() {
        let mut integrations = of_project(1);
        integrations.expect_find().returning(|id| {
            let kind = (1, Name::parse("Online payments").unwrap());
            let owner = IntegrationKind::BankRequisite;
            Ok(Some(Integration { id, name: Name::parse("Acquirer").unwrap(), kind, owner }))
        });
        let staff = staff_with(Permission::all());
        let read = service(integrations).parameters(&staff, owner(), IntegrationId::new(1).unwrap()).await;
        assert!(matches!(read, Err(IntegrationError::NotFound)));
    }
}
