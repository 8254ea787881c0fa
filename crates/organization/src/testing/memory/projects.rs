use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{
    DeliverySubtypeId, DeliveryTypeId, HoldHours, Language, Money, Name, ProjectId, RecordError, Refusal, Stamp,
    StoreError, Zone,
};

use super::{Guard, InMemoryOrganization, State};
use crate::model::{
    ApplicationDraft, BranchDraft, DeliveryPrice, DeliverySubtype, DeliveryType, NewDeliveryPrice, PaymentType,
    PieceLimit, ProjectChange, ProjectPlan, ProjectRecords, ProjectSettings,
};
use crate::ports::{ProjectRepository, ProjectSettingsStore};
use crate::{DeliveryPriceError, DeliveryPriceRefusal};

/// Returns the settings of a new project.
fn settings(id: ProjectId, name: Name, created_at: DateTime<Utc>) -> Result<ProjectSettings, StoreError> {
    Ok(ProjectSettings {
        id,
        name,
        currency: "RUB".to_owned(),
        time_zone: Zone::default(),
        language: Language::default(),
        if_match_required: false,
        charges_delivery: false,
        contact_max_pieces: PieceLimit::new(100).map_err(StoreError::corrupt)?,
        contact_max_value: Money::from_minor(10_000_000).map_err(StoreError::corrupt)?,
        contact_hold_hours: HoldHours::DEFAULT,
        created_at,
    })
}

/// Converts the error of a record that belongs to a plan.
fn planned<R: Refusal>(error: RecordError<R>) -> StoreError {
    match error {
        RecordError::Store(error) => error,
        refused => StoreError::Failed(refused.to_string()),
    }
}

fn repeated() -> StoreError {
    StoreError::Failed("the plan repeats an identifier".to_owned())
}

impl State {
    fn create_project(&mut self, plan: ProjectPlan, at: DateTime<Utc>) -> Result<ProjectRecords, StoreError> {
        let project_id: ProjectId = self.ids.id();
        let stamp = Stamp::of_system(project_id, at);
        self.projects.insert(project_id, settings(project_id, plan.name.clone(), at)?);
        let name = plan.name.clone();
        let branch = BranchDraft { name, inn: None, kpp: None, address: None, phone: None, email: None };
        let branch_id = self.insert_branch(stamp, branch).map_err(planned)?.id;
        let details = ApplicationDraft { branch_id, name: plan.name.clone(), url: None, wholesale: false };
        let application = self.insert_application(stamp, details, plan.token_fingerprint.clone());
        let application_id = application.map_err(planned)?.id;
        self.insert_options(project_id, plan)?;
        Ok(ProjectRecords { project_id, branch_id, application_id })
    }

    /// Adds the delivery and payment types of a plan.
    fn insert_options(&mut self, project: ProjectId, plan: ProjectPlan) -> Result<(), StoreError> {
        let named = |text: &str| Name::parse(text).map_err(StoreError::corrupt);
        for (number, text) in plan.delivery_types {
            let id = DeliveryTypeId::new(number).map_err(StoreError::corrupt)?;
            let added = DeliveryType { id, name: named(text)?, price: Money::ZERO, is_active: true };
            if self.delivery_types.insert((project, id), added).is_some() {
                return Err(repeated());
            }
        }
        for (number, of_type, text) in plan.delivery_subtypes {
            let id = DeliverySubtypeId::new(number).map_err(StoreError::corrupt)?;
            let of_type = DeliveryTypeId::new(of_type).map_err(StoreError::corrupt)?;
            if !self.delivery_types.contains_key(&(project, of_type)) {
                return Err(StoreError::Failed("the plan has a subtype of an unknown delivery type".to_owned()));
            }
            let added = DeliverySubtype { id, name: named(text)?, price: Money::ZERO, is_active: true };
            if self.delivery_subtypes.insert((project, id), (of_type, added)).is_some() {
                return Err(repeated());
            }
        }
        for kind in plan.payment_types {
            let added = PaymentType {
                id: self.ids.id(),
                name: named(kind.name)?,
                description: Some(kind.description.to_owned()),
                photo: None,
                is_online: kind.is_online,
            };
            self.payment_types.insert(added.id, (project, added));
        }
        Ok(())
    }

    /// Changes the settings of a project. Returns `false` if there is no such project.
    fn set(&mut self, project: ProjectId, change: impl FnOnce(&mut ProjectSettings)) -> bool {
        self.projects.get_mut(&project).map(change).is_some()
    }

    fn abandon(&mut self, project: ProjectId) {
        let has_employees = self.employees.values().any(|owner| *owner == project);
        if has_employees && self.guards.has(Guard::Staffed) {
            return;
        }
        self.payment_types.retain(|_, (owner, _)| *owner != project);
        self.delivery_subtypes.retain(|(owner, _), _| *owner != project);
        self.delivery_types.retain(|(owner, _), _| *owner != project);
        self.applications.retain(|_, (owner, _)| *owner != project);
        self.branches.retain(|_, (owner, _)| *owner != project);
        self.projects.remove(&project);
    }

    fn change_settings(&mut self, project: ProjectId, change: ProjectChange) -> Result<ProjectSettings, RecordError> {
        let Some(settings) = self.projects.get_mut(&project) else { return Err(RecordError::NotFound) };
        let before = settings.clone();
        *settings = ProjectSettings {
            name: change.name.or(before.name),
            time_zone: change.time_zone.or(before.time_zone),
            language: change.language.or(before.language),
            if_match_required: change.if_match_required.or(before.if_match_required),
            charges_delivery: change.charges_delivery.or(before.charges_delivery),
            contact_max_pieces: change.contact_max_pieces.or(before.contact_max_pieces),
            contact_max_value: change.contact_max_value.or(before.contact_max_value),
            contact_hold_hours: change.contact_hold_hours.or(before.contact_hold_hours),
            id: before.id,
            currency: before.currency,
            created_at: before.created_at,
        };
        Ok(settings.clone())
    }

    fn delivery_prices(&self, project: ProjectId) -> Vec<DeliveryPrice> {
        let mut prices = Vec::new();
        for stored in self.delivery_types(project) {
            let delivery_type = (stored.id, stored.name);
            prices.push(DeliveryPrice { delivery_type: delivery_type.clone(), subtype: None, price: stored.price });
            for subtype in self.delivery_subtypes(project, stored.id) {
                let (price, subtype) = (subtype.price, Some((subtype.id, subtype.name)));
                prices.push(DeliveryPrice { delivery_type: delivery_type.clone(), subtype, price });
            }
        }
        prices
    }

    /// Sets prices one after the other. A refusal requires that the caller drops them.
    fn set_prices(
        &mut self,
        project: ProjectId,
        prices: &[NewDeliveryPrice],
    ) -> Result<Vec<DeliveryPrice>, DeliveryPriceRefusal> {
        let before = self.delivery_prices(project);
        for new in prices {
            let price = match new.subtype_id {
                None => self.delivery_types.get_mut(&(project, new.type_id)).map(|stored| &mut stored.price),
                Some(id) => self.delivery_subtypes.get_mut(&(project, id)).map(|(_, stored)| &mut stored.price),
            };
            if let Some(price) = price {
                *price = new.price;
            }
        }
        DeliveryPrice::changed_by(&before, prices)?;
        Ok(self.delivery_prices(project))
    }
}

#[async_trait]
impl ProjectRepository for InMemoryOrganization {
    async fn create_project(&self, plan: ProjectPlan, at: DateTime<Utc>) -> Result<ProjectRecords, StoreError> {
        self.commit(|state| state.create_project(plan, at))
    }

    async fn set_time_zone(&self, project: ProjectId, zone: Zone) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.set(project, |settings| settings.time_zone = zone)))
    }

    async fn set_language(&self, project: ProjectId, language: Language) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.set(project, |settings| settings.language = language)))
    }

    async fn require_if_match(&self, project: ProjectId, required: bool) -> Result<bool, StoreError> {
        Ok(self.state.with(|state| state.set(project, |settings| settings.if_match_required = required)))
    }

    async fn abandon(&self, project: ProjectId) -> Result<(), StoreError> {
        self.state.with(|state| state.abandon(project));
        Ok(())
    }
}

#[async_trait]
impl ProjectSettingsStore for InMemoryOrganization {
    async fn project_settings(&self, project: ProjectId) -> Result<Option<ProjectSettings>, StoreError> {
        Ok(self.state.with(|state| state.projects.get(&project).cloned()))
    }

    async fn change_project_settings(
        &self,
        stamp: Stamp,
        change: ProjectChange,
    ) -> Result<ProjectSettings, RecordError> {
        self.state.with(|state| state.change_settings(stamp.project_id, change))
    }

    async fn delivery_prices(&self, project: ProjectId) -> Result<Vec<DeliveryPrice>, StoreError> {
        Ok(self.state.with(|state| state.delivery_prices(project)))
    }

    async fn set_delivery_prices(
        &self,
        stamp: Stamp,
        prices: Vec<NewDeliveryPrice>,
    ) -> Result<Vec<DeliveryPrice>, DeliveryPriceError> {
        Ok(self.commit(|state| state.set_prices(stamp.project_id, &prices))?)
    }
}
