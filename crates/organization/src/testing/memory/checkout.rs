use std::collections::BTreeSet;

use async_trait::async_trait;
use kontor_kernel::{
    AppScope, ApplicationId, DeliverySubtypeId, DeliveryTypeId, Edit, PaymentTypeId, ProjectId, ProjectScoped,
    RecordError, RecordRepository, Stamp, StoreError,
};

use super::{Guard, InMemoryOrganization, State, of_project, scoped};
use crate::model::{
    DeliverySubtype, DeliverySubtypeParam, DeliveryType, PaymentChoice, PaymentType, PaymentTypeChange,
    PaymentTypeDraft,
};
use crate::ports::CheckoutOptionRepository;
use crate::{ApplicationError, ApplicationRefusal};

impl State {
    pub(super) fn delivery_types(&self, project: ProjectId) -> Vec<DeliveryType> {
        let own = self.delivery_types.iter().filter(|((owner, _), _)| *owner == project);
        own.map(|(_, stored)| stored.clone()).collect()
    }

    pub(super) fn delivery_subtypes(&self, project: ProjectId, of_type: DeliveryTypeId) -> Vec<DeliverySubtype> {
        let own = self.delivery_subtypes.iter().filter(|((owner, _), (of, _))| *owner == project && *of == of_type);
        own.map(|(_, (_, stored))| stored.clone()).collect()
    }

    fn choices(&self, id: ApplicationId) -> Option<ProjectScoped<Vec<PaymentChoice>>> {
        let (project, _) = self.applications.get(&id)?;
        let chosen = self.accepted.get(&id).filter(|chosen| !chosen.is_empty());
        let choice = |payment_type: PaymentType| {
            let is_taken = chosen.is_none_or(|chosen| chosen.contains(&payment_type.id));
            PaymentChoice { payment_type, is_taken }
        };
        let all = of_project(self.payment_types.values(), *project);
        Some(ProjectScoped::new(*project, all.into_iter().map(choice).collect()))
    }

    fn choose(
        &mut self,
        stamp: Stamp,
        id: ApplicationId,
        chosen: BTreeSet<PaymentTypeId>,
    ) -> Result<(), ApplicationError> {
        let (checked, any) = (self.guards.has(Guard::Payment), !self.guards.has(Guard::Project));
        let found = self.applications.get_mut(&id).filter(|(owner, _)| *owner == stamp.project_id || any);
        let (project, stored) = found.ok_or(ApplicationError::NotFound)?;
        let is_own = |kind: &PaymentTypeId| self.payment_types.get(kind).is_some_and(|(owner, _)| *owner == *project);
        if checked && !chosen.iter().all(is_own) {
            return Err(ApplicationRefusal::UnknownPaymentType.into());
        }
        stored.application.updated_at = stamp.at;
        self.accepted.insert(id, chosen);
        Ok(())
    }

    fn insert_payment_type(&mut self, stamp: Stamp, draft: PaymentTypeDraft) -> PaymentType {
        let added = PaymentType {
            id: self.ids.id(),
            name: draft.name,
            description: draft.description.map(|text| text.to_string()),
            photo: draft.photo.map(|url| url.to_string()),
            is_online: draft.is_online,
        };
        self.payment_types.insert(added.id, (stamp.project_id, added.clone()));
        added
    }

    fn update_payment_type(
        &mut self,
        stamp: Stamp,
        id: PaymentTypeId,
        change: PaymentTypeChange,
    ) -> Result<PaymentType, RecordError> {
        let any = !self.guards.has(Guard::Project);
        let found = self.payment_types.get_mut(&id).filter(|(owner, _)| *owner == stamp.project_id || any);
        let Some((_, stored)) = found else { return Err(RecordError::NotFound) };
        if let Edit::Set(text) = change.description {
            stored.description = text.map(|text| text.to_string());
        }
        if let Edit::Set(url) = change.photo {
            stored.photo = url.map(|url| url.to_string());
        }
        stored.name = change.name.or(stored.name.clone());
        stored.is_online = change.is_online.or(stored.is_online);
        Ok(stored.clone())
    }
}

#[async_trait]
impl CheckoutOptionRepository for InMemoryOrganization {
    async fn delivery_types(&self, project: ProjectId) -> Result<Vec<DeliveryType>, StoreError> {
        Ok(self.state.with(|state| state.delivery_types(project)))
    }

    async fn delivery_subtypes(
        &self,
        project: ProjectId,
        delivery_type: DeliveryTypeId,
    ) -> Result<Vec<DeliverySubtype>, StoreError> {
        Ok(self.state.with(|state| state.delivery_subtypes(project, delivery_type)))
    }

    async fn delivery_subtype(
        &self,
        project: ProjectId,
        id: DeliverySubtypeId,
    ) -> Result<Option<DeliverySubtype>, StoreError> {
        Ok(self.state.with(|state| state.delivery_subtypes.get(&(project, id)).map(|(_, stored)| stored.clone())))
    }

    async fn delivery_subtype_params(
        &self,
        _project: ProjectId,
        _subtype: DeliverySubtypeId,
    ) -> Result<Vec<DeliverySubtypeParam>, StoreError> {
        Ok(Vec::new())
    }

    async fn payment_types(&self, app: AppScope) -> Result<Vec<PaymentType>, StoreError> {
        let choices = self.state.with(|state| state.choices(app.application_id));
        let own = choices.and_then(|choices| choices.within(app.project_id)).unwrap_or_default();
        Ok(own.into_iter().filter(|choice| choice.is_taken).map(|choice| choice.payment_type).collect())
    }

    async fn payment_choices(&self, id: ApplicationId) -> Result<Option<Vec<PaymentChoice>>, StoreError> {
        Ok(self.state.with(|state| {
            let (project, _) = state.applications.get(&id)?;
            state.choices(id)?.within(*project)
        }))
    }

    async fn scoped_payment_choices(
        &self,
        id: ApplicationId,
    ) -> Result<Option<ProjectScoped<Vec<PaymentChoice>>>, StoreError> {
        Ok(self.state.with(|state| state.choices(id)))
    }

    async fn choose_payment_types(
        &self,
        stamp: Stamp,
        id: ApplicationId,
        chosen: BTreeSet<PaymentTypeId>,
    ) -> Result<(), ApplicationError> {
        self.state.with(|state| state.choose(stamp, id, chosen))
    }
}

#[async_trait]
impl RecordRepository<PaymentType> for InMemoryOrganization {
    async fn list(&self, project: ProjectId) -> Result<Vec<PaymentType>, StoreError> {
        Ok(self.state.with(|state| of_project(state.payment_types.values(), project)))
    }

    async fn find(&self, id: PaymentTypeId) -> Result<Option<ProjectScoped<PaymentType>>, StoreError> {
        Ok(self.state.with(|state| scoped(state.payment_types.get(&id))))
    }

    async fn insert(&self, stamp: Stamp, draft: PaymentTypeDraft) -> Result<PaymentType, RecordError> {
        Ok(self.state.with(|state| state.insert_payment_type(stamp, draft)))
    }

    async fn update(
        &self,
        stamp: Stamp,
        id: PaymentTypeId,
        change: PaymentTypeChange,
    ) -> Result<PaymentType, RecordError> {
        self.state.with(|state| state.update_payment_type(stamp, id, change))
    }
}
