//! Responses to refusals of `kontor-orders`, `kontor-payments` and `kontor-subscriptions`.

use actix_web::http::StatusCode;
use kontor_orders::lines::LinesRefused;
use kontor_orders::model::TransitionRefused;
use kontor_orders::tickets::ScanRefused;
use kontor_orders::{OrderRefusal, PlacementError, ReportRefusal};
use kontor_payments::VerificationError;
use kontor_subscriptions::model::PlanChoice;
use kontor_subscriptions::{RefusalKind, SubscriptionError, SubscriptionRefusal};

use crate::{ApiError, NamedError, NextAction};

impl From<PlacementError> for ApiError {
    fn from(error: PlacementError) -> Self {
        match error {
            PlacementError::Denied(denied) => denied.into(),
            PlacementError::Refused(refused) => refused.violations().into(),
            PlacementError::PaymentRefused { order_id, reason } => {
                tracing::warn!(order = %order_id, %reason, "an order is canceled: the acquirer declined its payment");
                let message = "The payment could not be created; the order is canceled.".to_owned();
                Self::Message(StatusCode::BAD_GATEWAY, message)
            }
            PlacementError::CustomerDeleted => Self::unauthenticated("Unauthenticated."),
            PlacementError::Busy => Self::Message(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
            PlacementError::Store(error) => error.into(),
        }
    }
}

impl From<OrderRefusal> for ApiError {
    fn from(refusal: OrderRefusal) -> Self {
        match refusal {
            OrderRefusal::Transition(refused) => Self::invalid("status_id", refused),
            OrderRefusal::UnknownManager => Self::invalid("manager_id", refusal),
            OrderRefusal::AddressRequired => Self::invalid("address", refusal),
            OrderRefusal::Refund(refused) => refused.violations().into(),
            OrderRefusal::Lines(refused) => refused.into(),
            OrderRefusal::Unpayable(refused) => {
                let code = match refused {
                    TransitionRefused::AlreadyPaid => "order_already_paid",
                    TransitionRefused::OnlyAcquirerPays => "order_paid_online",
                    TransitionRefused::Final(_) | TransitionRefused::NotAllowed { .. } => "order_final",
                };
                NamedError::new(StatusCode::CONFLICT, code, NextAction::ContactSupport, refused.to_string()).into()
            }
        }
    }
}

impl From<LinesRefused> for ApiError {
    fn from(refused: LinesRefused) -> Self {
        let message = refused.to_string();
        let conflict = |code, next| NamedError::new(StatusCode::CONFLICT, code, next, message.clone()).into();
        match refused {
            LinesRefused::UnknownLine => Self::not_found(),
            LinesRefused::Invalid(violations) => violations.into(),
            LinesRefused::Payment(problem) => Self::invalid("payment_method_type", problem),
            LinesRefused::Final(_) | LinesRefused::Recurring => conflict("order_final", NextAction::ContactSupport),
            LinesRefused::LastLine => conflict("order_last_line", NextAction::FixInput),
            LinesRefused::RefundInProgress => conflict("order_refund_pending", NextAction::Wait),
            LinesRefused::PaymentOpen => conflict("order_payment_open", NextAction::Wait),
            LinesRefused::PaymentOutcomeUnknown => conflict("order_payment_unclear", NextAction::Wait),
            LinesRefused::ChangedMeanwhile => conflict("order_changed_meanwhile", NextAction::Restart),
            LinesRefused::CustomerDeleted => conflict("order_customer_left", NextAction::ContactSupport),
            LinesRefused::Stale => Self::Message(StatusCode::SERVICE_UNAVAILABLE, message),
        }
    }
}

impl From<ReportRefusal> for ApiError {
    fn from(refusal: ReportRefusal) -> Self {
        Self::invalid("to", refusal)
    }
}

impl From<ScanRefused> for ApiError {
    fn from(refused: ScanRefused) -> Self {
        match refused {
            ScanRefused::Denied(denied) => denied.into(),
            ScanRefused::Store(error) => error.into(),
        }
    }
}

impl From<VerificationError> for ApiError {
    fn from(error: VerificationError) -> Self {
        match error {
            VerificationError::PaymentRefused { id, reason } => {
                tracing::warn!(
                    verification = %id, %reason,
                    "a verification is closed: the acquirer declined its payment"
                );
                let message = "The payment could not be created.".to_owned();
                Self::Message(StatusCode::BAD_GATEWAY, message)
            }
            VerificationError::CustomerDeleted => Self::unauthenticated("Unauthenticated."),
            VerificationError::Store(error) => error.into(),
        }
    }
}

/// Names of the request fields that a refusal can refer to.
#[derive(Debug, Clone, Copy)]
pub struct SubscriptionFields {
    /// Field that selects the plan.
    plan: &'static str,
    /// Field that selects the payment method.
    payment: &'static str,
}

impl SubscriptionFields {
    /// Fields of a request that contains only the subscription id, in its path.
    const PATH_ONLY: Self = Self { plan: "id", payment: "id" };

    /// Returns the fields of a checkout of one or several plans.
    pub fn of_checkout(several: bool) -> Self {
        let plan = if several { "nomenclature_ids" } else { "nomenclature_id" };
        Self { plan, payment: "payment_method_type" }
    }

    /// Returns the fields of a request with a saved method and this choice of plan.
    pub fn of_terms(plan: Option<&PlanChoice>) -> Self {
        let plan = match plan {
            Some(PlanChoice::Slug(_)) => "plan_slug",
            Some(PlanChoice::Item(_)) | None => "nomenclature_id",
        };
        Self { plan, payment: "saved_payment_method_id" }
    }

    /// Returns the error response, with refusals assigned to these fields.
    pub fn into_response(self, error: SubscriptionError) -> ApiError {
        match error {
            SubscriptionError::Denied(denied) => denied.into(),
            SubscriptionError::NotFound => ApiError::not_found(),
            SubscriptionError::CustomerDeleted => ApiError::unauthenticated("Unauthenticated."),
            SubscriptionError::AnotherUnfinished => ApiError::Message(StatusCode::CONFLICT, error.to_string()),
            SubscriptionError::Refused(refusal) => self.refused(&refusal),
            SubscriptionError::Move(refused) => by_kind(refused.kind(), "id", refused),
            SubscriptionError::Store(error) => error.into(),
        }
    }

    fn refused(self, refusal: &SubscriptionRefusal) -> ApiError {
        match refusal {
            SubscriptionRefusal::PlanUnavailable
            | SubscriptionRefusal::PlansDiffer
            | SubscriptionRefusal::PeriodTooLong
            | SubscriptionRefusal::NothingToPay
            | SubscriptionRefusal::AlreadySubscribed
            | SubscriptionRefusal::NoWarehouse => ApiError::invalid(self.plan, refusal),
            SubscriptionRefusal::NoContact
            | SubscriptionRefusal::MethodUnavailable
            | SubscriptionRefusal::PaymentFailed { .. } => ApiError::invalid(self.payment, refusal),
            SubscriptionRefusal::NeverActivated
            | SubscriptionRefusal::ApplicationInactive
            | SubscriptionRefusal::NotThen(_)
            | SubscriptionRefusal::TooFar => ApiError::invalid("id", refusal),
            SubscriptionRefusal::ConsentNeeded(_) => {
                let message = "must be true, because the plan, price, period or payment method changes";
                ApiError::invalid("autopay_consent", message)
            }
            SubscriptionRefusal::NotRetryable(reason) => {
                by_kind(reason.refusal().unwrap_or(RefusalKind::Unsuitable), "payment_id", refusal)
            }
        }
    }
}

impl From<SubscriptionError> for ApiError {
    fn from(error: SubscriptionError) -> Self {
        SubscriptionFields::PATH_ONLY.into_response(error)
    }
}

fn by_kind(kind: RefusalKind, field: &str, refusal: impl ToString) -> ApiError {
    match kind {
        RefusalKind::Busy => ApiError::Message(StatusCode::CONFLICT, refusal.to_string()),
        RefusalKind::Unsuitable => ApiError::invalid(field, refusal),
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::NomenclatureId;
    use kontor_subscriptions::RetryReason;

    use super::*;

    fn field(error: &ApiError) -> Option<&str> {
        match error {
            ApiError::Invalid(violations) => violations.fields().keys().next().map(String::as_str),
            _ => None,
        }
    }

    #[test]
    fn a_refusal_names_the_field_that_was_sent() {
        let gone = || SubscriptionError::from(SubscriptionRefusal::PlanUnavailable);
        let failed = || SubscriptionError::from(SubscriptionRefusal::PaymentFailed { reason: "fraud".to_owned() });
        let (item, slug) = (PlanChoice::Item(NomenclatureId::new(1).unwrap()), PlanChoice::Slug("gold".to_owned()));
        for (fields, plan, payment) in [
            (SubscriptionFields::of_checkout(false), "nomenclature_id", "payment_method_type"),
            (SubscriptionFields::of_checkout(true), "nomenclature_ids", "payment_method_type"),
            (SubscriptionFields::of_terms(Some(&item)), "nomenclature_id", "saved_payment_method_id"),
            (SubscriptionFields::of_terms(Some(&slug)), "plan_slug", "saved_payment_method_id"),
            (SubscriptionFields::of_terms(None), "nomenclature_id", "saved_payment_method_id"),
        ] {
            assert_eq!(field(&fields.into_response(gone())), Some(plan));
            assert_eq!(field(&fields.into_response(failed())), Some(payment));
            let unagreed = SubscriptionRefusal::ConsentNeeded(Vec::new());
            assert_eq!(field(&fields.into_response(unagreed.into())), Some("autopay_consent"));
        }
    }

    #[test]
    fn a_request_in_progress_is_a_conflict() {
        let retried = |reason| ApiError::from(SubscriptionError::from(SubscriptionRefusal::NotRetryable(reason)));
        for reason in [RetryReason::Processing, RetryReason::NeedsReconciliation] {
            assert!(matches!(retried(reason), ApiError::Message(StatusCode::CONFLICT, _)), "{reason}");
        }
        for reason in [RetryReason::AlreadyPaid, RetryReason::NotLast, RetryReason::Parked, RetryReason::Canceled] {
            assert_eq!(field(&retried(reason)), Some("payment_id"), "{reason}");
        }
        let taken = || SubscriptionError::from(SubscriptionRefusal::AlreadySubscribed);
        assert_eq!(field(&ApiError::from(taken())), Some("id"), "of a resumption");
        let of_change = SubscriptionFields::of_terms(Some(&PlanChoice::Item(NomenclatureId::new(1).unwrap())));
        assert_eq!(field(&of_change.into_response(taken())), Some("nomenclature_id"));
        let other = ApiError::from(SubscriptionError::AnotherUnfinished);
        assert!(matches!(other, ApiError::Message(StatusCode::CONFLICT, _)));
    }
}
