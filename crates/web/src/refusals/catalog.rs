//! Responses to refusals of `kontor-catalog`.

use crate::ApiError;
use actix_web::http::StatusCode;
use kontor_catalog::bulk::JobRefusal;
use kontor_catalog::model::{CardRefusal, PromotionDraft, TermsRefusal};
use kontor_catalog::spreadsheet::ports::SheetFailed;
use kontor_catalog::spreadsheet::{ExportFailed, ImportError};
use kontor_catalog::storefront::FavouriteError;
use kontor_catalog::{
    AssortmentRefusal, BrandRefusal, CardReference, CategoryRefusal, DiscountRefusal, InventoryReference,
    InventoryRefusal, NomenclatureRefusal, PlanRefusal, PromotionList as ListOf, PromotionRefusal, TagRefusal,
    WarehouseReference, WarehouseRefusal,
};
use kontor_kernel::Violations;

impl From<FavouriteError> for ApiError {
    fn from(error: FavouriteError) -> Self {
        match error {
            FavouriteError::NotFound => Self::not_found(),
            FavouriteError::UnknownProduct => {
                Self::invalid("product_id", "must be the id of a product of the application")
            }
            FavouriteError::CustomerDeleted => Self::unauthenticated("Unauthenticated."),
            FavouriteError::Store(error) => error.into(),
        }
    }
}

/// The id of the assigned record has another field, which the handler names.
impl From<AssortmentRefusal> for ApiError {
    fn from(refusal: AssortmentRefusal) -> Self {
        match refusal {
            AssortmentRefusal::UnknownRecord => Self::invalid("id", "must be the id of a record of the project"),
        }
    }
}

impl From<BrandRefusal> for ApiError {
    fn from(refusal: BrandRefusal) -> Self {
        match refusal {
            BrandRefusal::NameTaken => Self::invalid("name", "is already the name of another brand"),
        }
    }
}

impl From<CategoryRefusal> for ApiError {
    fn from(refusal: CategoryRefusal) -> Self {
        match refusal {
            CategoryRefusal::UnknownParent => Self::invalid("parent_id", "must be the id of a category of the project"),
            CategoryRefusal::CodeTaken => Self::invalid("code", "is already the code of another category"),
            CategoryRefusal::Cycle => {
                Self::invalid("parent_id", "must not be the category itself or one of its descendants")
            }
        }
    }
}

impl From<DiscountRefusal> for ApiError {
    fn from(refusal: DiscountRefusal) -> Self {
        match refusal {
            DiscountRefusal::Terms(refusals) => {
                let mut violations = Violations::default();
                for refusal in refusals {
                    violations.add(field_of_terms(refusal), refusal);
                }
                violations.into()
            }
            DiscountRefusal::UnknownCategory => {
                Self::invalid("category_id", "must be the id of a category of the project")
            }
            DiscountRefusal::UnknownProduct => {
                Self::invalid("nomenclature_id", "must be the id of a product of the project")
            }
            DiscountRefusal::CodeTaken => Self::invalid("code", "is already the code of another discount"),
            DiscountRefusal::CodeInUse => Self::invalid("code", "must not change, because orders use it"),
            DiscountRefusal::BelowUsed { .. } => Self::invalid("usage_limit", refusal),
            DiscountRefusal::UsedByOrders => Self::invalid("id", refusal),
            DiscountRefusal::Status(_) | DiscountRefusal::Stale => {
                Self::Message(StatusCode::CONFLICT, refusal.to_string())
            }
        }
    }
}

impl From<InventoryRefusal> for ApiError {
    fn from(refusal: InventoryRefusal) -> Self {
        match refusal {
            InventoryRefusal::UnknownReferences(references) => {
                let mut violations = Violations::default();
                for reference in references {
                    match reference {
                        InventoryReference::Warehouse => {
                            violations.add("warehouse_id", "must be the id of a warehouse of the project");
                        }
                        InventoryReference::Nomenclature => {
                            violations.add("nomenclature_id", "must be the id of an item of the project");
                        }
                    }
                }
                violations.into()
            }
            InventoryRefusal::NotStocked => {
                Self::invalid("nomenclature_id", "must be the id of goods, not of a service")
            }
            InventoryRefusal::AlreadyStocked => Self::invalid("nomenclature_id", "already has stock in this warehouse"),
            InventoryRefusal::BelowReserved { .. } => Self::invalid("quantity", refusal),
        }
    }
}

impl From<JobRefusal> for ApiError {
    fn from(refusal: JobRefusal) -> Self {
        Self::Message(StatusCode::CONFLICT, refusal.to_string())
    }
}

impl From<NomenclatureRefusal> for ApiError {
    fn from(refusal: NomenclatureRefusal) -> Self {
        match refusal {
            NomenclatureRefusal::Card(CardRefusal::Billing(refusal)) => Self::invalid("billing_period_months", refusal),
            NomenclatureRefusal::Card(CardRefusal::Price(refusal)) => Self::invalid("price", refusal),
            NomenclatureRefusal::UnknownReferences(references) => {
                let mut violations = Violations::default();
                for reference in references {
                    let (field, message) = match reference {
                        CardReference::Type => ("type_id".to_owned(), "must be the id of a nomenclature type"),
                        CardReference::Category => {
                            ("category_id".to_owned(), "must be the id of a category of the project")
                        }
                        CardReference::Brand => ("brand_id".to_owned(), "must be the id of a brand of the project"),
                        CardReference::Country => ("country_id".to_owned(), "must be the id of a country"),
                        CardReference::StorageUnit => {
                            ("storage_unit_id".to_owned(), "must be the id of a storage unit")
                        }
                        CardReference::Vat => ("vat_id".to_owned(), "must be the id of a VAT rate"),
                        CardReference::Tag(place) => {
                            (format!("tags.{place}"), "must be the id of a tag of the project")
                        }
                    };
                    violations.add(field, message);
                }
                violations.into()
            }
            NomenclatureRefusal::ArticleTaken => Self::invalid("article", "is already the article of another item"),
            NomenclatureRefusal::Stocked => {
                Self::invalid("kind_id", "must not change from goods while warehouses have stock of the item")
            }
            NomenclatureRefusal::Stale => Self::Message(StatusCode::CONFLICT, refusal.to_string()),
        }
    }
}

impl From<PlanRefusal> for ApiError {
    fn from(refusal: PlanRefusal) -> Self {
        match refusal {
            PlanRefusal::UnknownPlan => {
                Self::invalid("nomenclature_id", "must be the id of a subscription plan of the project")
            }
            PlanRefusal::SlugTaken => {
                Self::invalid("plan_slug", "is already the slug of another plan of the application")
            }
            PlanRefusal::TooMany => Self::invalid("application", "has reached the maximum number of plans"),
        }
    }
}

impl From<PromotionRefusal> for ApiError {
    fn from(refusal: PromotionRefusal) -> Self {
        let mut violations = Violations::default();
        match refusal {
            PromotionRefusal::TooMany(lists) => {
                for list in lists {
                    violations
                        .add(field_of_promotion(list), format!("must have at most {}", PromotionDraft::MAX_RECORDS));
                }
            }
            PromotionRefusal::UnknownReferences(references) => {
                for reference in references {
                    let named = match reference.list {
                        ListOf::Discounts => "must be the id of a discount of the project",
                        ListOf::Nomenclatures => "must be the id of a product of the project",
                    };
                    violations.add(format!("{}.{}", field_of_promotion(reference.list), reference.place), named);
                }
            }
            PromotionRefusal::Period(wrong) => violations.add("ends_at", wrong),
        }
        violations.into()
    }
}

impl From<ImportError> for ApiError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Denied(denied) => denied.into(),
            ImportError::Sheet(refused) => {
                let mut wrong = Violations::default();
                refused.reasons().iter().for_each(|reason| wrong.add(refused.part(), reason));
                wrong.into()
            }
            ImportError::Rows(problems) => Self::invalid("file", ImportError::Rows(problems)),
            ImportError::Stale => Self::Message(StatusCode::CONFLICT, ImportError::Stale.to_string()),
            ImportError::Store(error) => error.into(),
        }
    }
}

impl From<SheetFailed> for ApiError {
    fn from(error: SheetFailed) -> Self {
        match error {
            SheetFailed::LongTexts { .. } => Self::Message(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()),
            SheetFailed::Broken(_) => Self::internal(&error),
        }
    }
}

impl From<ExportFailed> for ApiError {
    fn from(error: ExportFailed) -> Self {
        match error {
            ExportFailed::LongTexts(texts) => {
                let mut violations = Violations::default();
                for text in &texts {
                    violations.add("format", text);
                }
                violations.into()
            }
            ExportFailed::Sheet(error) => error.into(),
        }
    }
}

impl From<TagRefusal> for ApiError {
    fn from(refusal: TagRefusal) -> Self {
        match refusal {
            TagRefusal::NameTaken => Self::invalid("name", "is already the name of another tag"),
        }
    }
}

impl From<WarehouseRefusal> for ApiError {
    fn from(refusal: WarehouseRefusal) -> Self {
        let references = match refusal {
            WarehouseRefusal::Stocked => return Self::invalid("id", "still has stock"),
            WarehouseRefusal::UnknownReferences(references) => references,
        };
        let mut violations = Violations::default();
        for reference in references {
            match reference {
                WarehouseReference::Branch => violations.add("branch_id", "must be the id of a branch of the project"),
                WarehouseReference::Application(place) => {
                    violations
                        .add(format!("application_ids.{place}"), "must be the id of an application of the project");
                }
            }
        }
        violations.into()
    }
}

fn field_of_terms(refusal: TermsRefusal) -> &'static str {
    match refusal {
        TermsRefusal::Value(_) | TermsRefusal::ValueRequired => "value",
        TermsRefusal::TargetContradicted | TermsRefusal::TargetRequired => "target",
        TermsRefusal::CategoryRequired => "category_id",
        TermsRefusal::TwoTargets | TermsRefusal::ProductRequired => "nomenclature_id",
        TermsRefusal::Period(_) => "ends_at",
        TermsRefusal::CodeRequired => "code",
        TermsRefusal::UsageLimitWithoutCode => "usage_limit",
        TermsRefusal::CustomerLimitWithoutCode => "customer_limit",
    }
}

fn field_of_promotion(list: ListOf) -> &'static str {
    match list {
        ListOf::Discounts => "discount_ids",
        ListOf::Nomenclatures => "nomenclature_ids",
    }
}
