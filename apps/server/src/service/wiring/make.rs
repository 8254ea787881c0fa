//! The services with many ports.

use std::sync::Arc;

use kontor_adapter_diesel::Database;
use kontor_adapter_files::Inspector;
use kontor_adapter_messaging::HmacSigner;
use kontor_adapter_spreadsheet::Spreadsheets;
use kontor_auth::miniapp::{MiniAppLogin, Verifier};
use kontor_auth::{AccessRequestService, CallbackLogin, CustomerSessions, PhoneChange, StaffSessions};
use kontor_catalog::AssortmentService;
use kontor_catalog::bulk::BulkService;
use kontor_catalog::ports::{Assignable, AssortmentRepository};
use kontor_catalog::spreadsheet::SpreadsheetService;
use kontor_catalog::storefront::{SearchHistory, StorefrontService};
use kontor_content::FileService;
use kontor_orders::PlacementService;
use kontor_payments::ChargeService;
use kontor_payments::verification::VerificationService;
use kontor_webhooks::WebhookService;

use super::Surroundings;

/// Makes services of one database.
pub struct Make<'a> {
    pub store: Arc<Database>,
    pub around: &'a Surroundings,
}

impl Make<'_> {
    pub fn spreadsheets(&self) -> SpreadsheetService {
        let sheets = Arc::new(Spreadsheets::default());
        SpreadsheetService {
            reader: sheets.clone(),
            writers: sheets,
            cards: self.store.clone(),
            stock: self.store.clone(),
            clock: self.around.clock.clone(),
        }
    }

    pub fn storefront(&self, searches: Arc<SearchHistory>) -> StorefrontService {
        StorefrontService::new(
            self.store.clone(),
            self.store.clone(),
            self.around.limiter.clone(),
            self.around.cleaner.clone(),
            searches,
            self.around.clock.clone(),
        )
    }

    pub fn files(&self) -> FileService {
        FileService::new(
            self.store.clone(),
            Arc::new(self.around.files.clone()),
            Arc::new(Inspector),
            self.around.clock.clone(),
            self.around.random.clone(),
        )
    }

    pub fn assortment<R: Assignable>(&self) -> AssortmentService<R>
    where
        Database: AssortmentRepository<R>,
    {
        AssortmentService {
            assortment: self.store.clone(),
            applications: self.store.clone(),
            clock: self.around.clock.clone(),
        }
    }

    pub fn bulk(&self) -> BulkService {
        BulkService { jobs: self.store.clone(), uploads: self.around.uploads.clone(), clock: self.around.clock.clone() }
    }

    pub fn webhooks(&self) -> WebhookService {
        WebhookService::new(
            self.store.clone(),
            self.around.outbound.clone(),
            self.around.clock.clone(),
            self.around.random.clone(),
            self.around.cipher.clone(),
        )
    }

    pub fn staff_sessions(&self) -> StaffSessions {
        StaffSessions::new(
            self.store.clone(),
            self.store.clone(),
            self.around.hasher.clone(),
            self.around.clock.clone(),
            self.around.random.clone(),
            self.around.cipher.clone(),
            self.around.lifetimes,
        )
    }

    pub fn customer_sessions(&self) -> CustomerSessions {
        CustomerSessions::new(
            self.store.clone(),
            self.store.clone(),
            self.store.clone(),
            self.around.codes.clone(),
            self.around.clock.clone(),
            self.around.random.clone(),
            self.around.cipher.clone(),
            self.around.lifetimes,
        )
    }

    pub fn miniapps(&self) -> MiniAppLogin {
        MiniAppLogin::new(
            self.store.clone(),
            self.store.clone(),
            Verifier::new(Arc::new(HmacSigner), self.around.cipher.clone(), self.around.contact_lifetime),
            self.around.clock.clone(),
            self.around.random.clone(),
            self.around.cipher.clone(),
            self.around.lifetimes,
        )
    }

    pub fn callback_login(&self) -> CallbackLogin {
        CallbackLogin::new(
            self.store.clone(),
            self.around.calls.clone(),
            self.around.call_notices.clone(),
            self.around.clock.clone(),
            self.around.random.clone(),
            self.around.cipher.clone(),
            self.around.lifetimes,
        )
    }

    pub fn access_requests(&self) -> AccessRequestService {
        AccessRequestService::new(
            self.store.clone(),
            self.around.clock.clone(),
            self.around.random.clone(),
            self.around.cipher.clone(),
        )
    }

    pub fn phone_change(&self) -> PhoneChange {
        PhoneChange::new(
            self.store.clone(),
            self.around.codes.clone(),
            self.around.clock.clone(),
            self.around.random.clone(),
            self.around.cipher.clone(),
        )
    }

    pub fn placement(&self, charges: Arc<ChargeService>) -> PlacementService {
        PlacementService::new(
            self.store.clone(),
            self.store.clone(),
            self.store.clone(),
            charges,
            self.around.clock.clone(),
            self.around.random.clone(),
            self.around.payment_page.clone(),
        )
    }

    pub fn verifications(&self, charges: Arc<ChargeService>) -> VerificationService {
        VerificationService {
            store: self.store.clone(),
            charges,
            clock: self.around.clock.clone(),
            random: self.around.random.clone(),
            terms: self.around.verification.clone(),
        }
    }
}
