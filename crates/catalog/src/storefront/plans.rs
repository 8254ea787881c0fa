use std::sync::Arc;

use kontor_kernel::{
    AppScope, CategoryId, HtmlCleaner, Line, Money, Name, NomenclatureId, PlanAssignmentId, Prose, SafeHtml, StoreError,
};

use super::ports::StorefrontPlans;
use crate::model::{BillingPeriod, PhotoUrl, PlanSlug, Reference};

/// Subscription plan as an application offers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Identifier of the assignment.
    pub id: PlanAssignmentId,
    /// Slug.
    pub slug: PlanSlug,
    /// Identifier of the item.
    pub nomenclature_id: NomenclatureId,
    /// Name.
    pub name: Name,
    /// Price of one period.
    pub amount: Money,
    /// Currency of the price.
    pub currency: String,
    /// Billing period.
    pub period: BillingPeriod,
}

/// Details of a plan in an application. Its HTML is stored as staff wrote it (`PlanCard<Prose>`) and cleaned for
/// customers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanCard<Html = SafeHtml> {
    /// Fields of the price list.
    pub plan: Plan,
    /// Article (SKU).
    pub article: Option<Line<100>>,
    /// HTML.
    pub description: Option<Html>,
    /// HTML.
    pub characteristics: Option<Html>,
    /// Photos, in display order.
    pub photos: Vec<PhotoUrl>,
    /// Category.
    pub category: Option<Reference<CategoryId>>,
}

impl PlanCard<Prose> {
    /// Returns the details with cleaned HTML.
    pub fn cleaned(self, cleaner: &dyn HtmlCleaner) -> PlanCard {
        let clean = |html: Option<Prose>| html.and_then(|html| SafeHtml::of(&html, cleaner));
        PlanCard {
            plan: self.plan,
            article: self.article,
            description: clean(self.description),
            characteristics: clean(self.characteristics),
            photos: self.photos,
            category: self.category,
        }
    }
}

/// Plans of one category, or those without a category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanGroup {
    /// Category.
    pub category: Option<Reference<CategoryId>>,
    /// Plans in their order.
    pub plans: Vec<PlanCard>,
}

impl PlanGroup {
    /// Groups plans by category, in the order of the first plan of each.
    pub fn all_of(cards: Vec<PlanCard>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for card in cards {
            match groups.iter_mut().find(|group| group.category == card.category) {
                Some(group) => group.plans.push(card),
                None => groups.push(Self { category: card.category.clone(), plans: vec![card] }),
            }
        }
        groups
    }
}

/// Use cases of the subscription plans of a storefront.
pub struct StorefrontPlanService {
    /// Plans of applications.
    pub shelf: Arc<dyn StorefrontPlans>,
    /// Cleans HTML of staff.
    pub cleaner: Arc<dyn HtmlCleaner>,
}

impl StorefrontPlanService {
    /// Returns the plans of the application as a price list.
    pub async fn plans(&self, app: AppScope) -> Result<Vec<Plan>, StoreError> {
        self.shelf.plans(app).await
    }

    /// Returns the plans of the application with all details.
    pub async fn catalog(&self, app: AppScope) -> Result<Vec<PlanCard>, StoreError> {
        let cards = self.shelf.plan_cards(app).await?;
        Ok(cards.into_iter().map(|card| card.cleaned(&*self.cleaner)).collect())
    }

    /// Returns the plans of the application with all details, grouped by category.
    pub async fn grouped(&self, app: AppScope) -> Result<Vec<PlanGroup>, StoreError> {
        Ok(PlanGroup::all_of(self.catalog(app).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storefront::ports::MockStorefrontPlans;
    use kontor_kernel::testing::app_scope;

    struct Upper;

    impl HtmlCleaner for Upper {
        fn clean(&self, html: &str) -> String {
            html.to_uppercase()
        }
    }

    fn card(number: i64, category: Option<i64>) -> PlanCard<Prose> {
        let nomenclature_id = NomenclatureId::new(number).unwrap();
        let plan = Plan {
            id: PlanAssignmentId::new(number).unwrap(),
            slug: PlanSlug::of_item(nomenclature_id),
            nomenclature_id,
            name: Name::parse("Club").unwrap(),
            amount: Money::ZERO,
            currency: "RUB".to_owned(),
            period: BillingPeriod::months(1).unwrap(),
        };
        let category =
            category.map(|id| Reference { id: CategoryId::new(id).unwrap(), name: Name::parse("Clubs").unwrap() });
        PlanCard {
            plan,
            article: None,
            description: Some(Prose::parse("<p>x</p>").unwrap()),
            characteristics: Some(Prose::parse("<i>y</i>").unwrap()),
            photos: Vec::new(),
            category,
        }
    }

    #[tokio::test]
    async fn groups_follow_their_first_plans_and_are_cleaned() {
        let mut shelf = MockStorefrontPlans::new();
        let cards = [(1, Some(9)), (2, None), (3, Some(4)), (4, Some(9)), (5, None)];
        shelf
            .expect_plan_cards()
            .returning(move |_| Ok(cards.iter().map(|(number, category)| card(*number, *category)).collect()));
        let service = StorefrontPlanService { shelf: Arc::new(shelf), cleaner: Arc::new(Upper) };
        let groups = service.grouped(app_scope(1, 1)).await.unwrap();
        let reported: Vec<(Option<i64>, Vec<i64>)> = groups
            .iter()
            .map(|group| {
                let category = group.category.as_ref().map(|category| category.id.get());
                (category, group.plans.iter().map(|card| card.plan.id.get()).collect())
            })
            .collect();
        assert_eq!(reported, [(Some(9), vec![1, 4]), (None, vec![2, 5]), (Some(4), vec![3])]);
        let first = &groups[0].plans[0];
        assert_eq!(first.description.as_ref().unwrap().as_str(), "<P>X</P>");
        assert_eq!(first.characteristics.as_ref().unwrap().as_str(), "<I>Y</I>");
    }
}
