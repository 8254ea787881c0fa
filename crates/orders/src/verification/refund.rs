use std::time::Duration;

use chrono::TimeDelta;
use kontor_kernel::StoreError;

use super::service::{Concern, VerificationService};
use crate::change::Change;
use crate::model::{
    GatewayRefund, ProviderPaymentId, RefundRequest, RefundStatus, RefundStep, Verification, VerificationChange,
    VerificationRefund,
};
use crate::payment::{KEY_LIFETIME, SUSPICIOUS_PAUSE, next_check};
use crate::ports::{RefundAnswer, RefundReading};

/// How many tries may be refused before people must look.
const MOST_TRIES: u32 = 12;

/// How long to wait before another try.
const NEXT_TRY: TimeDelta = TimeDelta::hours(1);

impl VerificationService {
    /// Goes on with a refund: asks for it under its key, or how it stands.
    pub(super) async fn pursue_refund(
        &self,
        verification: &Verification,
        refund: &VerificationRefund,
    ) -> Result<Concern, StoreError> {
        let Some(request) = verification.refund_request(refund.key) else {
            return Err(StoreError::corrupt(format!("verification {} has no payment to refund", verification.id)));
        };
        let step = if let Some(id) = &refund.id {
            self.read_refund(verification, &request, refund, id).await
        } else if self.clock.now() - refund.key_at >= KEY_LIFETIME {
            // The key has been forgotten: the same request could make a second refund.
            let why = "the refund was never made".to_owned();
            self.look_for_refund(verification, &request, refund, why).await
        } else {
            match self.gateway.refund(&request).await {
                RefundAnswer::Known(known) => self.weigh(verification, &request, refund, known),
                RefundAnswer::Unknown { why, retry_after } => self.postponed(verification, why, retry_after),
                // An earlier request under this key may have gone through although this one is refused.
                RefundAnswer::Refused { code, description } => {
                    self.look_for_refund(verification, &request, refund, format!("{code}: {description}")).await
                }
            }
        };
        let concern = concern(&step);
        let recorded = self.record(verification, VerificationChange::Refund { key: refund.key, step }).await?;
        Ok(concern.filter(|_| recorded == Change::Done))
    }

    async fn read_refund(
        &self,
        verification: &Verification,
        request: &RefundRequest,
        refund: &VerificationRefund,
        id: &ProviderPaymentId,
    ) -> RefundStep {
        match self.gateway.read_refund(id).await {
            RefundReading::Known(known) => self.weigh(verification, request, refund, known),
            RefundReading::Absent => self.odd(format!("the acquirer no longer knows refund {id}")),
            RefundReading::Unknown { why } => self.postponed(verification, why, None),
        }
    }

    /// Another key is made only when the payment surely has no refund.
    async fn look_for_refund(
        &self,
        verification: &Verification,
        request: &RefundRequest,
        refund: &VerificationRefund,
        why: String,
    ) -> RefundStep {
        match self.gateway.find_refund(&request.payment).await {
            RefundReading::Known(known) => self.weigh(verification, request, refund, known),
            RefundReading::Absent => self.again(refund, why),
            RefundReading::Unknown { why } => self.postponed(verification, why, None),
        }
    }

    /// What a refund says, once it is surely the one that was asked for.
    fn weigh(
        &self,
        verification: &Verification,
        request: &RefundRequest,
        refund: &VerificationRefund,
        known: GatewayRefund,
    ) -> RefundStep {
        if let Err(mismatch) = request.verify(&known) {
            return self.odd(mismatch.to_string());
        }
        match known.status {
            RefundStatus::Succeeded => RefundStep::Done { id: known.id },
            RefundStatus::Pending => {
                let next_check_at = next_check(verification.checks, self.clock.now(), None);
                RefundStep::Pending { id: known.id, next_check_at }
            }
            RefundStatus::Canceled => self.again(refund, known.reason.unwrap_or_else(|| "canceled".to_owned())),
        }
    }

    fn postponed(&self, verification: &Verification, why: String, asked_pause: Option<Duration>) -> RefundStep {
        RefundStep::Postponed { why, next_check_at: next_check(verification.checks, self.clock.now(), asked_pause) }
    }

    fn odd(&self, why: String) -> RefundStep {
        RefundStep::Odd { why, next_check_at: self.clock.now() + SUSPICIOUS_PAUSE }
    }

    fn again(&self, refund: &VerificationRefund, why: String) -> RefundStep {
        if refund.tries + 1 >= MOST_TRIES {
            return RefundStep::GivenUp { why };
        }
        RefundStep::Again { key: self.random.uuid(), why, next_check_at: self.clock.now() + NEXT_TRY }
    }
}

/// What people must look at: money that does not go back.
fn concern(step: &RefundStep) -> Concern {
    match step {
        RefundStep::Again { why, .. } => Some(format!("its refund was refused and is tried again later: {why}")),
        RefundStep::Odd { why, .. } => Some(why.clone()),
        RefundStep::GivenUp { why } => Some(format!("its refund was refused for the last time: {why}")),
        RefundStep::Pending { .. } | RefundStep::Done { .. } | RefundStep::Postponed { .. } => None,
    }
}
