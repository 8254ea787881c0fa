use std::collections::BTreeSet;
use std::sync::Arc;

use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{
    ApplicationId, Clock, Line, Name, PaymentTypeId, Permission, PhotoUrl, Record, RecordHistory, RecordService,
    Resource, Staff, Stamp, draft_and_change,
};

use crate::model::{PaymentChoice, PaymentType};
use crate::ports::CheckoutOptionRepository;
use crate::{ApplicationError, ApplicationRefusal};

draft_and_change! {
    /// Fields of a new payment type.
    PaymentTypeDraft,
    /// Change of a payment type. Orders keep their payment method.
    PaymentTypeChange {
        /// Name.
        name: Name,
        /// Description for the customer.
        description: Option<Line<500>>,
        /// Picture.
        photo: Option<PhotoUrl>,
        /// `true` if it is paid on the acquirer's page.
        is_online: bool,
    }
}

/// Use cases of payment types. They have the permissions of dictionaries, like delivery types.
pub type PaymentTypeService = RecordService<PaymentType>;

/// History of payment types.
pub type PaymentTypeHistory = RecordHistory<PaymentType>;

impl Record for PaymentType {
    type Id = PaymentTypeId;
    type Draft = PaymentTypeDraft;
    type Change = PaymentTypeChange;
    type Refusal = std::convert::Infallible;
}

impl Audited for PaymentType {
    const RESOURCE: Resource = Resource::Dictionaries;

    const KIND: &'static str = "payment_types";

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        vec![
            ("name", Some(self.name.to_string())),
            ("description", self.description.clone()),
            ("photo", self.photo.clone()),
            ("is_online", Some(self.is_online.to_string())),
        ]
    }
}

/// Payment types that applications accept, for staff.
pub struct PaymentChoiceService {
    /// Storage of payment types.
    pub options: Arc<dyn CheckoutOptionRepository>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

impl PaymentChoiceService {
    /// Returns the payment types of the employee's project, with their state in an application of the project.
    pub async fn list(&self, staff: &Staff, id: ApplicationId) -> Result<Vec<PaymentChoice>, ApplicationError> {
        staff.require(Permission::view(Resource::Applications))?;
        staff.require_own(self.options.scoped_payment_choices(id).await?)
    }

    /// Sets the payment types that an application of the employee's project accepts. An empty set means all of the
    /// project, including future ones.
    pub async fn choose(
        &self,
        staff: &Staff,
        id: ApplicationId,
        chosen: BTreeSet<PaymentTypeId>,
    ) -> Result<Vec<PaymentChoice>, ApplicationError> {
        staff.require(Permission::edit(Resource::Applications))?;
        let mut choices: Vec<PaymentChoice> = staff.require_own(self.options.scoped_payment_choices(id).await?)?;
        let known: BTreeSet<PaymentTypeId> = choices.iter().map(|choice| choice.payment_type.id).collect();
        // This also limits the set, before it becomes part of a statement.
        if !chosen.is_subset(&known) {
            return Err(ApplicationRefusal::UnknownPaymentType.into());
        }
        for choice in &mut choices {
            choice.is_taken = chosen.is_empty() || chosen.contains(&choice.payment_type.id);
        }
        self.options.choose_payment_types(Stamp::of(staff, self.clock.now()), id, chosen).await?;
        Ok(choices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockCheckoutOptionRepository;
    use chrono::DateTime;
    use kontor_kernel::testing::staff_with;
    use kontor_kernel::{AccessDenied, FixedClock, ProjectId, ProjectScoped};

    const VIEW: Permission = Permission::view(Resource::Applications);
    const EDIT: Permission = Permission::edit(Resource::Applications);

    fn number(id: i64) -> PaymentTypeId {
        PaymentTypeId::new(id).unwrap()
    }

    fn application() -> ApplicationId {
        ApplicationId::new(5).unwrap()
    }

    fn choice(id: i64) -> PaymentChoice {
        let name = Name::parse("Cash").unwrap();
        let payment_type = PaymentType { id: number(id), name, description: None, photo: None, is_online: false };
        PaymentChoice { payment_type, is_taken: true }
    }

    /// Finds an application of this project with two payment types, any number of times.
    fn knowing(project: i64) -> MockCheckoutOptionRepository {
        let mut options = MockCheckoutOptionRepository::new();
        options.expect_scoped_payment_choices().returning(move |_| {
            Ok(Some(ProjectScoped::new(ProjectId::new(project).unwrap(), vec![choice(1), choice(2)])))
        });
        options
    }

    fn service(options: MockCheckoutOptionRepository) -> PaymentChoiceService {
        PaymentChoiceService { options: Arc::new(options), clock: Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)) }
    }

    #[tokio::test]
    async fn an_empty_set_accepts_all() {
        for (chosen, taken) in [(vec![2], [false, true]), (vec![], [true, true]), (vec![1, 2], [true, true])] {
            let chosen: BTreeSet<PaymentTypeId> = chosen.into_iter().map(number).collect();
            let mut options = knowing(1);
            let (editor, expected) = (staff_with([EDIT]), chosen.clone());
            let stamp = Stamp::of(&editor, DateTime::UNIX_EPOCH);
            options
                .expect_choose_payment_types()
                .withf(move |given, id, chosen| *given == stamp && *id == application() && *chosen == expected)
                .once()
                .returning(|_, _, _| Ok(()));
            let choices = service(options).choose(&editor, application(), chosen).await.unwrap();
            assert_eq!(choices.iter().map(|choice| choice.is_taken).collect::<Vec<_>>(), taken);
        }
    }

    #[tokio::test]
    async fn an_unknown_payment_type_is_refused_before_the_commit() {
        let chosen = [number(1), number(3)].into();
        let refused = service(knowing(1)).choose(&staff_with([EDIT]), application(), chosen).await;
        assert!(matches!(refused, Err(ApplicationError::Refused(ApplicationRefusal::UnknownPaymentType))));
    }

    #[tokio::test]
    async fn permissions_come_first_and_other_projects_are_foreign() {
        for (staff, options, foreign) in
            [(staff_with([]), MockCheckoutOptionRepository::new(), false), (staff_with([VIEW, EDIT]), knowing(2), true)]
        {
            let service = service(options);
            let refusals = [
                service.list(&staff, application()).await.unwrap_err(),
                service.choose(&staff, application(), BTreeSet::new()).await.unwrap_err(),
            ];
            for refusal in refusals {
                let ApplicationError::Denied(denied) = refusal else { panic!("{refusal}") };
                assert_eq!(denied == AccessDenied::ForeignProject, foreign);
            }
        }
    }
}
