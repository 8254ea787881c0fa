use std::sync::Arc;

use chrono::SubsecRound as _;
use kontor_kernel::{
    Clock, CustomerScope, OrderId, Page, PageRequest, Permission, Resource, SecretString, Staff, Stamp, StoreError,
};

use super::scan::{CheckedScan, Scan, ScanAnswer, ScanBatch, ScanRefused, StoredScan};
use super::token::TicketTokens;
use super::validation::{TicketOrder, TicketTerms};
use crate::OrderError;
use crate::model::Order;
use crate::ports::{OrderReader, TicketStore};

/// Use cases of tickets.
pub struct TicketService {
    /// Judges and stores scans.
    pub tickets: Arc<dyn TicketStore>,
    /// Reads orders.
    pub orders: Arc<dyn OrderReader>,
    /// Creates and reads tokens.
    pub tokens: TicketTokens,
    /// Clock.
    pub clock: Arc<dyn Clock>,
    /// Time limits of scans.
    pub terms: TicketTerms,
}

impl TicketService {
    /// Maximum scans in one request.
    pub const MAX_SCANS: usize = 500;

    /// Returns the ticket token of the customer's order. `None` for orders of other customers, and while the
    /// tickets are not valid.
    pub fn token(&self, customer: CustomerScope, order: &Order) -> Option<SecretString> {
        let own = order.customer.id == customer.counterparty_id;
        let reference = order.tickets.reference.as_ref().filter(|_| own)?;
        TicketOrder::from(order).valid_from().ok()?;
        Some(self.tokens.token(customer.app.project_id, reference))
    }

    /// Judges scans in the order of their times, and returns the answers in the order of the input. One commit.
    /// A scan that was judged before gets the same answer.
    pub async fn redeem(&self, staff: &Staff, scans: Vec<Scan>) -> Result<Vec<ScanAnswer>, ScanRefused> {
        staff.require(Permission::edit(Resource::Reservations))?;
        let stamp = Stamp::of(staff, self.clock.now());
        let read = |scan: Scan| {
            // The databases differ in precision below a microsecond.
            let scan = Scan { at: scan.at.map(|at| at.trunc_subsecs(6)), ..scan };
            CheckedScan {
                reference: self.tokens.read(staff.project_id, &scan.token),
                fingerprint: self.tokens.fingerprint(&scan.token),
                at: scan.at.unwrap_or_else(|| stamp.at.trunc_subsecs(6)),
                scan,
            }
        };
        let mut numbered: Vec<(usize, CheckedScan)> = scans.into_iter().map(read).enumerate().collect();
        numbered.sort_by_key(|(_, scan)| scan.at);
        let (places, scans): (Vec<usize>, Vec<CheckedScan>) = numbered.into_iter().unzip();
        let answers = self.tickets.redeem(ScanBatch { stamp, scans, terms: self.terms }).await?;
        let mut answers: Vec<(usize, ScanAnswer)> = places.into_iter().zip(answers).collect();
        answers.sort_by_key(|(place, _)| *place);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }

    /// Judges one scan.
    pub async fn redeem_one(&self, staff: &Staff, scan: Scan) -> Result<ScanAnswer, ScanRefused> {
        let lost = || StoreError::corrupt("a scan has no result");
        Ok(self.redeem(staff, vec![scan]).await?.pop().ok_or_else(lost)?)
    }

    /// Returns the scans of an order of the project, newest first.
    pub async fn of_order(
        &self,
        staff: &Staff,
        order: OrderId,
        page: PageRequest,
    ) -> Result<Page<StoredScan>, OrderError> {
        staff.require(Permission::view(Resource::Orders))?;
        staff.require_own(self.orders.find(order).await?)?;
        Ok(self.tickets.of_order(order, page).await?)
    }
}
