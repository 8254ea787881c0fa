//! Request bodies of the customer's subscriptions.

use std::borrow::Cow;
use std::collections::BTreeSet;

use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, Value, ValuePointerRef, take_cf_content};
use kontor_kernel::{NomenclatureId, Violations};
use kontor_payments::model::PaymentMethod;
use kontor_subscriptions::model::PlanChoice;
use kontor_subscriptions::{Agreement, MAX_PLANS, Purchase, TermsEdit};
use utoipa::ToSchema;
use utoipa::openapi::ObjectBuilder;
use utoipa::openapi::schema::Type;

use kontor_web::ClientIp;
use kontor_web::refusals::SubscriptionFields;
use kontor_web::wire::{self, In, InputErrors, Scalar, WireValue, change_body};

/// Consent to recurring charges. Only `true` is accepted, not the other values of a flag.
pub(super) struct Consent;

impl WireValue for Consent {
    fn from_scalar(scalar: Scalar) -> Result<Self, String> {
        match scalar {
            Scalar::Flag(true) => Ok(Self),
            _ => Err(Self::expected().into_owned()),
        }
    }

    fn expected() -> Cow<'static, str> {
        Cow::Borrowed("must be true")
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("AutopayConsent")
    }

    fn schema() -> ObjectBuilder {
        ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([true]))
    }
}

type AutopayConsent = In<Consent>;

/// Returns the agreement to store for a given consent.
pub(super) fn agreement(_given: &Consent, address: ClientIp) -> Agreement {
    Agreement { address: Some(address.0.to_string()) }
}

/// Ids of plans that are paid together.
struct PlanNumbers(Vec<NomenclatureId>);

impl PlanNumbers {
    fn new(numbers: Vec<NomenclatureId>) -> Result<Self, String> {
        if numbers.is_empty() || numbers.len() > MAX_PLANS {
            return Err(format!("must have 1 to {MAX_PLANS} ids"));
        }
        if numbers.iter().collect::<BTreeSet<_>>().len() < numbers.len() {
            return Err("must not contain duplicates".to_owned());
        }
        Ok(Self(numbers))
    }
}

impl Deserr<InputErrors> for PlanNumbers {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, InputErrors> {
        let numbers: Vec<wire::NomenclatureId> = Vec::deserialize_from_value(value, location)?;
        Self::new(numbers.into_iter().map(|number| number.0).collect())
            .map_err(|msg| take_cf_content(InputErrors::error::<V>(None, ErrorKind::Unexpected { msg }, location)))
    }
}

/// Purchase that the customer pays on the acquirer's page. Send exactly one of `nomenclature_id` and
/// `nomenclature_ids`.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewCheckout {
    /// Id of the plan.
    #[deserr(default)]
    nomenclature_id: Option<wire::NomenclatureId>,
    /// Plans with the same currency and billing period. Each becomes a separate subscription.
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::NomenclatureId>>, min_items = 1, max_items = 20)]
    nomenclature_ids: Option<PlanNumbers>,
    pub autopay_consent: AutopayConsent,
    /// `bank_card` by default.
    #[deserr(default)]
    payment_method_type: Option<wire::PaymentMethodType>,
}

impl NewCheckout {
    /// Returns the purchase and the names of its fields.
    pub fn purchase(self) -> Result<(Purchase, SubscriptionFields), Violations> {
        let several = self.nomenclature_ids.is_some();
        let numbers = match (self.nomenclature_id, self.nomenclature_ids) {
            (Some(_), Some(_)) => return Err(mutually_exclusive("nomenclature_ids")),
            (None, None) => {
                return Err(Violations::single("nomenclature_id", "is required unless nomenclature_ids is sent"));
            }
            (Some(number), None) => vec![number.0],
            (None, Some(numbers)) => numbers.0,
        };
        let purchase = Purchase {
            plans: numbers.into_iter().map(PlanChoice::Item).collect(),
            pays_by: self.payment_method_type.map_or(PaymentMethod::BankCard, |method| method.0),
            saved_method: None,
        };
        Ok((purchase, SubscriptionFields::of_checkout(several)))
    }
}

fn mutually_exclusive(field: &str) -> Violations {
    Violations::single(field, "cannot be sent together with nomenclature_id")
}

/// Returns the plan selected by id or by slug.
fn choice(
    number: Option<wire::NomenclatureId>,
    slug: Option<wire::PlanSlug>,
) -> Result<Option<PlanChoice>, Violations> {
    match (number, slug) {
        (Some(_), Some(_)) => Err(mutually_exclusive("plan_slug")),
        (Some(number), None) => Ok(Some(PlanChoice::Item(number.0))),
        (None, Some(slug)) => Ok(Some(PlanChoice::Slug(slug.0.into()))),
        (None, None) => Ok(None),
    }
}

/// Purchase that is charged to a saved payment method at once. Send exactly one of `nomenclature_id` and `plan_slug`.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewSubscription {
    /// Id of the plan.
    #[deserr(default)]
    nomenclature_id: Option<wire::NomenclatureId>,
    /// Slug of the plan.
    #[deserr(default)]
    plan_slug: Option<wire::PlanSlug>,
    /// Saved payment method to charge.
    saved_payment_method_id: wire::SavedMethodId,
    pub autopay_consent: AutopayConsent,
}

impl NewSubscription {
    /// Returns the purchase and the names of its fields.
    pub fn purchase(self) -> Result<(Purchase, SubscriptionFields), Violations> {
        let plan = choice(self.nomenclature_id, self.plan_slug)?;
        let fields = SubscriptionFields::of_terms(plan.as_ref());
        let plan = plan.ok_or_else(|| Violations::single("nomenclature_id", "is required unless plan_slug is sent"))?;
        let saved_method = Some(self.saved_payment_method_id.0);
        Ok((Purchase { plans: vec![plan], pays_by: PaymentMethod::BankCard, saved_method }, fields))
    }
}

change_body! {
    /// New terms of a subscription. Send at most one of `nomenclature_id` and `plan_slug`.
    pub(super) ChangedSubscription {
        /// Id of the new plan.
        nomenclature_id: wire::NomenclatureId,
        /// Slug of the new plan.
        plan_slug: wire::PlanSlug,
        /// Saved payment method for the next charges.
        saved_payment_method_id: wire::SavedMethodId,
        /// Must be `true` if plan, price, period or payment method change.
        autopay_consent: wire::Flag,
    }
}

impl ChangedSubscription {
    /// Returns the consent, if it was given.
    pub fn consent(&self) -> Option<Consent> {
        self.autopay_consent.0.as_ref().filter(|given| given.0).map(|_| Consent)
    }

    /// Returns the change and the names of its fields.
    pub fn edit(self) -> Result<(TermsEdit, SubscriptionFields), Violations> {
        let plan = choice(self.nomenclature_id.0, self.plan_slug.0)?;
        let fields = SubscriptionFields::of_terms(plan.as_ref());
        let saved_method = self.saved_payment_method_id.0.map(|method| method.0);
        Ok((TermsEdit { plan, saved_method }, fields))
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct ResumedSubscription {
    pub autopay_consent: AutopayConsent,
}

/// Field that must not be sent, with any value. It is entered on the acquirer's page or set by the service.
#[derive(Default)]
struct Forbidden;

impl Deserr<InputErrors> for Forbidden {
    fn deserialize_from_value<V: IntoValue>(_: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, InputErrors> {
        let msg = "must not be sent: the payment method is entered on the payment page".to_owned();
        Err(take_cf_content(InputErrors::error::<V>(None, ErrorKind::Unexpected { msg }, location)))
    }
}

/// Request for another payment method. `card`, `card_number`, `cvc`, `payment_method_data` and `return_url` are
/// rejected.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewMethodChange {
    pub autopay_consent: AutopayConsent,
    #[deserr(default, rename = "card")]
    #[schema(ignore)]
    _card: Forbidden,
    #[deserr(default, rename = "card_number")]
    #[schema(ignore)]
    _card_number: Forbidden,
    #[deserr(default, rename = "cvc")]
    #[schema(ignore)]
    _cvc: Forbidden,
    #[deserr(default, rename = "payment_method_data")]
    #[schema(ignore)]
    _payment_method_data: Forbidden,
    #[deserr(default, rename = "return_url")]
    #[schema(ignore)]
    _return_url: Forbidden,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use kontor_web::wire::violations_of;

    fn faults<T: Deserr<InputErrors>>(
        body: serde_json::Value,
        read: impl Fn(T) -> Result<(), Violations>,
    ) -> Vec<String> {
        let outcome = violations_of::<T>(body).and_then(read);
        outcome.err().map(|violations| violations.fields().keys().cloned().collect()).unwrap_or_default()
    }

    #[test]
    fn a_checkout_names_one_to_twenty_plans_once_and_the_consent() {
        let check = |body| faults(body, |new: NewCheckout| new.purchase().map(drop));
        let numbers = |count: i64| (1..=count).collect::<Vec<_>>();
        for (body, fields) in [
            (json!({ "nomenclature_id": 1, "autopay_consent": true }), vec![]),
            (json!({ "nomenclature_ids": numbers(20), "autopay_consent": true, "payment_method_type": "sbp" }), vec![]),
            (json!({}), vec!["autopay_consent"]),
            (json!({ "autopay_consent": true }), vec!["nomenclature_id"]),
            (
                json!({ "nomenclature_id": 1, "nomenclature_ids": [2], "autopay_consent": true }),
                vec!["nomenclature_ids"],
            ),
            (json!({ "nomenclature_ids": [], "autopay_consent": "true" }), vec!["autopay_consent", "nomenclature_ids"]),
            (
                json!({ "nomenclature_ids": numbers(21), "autopay_consent": 1 }),
                vec!["autopay_consent", "nomenclature_ids"],
            ),
            (
                json!({ "nomenclature_ids": [1, 2, 1], "autopay_consent": false }),
                vec!["autopay_consent", "nomenclature_ids"],
            ),
            (
                json!({ "nomenclature_ids": [1, "x"], "autopay_consent": null, "payment_method_type": "barter" }),
                vec!["autopay_consent", "nomenclature_ids.1", "payment_method_type"],
            ),
        ] {
            assert_eq!(check(body.clone()), fields, "{body}");
        }
    }

    #[test]
    fn a_plan_is_named_in_one_way() {
        let subscribe = |body| faults(body, |new: NewSubscription| new.purchase().map(drop));
        let all =
            json!({ "nomenclature_id": 1, "plan_slug": "gold", "saved_payment_method_id": 3, "autopay_consent": true });
        assert_eq!(subscribe(all.clone()), ["plan_slug"]);
        let none = json!({ "saved_payment_method_id": 3, "autopay_consent": true });
        assert_eq!(subscribe(none), ["nomenclature_id"]);
        assert_eq!(subscribe(json!({ "plan_slug": "gold" })), ["autopay_consent", "saved_payment_method_id"]);
        let change = |body| faults(body, |changed: ChangedSubscription| changed.edit().map(drop));
        assert_eq!(change(all), ["plan_slug"]);
        assert!(change(json!({ "card_number": "4111111111111111", "cvc": "123" })).is_empty());
        let wrong = json!({ "nomenclature_id": null, "saved_payment_method_id": 0, "autopay_consent": "yes" });
        assert_eq!(change(wrong), ["autopay_consent", "nomenclature_id", "saved_payment_method_id"]);
    }
}
