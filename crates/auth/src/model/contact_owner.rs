use kontor_kernel::CounterpartyId;

/// Owner of a contact in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContactOwner {
    /// No customer; a login with it creates a new customer.
    NoCustomer,
    /// One customer: the one who signs in with it, otherwise the only one whose record has it.
    One(CounterpartyId),
    /// Records of several customers have it, and none of them signs in with it.
    Several {
        /// Customer with the oldest record.
        oldest: CounterpartyId,
    },
}

impl ContactOwner {
    /// Determines the owner. `signs_in` is the customer who signs in with the contact. `recorded` are the customers
    /// with the contact in their records, oldest first; the first two are enough.
    pub fn of(signs_in: Option<CounterpartyId>, recorded: &[CounterpartyId]) -> Self {
        match (signs_in, recorded) {
            (Some(customer), _) => Self::One(customer),
            (None, []) => Self::NoCustomer,
            (None, [customer]) => Self::One(*customer),
            (None, [oldest, ..]) => Self::Several { oldest: *oldest },
        }
    }

    /// Returns `true` if this customer cannot take the contact because another customer has it.
    pub fn belongs_to_other(self, customer: CounterpartyId) -> bool {
        match self {
            Self::NoCustomer => false,
            Self::One(owner) => owner != customer,
            Self::Several { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_contact_takes_precedence_over_a_recorded_contact() {
        let [anna, boris, clara] = [1, 2, 3].map(|id| CounterpartyId::new(id).unwrap());
        for (signs_in, recorded, owner) in [
            (None, &[][..], ContactOwner::NoCustomer),
            (None, &[anna], ContactOwner::One(anna)),
            (None, &[boris, anna], ContactOwner::Several { oldest: boris }),
            (Some(anna), &[], ContactOwner::One(anna)),
            (Some(anna), &[boris, clara], ContactOwner::One(anna)),
        ] {
            assert_eq!(ContactOwner::of(signs_in, recorded), owner, "{signs_in:?} {recorded:?}");
        }
    }

    #[test]
    fn a_contact_of_another_customer_is_taken() {
        let [anna, boris] = [1, 2].map(|id| CounterpartyId::new(id).unwrap());
        for (owner, kept) in [
            (ContactOwner::NoCustomer, false),
            (ContactOwner::One(anna), false),
            (ContactOwner::One(boris), true),
            (ContactOwner::Several { oldest: anna }, true),
        ] {
            assert_eq!(owner.belongs_to_other(anna), kept, "{owner:?}");
        }
    }
}
