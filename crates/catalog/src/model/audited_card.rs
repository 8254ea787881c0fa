use kontor_kernel::Resource;
use kontor_kernel::history::{Audited, AuditedField};

use super::{BillingPeriod, Card, Nomenclature, PhotoUrl, ShareLink};

impl Card {
    /// Returns every field that an employee can change, by its name on the wire, for history entries.
    pub fn audited_fields(&self) -> Vec<AuditedField> {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let photos: Vec<&str> = self.photos.photos().iter().map(PhotoUrl::as_str).collect();
        let tags: Vec<String> = self.tags.iter().map(ToString::to_string).collect();
        let list = |items: String| Some(items).filter(|items| !items.is_empty());
        vec![
            ("article", text(self.article.as_deref())),
            ("name", text(Some(self.name.as_str()))),
            ("kind_id", Some(self.kind.id().to_string())),
            ("type_id", self.type_id.map(|id| id.to_string())),
            ("category_id", self.category_id.map(|id| id.to_string())),
            ("brand_id", self.brand_id.map(|id| id.to_string())),
            ("country_id", self.country_id.map(|id| id.to_string())),
            ("storage_unit_id", self.storage_unit_id.map(|id| id.to_string())),
            ("vat_id", self.vat_id.map(|id| id.to_string())),
            ("price", self.price.map(|price| price.to_string())),
            ("description", text(self.description.as_deref())),
            ("characteristics", text(self.characteristics.as_deref())),
            ("share_link", text(self.share_link.as_ref().map(ShareLink::as_str))),
            ("is_subscription", Some(self.subscription.is_some().to_string())),
            ("billing_period_months", self.subscription.map(|period| BillingPeriod::get(period).to_string())),
            ("parameters.wholesale", Some(self.packaging.wholesale.to_string())),
            ("parameters.pieces_per_pack", Some(self.packaging.pieces_per_pack.get().to_string())),
            ("parameters.quantity_pack", Some(self.packaging.quantity_pack.get().to_string())),
            ("photos", list(photos.join("\n"))),
            ("tags", list(tags.join(", "))),
        ]
    }
}

impl Audited for Nomenclature {
    const RESOURCE: Resource = Resource::Nomenclatures;

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        self.card.audited_fields()
    }
}
