use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    IntegrationId, IntegrationParameterId, Name, ProjectId, ProjectScoped, Stamp, StoreError, Word as _,
};

use super::{Guard, InMemoryOrganization, State};
use crate::model::{
    Integration, IntegrationKind, IntegrationOwner, IntegrationParameter, ParameterKey, StoredValue, UsedIntegration,
};
use crate::ports::IntegrationRepository;
use crate::{IntegrationError, IntegrationRefusal};

/// Maximum parameters of one integration per record.
const MAX_PARAMETERS: usize = 50;

/// Integrations as in a new installation: number, name, number and name of the type, kind of records.
const INTEGRATIONS: &[(i64, &str, (i64, &str), IntegrationKind)] = &[
    (1, "Acquirer", (1, "Online payments"), IntegrationKind::BankRequisite),
    (2, "Online cash register", (2, "Cash register"), IntegrationKind::BankRequisite),
    (3, "Delivery service", (3, "Delivery service"), IntegrationKind::Warehouse),
];

fn integrations() -> Result<Vec<Integration>, StoreError> {
    let named = |text: &str| Name::parse(text).map_err(StoreError::corrupt);
    let all = INTEGRATIONS.iter().map(|(number, name, (kind, kind_name), owner)| {
        let id = IntegrationId::new(*number).map_err(StoreError::corrupt)?;
        Ok::<_, StoreError>(Integration { id, name: named(name)?, kind: (*kind, named(kind_name)?), owner: *owner })
    });
    all.collect()
}

/// Use of an integration by a record. The values of secret parameters are not kept, because no port reads them.
#[derive(Clone, Default)]
pub(super) struct Link {
    is_active: bool,
    updated_at: Option<DateTime<Utc>>,
    parameters: Vec<IntegrationParameter>,
}

fn key(owner: IntegrationOwner, id: IntegrationId) -> (&'static str, i64, IntegrationId) {
    (owner.kind().word(), owner.number(), id)
}

impl State {
    fn project_of(&self, owner: IntegrationOwner) -> Option<ProjectId> {
        let IntegrationOwner::BankRequisite(branch, id) = owner else { return None };
        self.accounts.get(&id).filter(|(_, (of, _))| *of == branch).map(|(project, _)| *project)
    }

    fn is_own(&self, stamp: Stamp, owner: IntegrationOwner) -> bool {
        self.project_of(owner).is_some_and(|project| self.owns(project, stamp))
    }

    /// Returns an integration that fits a record of the project, and its use by the record.
    fn link(
        &mut self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
    ) -> Result<(Integration, &mut Link), IntegrationError> {
        let is_own = self.is_own(stamp, owner);
        let mut all = integrations()?.into_iter();
        let fits = all.find(|known| known.id == id && known.owner == owner.kind()).filter(|_| is_own);
        let integration = fits.ok_or(IntegrationError::NotFound)?;
        Ok((integration, self.links.entry(key(owner, id)).or_default()))
    }

    fn add_parameter(
        &mut self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        key: ParameterKey,
        value: StoredValue,
    ) -> Result<IntegrationParameter, IntegrationError> {
        let (is_checked, number) = (self.guards.has(Guard::Key), self.ids.id());
        let (_, link) = self.link(stamp, owner, id)?;
        if link.parameters.len() >= MAX_PARAMETERS {
            return Err(IntegrationRefusal::TooMany.into());
        }
        if is_checked && link.parameters.iter().any(|parameter| parameter.key == key) {
            return Err(IntegrationRefusal::KeyTaken.into());
        }
        let value = match value {
            StoredValue::Plain(text) => Some(text),
            StoredValue::Sealed(_) => None,
        };
        let added = IntegrationParameter { id: number, key, value, created_at: stamp.at };
        link.parameters.push(added.clone());
        Ok(added)
    }
}

#[async_trait]
impl IntegrationRepository for InMemoryOrganization {
    async fn all(&self) -> Result<Vec<Integration>, StoreError> {
        integrations()
    }

    async fn find(&self, id: IntegrationId) -> Result<Option<Integration>, StoreError> {
        Ok(integrations()?.into_iter().find(|integration| integration.id == id))
    }

    async fn owner(&self, owner: IntegrationOwner) -> Result<Option<ProjectScoped<()>>, StoreError> {
        Ok(self.state.with(|state| state.project_of(owner)).map(|project| ProjectScoped::new(project, ())))
    }

    async fn used(&self, owner: IntegrationOwner) -> Result<Vec<UsedIntegration>, StoreError> {
        let fits = integrations()?.into_iter().filter(|integration| integration.owner == owner.kind());
        Ok(self.state.with(|state| {
            let used = fits.map(|integration| {
                let link = state.links.get(&key(owner, integration.id)).cloned().unwrap_or_default();
                UsedIntegration { integration, is_active: link.is_active, updated_at: link.updated_at }
            });
            used.collect()
        }))
    }

    async fn switch(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        is_active: bool,
    ) -> Result<UsedIntegration, IntegrationError> {
        self.state.with(|state| {
            let (integration, link) = state.link(stamp, owner, id)?;
            (link.is_active, link.updated_at) = (is_active, Some(stamp.at));
            Ok(UsedIntegration { integration, is_active, updated_at: link.updated_at })
        })
    }

    async fn parameters(
        &self,
        owner: IntegrationOwner,
        id: IntegrationId,
    ) -> Result<Vec<IntegrationParameter>, StoreError> {
        let link = self.state.with(|state| state.links.get(&key(owner, id)).cloned());
        Ok(link.unwrap_or_default().parameters)
    }

    async fn add_parameter(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        key: ParameterKey,
        value: StoredValue,
    ) -> Result<IntegrationParameter, IntegrationError> {
        self.state.with(|state| state.add_parameter(stamp, owner, id, key, value))
    }

    async fn remove_parameter(
        &self,
        stamp: Stamp,
        owner: IntegrationOwner,
        id: IntegrationId,
        parameter: IntegrationParameterId,
    ) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| {
            let is_own = state.is_own(stamp, owner);
            let Some(link) = state.links.get_mut(&key(owner, id)).filter(|_| is_own) else { return false };
            let before = link.parameters.len();
            link.parameters.retain(|known| known.id != parameter);
            link.parameters.len() < before
        }))
    }
}
